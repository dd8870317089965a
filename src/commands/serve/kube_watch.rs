//! `WatchWindows` keeps the last events of the followed sources, and a `KubeWatch` is a watch of the read API that reads from them.
//!
//! A reader that falls too far behind, or whose events may be incomplete, loses the stream. He begins again at his version, and is
//! told with the code 410 to list again, as by an API server that was started again.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::FutureExt;
use futures::stream::unfold;
use http::StatusCode;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, interval, sleep_until};

use super::kube_objects::{PIECE, SelectedObjects, answer, json};
use crate::object::Resource;
use crate::serve::{CachedWatch, ReaderPlace, RightGuard, status_object};
use crate::source::{SourceKey, Version};
use crate::watch::{
    CatchUp, Mux, Patience, Revision, SubscribeOptions, Subscriptions, WatchWindow, WindowEvent,
    WindowPlace, WindowStep,
};

/// How often it is noted how far quiet sources have come.
const GLANCE: Duration = Duration::from_secs(1);

/// Nobody waits for this subscriber: it takes each event at once. After an interruption, readers list again.
const OPTIONS: SubscribeOptions = SubscribeOptions {
    patience: Patience::Screen,
    catch_up: CatchUp::Newest,
};

/// How often a quiet watch gets a bookmark, if it takes them.
const BOOKMARKS: Duration = Duration::from_secs(60);

/// After how many seconds a watch without a limit ends, as that of an API server.
const SECONDS: std::ops::Range<u64> = 1_800..3_600;

/// The longest time of a watch, in seconds.
const MAX_SECONDS: u64 = 24 * 3_600;

/// The annotation of the bookmark that ends the present objects
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists>).
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// The last events of each source.
#[derive(Default)]
pub(super) struct WatchWindows {
    windows: Mutex<HashMap<SourceKey, watch::Sender<WatchWindow>>>,
    /// Other sources are kept.
    others: Notify,
}

impl WatchWindows {
    /// From now on, these sources are kept. The watches of all others end.
    pub(super) fn keep(&self, sources: impl IntoIterator<Item = SourceKey>) {
        let mut windows = self.lock();
        let mut before = std::mem::take(&mut *windows);
        windows.extend(sources.into_iter().map(|key| {
            let known = before.remove(&key);
            (key, known.unwrap_or_default())
        }));
        drop(windows);
        self.others.notify_one();
    }

    /// The events of a source; `None` if it is not among these.
    pub(super) fn of(&self, key: &SourceKey) -> Option<watch::Receiver<WatchWindow>> {
        self.lock().get(key).map(watch::Sender::subscribe)
    }

    /// Takes the events of all sources, which somebody else starts. It does not end.
    pub(super) async fn follow(&self, mux: &Mux) {
        let mut all = Subscriptions::new();
        self.reconcile(&mut all, mux);
        let mut glances = interval(GLANCE);
        loop {
            tokio::select! {
                Some((key, event)) = all.next() => {
                    if let Some(window) = self.lock().get(&*key) {
                        window.send_modify(|window| window.apply(&event));
                    }
                }
                () = self.others.notified() => self.reconcile(&mut all, mux),
                _ = glances.tick() => {
                    let windows = self.lock();
                    for (key, version) in all.reached() {
                        if let Some(window) = windows.get(&**key) {
                            window.send_if_modified(|window| window.reach(&version));
                        }
                    }
                }
            }
        }
    }

    /// Subscribes to the sources that are kept, and to no others.
    fn reconcile(&self, all: &mut Subscriptions, mux: &Mux) {
        let windows = self.lock();
        let known = all.keys().cloned();
        let gone: Vec<Arc<SourceKey>> = known.filter(|key| !windows.contains_key(&**key)).collect();
        for key in gone {
            all.remove(&key);
        }
        for key in windows
            .keys()
            .filter(|key| !all.contains(key))
            .cloned()
            .collect::<Vec<_>>()
        {
            all.add(&mux.open_idle(key), OPTIONS);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SourceKey, watch::Sender<WatchWindow>>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The objects with which a watch begins.
pub(super) struct PresentObjects {
    /// They are the state at this version.
    pub(super) at: Revision,
    pub(super) objects: Vec<Arc<Version>>,
    /// Whether a bookmark ends them.
    pub(super) is_marked: bool,
}

/// What a watch reads, and for whom.
pub(super) struct WatchedSource {
    pub(super) window: watch::Receiver<WatchWindow>,
    pub(super) place: WindowPlace,
    pub(super) resource: Resource,
    pub(super) selected: SelectedObjects,
    /// The right of the reader; `None` for the owner.
    pub(super) guard: Option<RightGuard>,
    /// The place of this stream among all.
    pub(super) _place: ReaderPlace,
}

/// An open watch.
pub(super) struct KubeWatch {
    source: WatchedSource,
    present: std::vec::IntoIter<Arc<Version>>,
    /// The bookmark after the present objects.
    mark: Option<String>,
    has_bookmarks: bool,
    next_bookmark: Instant,
    end: Instant,
    has_ended: bool,
}

impl KubeWatch {
    pub(super) fn new(
        source: WatchedSource,
        asked: &CachedWatch,
        present: Option<PresentObjects>,
    ) -> KubeWatch {
        let seconds = asked.seconds.unwrap_or_else(|| fastrand::u64(SECONDS));
        let seconds = Duration::from_secs(seconds.min(MAX_SECONDS));
        let marked = present.as_ref().filter(|present| present.is_marked);
        let mark = marked.map(|present| bookmark(&source, present.at, true));
        KubeWatch {
            source,
            mark,
            present: present.map_or_else(Vec::new, |it| it.objects).into_iter(),
            has_bookmarks: asked.has_bookmarks,
            next_bookmark: Instant::now() + BOOKMARKS,
            end: Instant::now() + seconds,
            has_ended: false,
        }
    }

    /// The answer, which lasts as long as the watch.
    pub(super) fn answer(self) -> Response {
        let lines = unfold(self, async |mut watch| {
            let piece = watch.next().await?;
            Some((Ok::<_, Infallible>(Bytes::from(piece)), watch))
        });
        answer(Body::from_stream(lines))
    }

    /// The next lines; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        let present = self.present_lines();
        if !present.is_empty() {
            return Some(present);
        }
        while !self.has_ended && Instant::now() < self.end {
            // A watch that is never idle is asked about, too.
            if let Some(guard) = &mut self.source.guard
                && guard.lost().now_or_never().is_some()
            {
                return None;
            }
            let (lines, step) = self.new_lines();
            if !lines.is_empty() {
                return Some(lines);
            }
            let reached = match step {
                WindowStep::Reached(version) => version,
                WindowStep::Event(_) => continue,
                WindowStep::Lost => return None,
            };
            let bookmark = self.wait(reached).await;
            if bookmark.is_some() {
                return bookmark;
            }
        }
        None
    }

    /// Waits for news. Returns a bookmark if one is due.
    async fn wait(&mut self, reached: Revision) -> Option<String> {
        let source = &mut self.source;
        let guard = source.guard.as_mut();
        let lost = async {
            match guard {
                Some(guard) => guard.lost().await,
                None => pending().await,
            }
        };
        tokio::select! {
            changed = source.window.changed() => {
                self.has_ended = changed.is_err();
                return None;
            }
            () = lost => {
                self.has_ended = true;
                return None;
            }
            () = sleep_until(self.end) => self.has_ended = true,
            () = sleep_until(self.next_bookmark) => self.next_bookmark += BOOKMARKS,
        }
        // The last bookmark is where the reader goes on.
        self.has_bookmarks
            .then(|| bookmark(&self.source, reached, false))
    }

    /// The next of the objects with which the watch begins, and their end.
    fn present_lines(&mut self) -> String {
        let mut lines = String::new();
        let selected = &self.source.selected;
        for object in self.present.by_ref() {
            if selected.has(&object) {
                line(&mut lines, "ADDED", &selected.text(&object));
            }
            if lines.len() >= PIECE {
                return lines;
            }
        }
        lines.push_str(&self.mark.take().unwrap_or_default());
        lines
    }

    /// The lines of new events, up to a piece, and what follows.
    fn new_lines(&mut self) -> (String, WindowStep) {
        let mut lines = String::new();
        let source = &mut self.source;
        let window = source.window.borrow_and_update();
        loop {
            match window.next(&mut source.place) {
                WindowStep::Event(event) if lines.len() < PIECE => {
                    event_line(&mut lines, &source.selected, &event);
                }
                WindowStep::Event(event) => {
                    event_line(&mut lines, &source.selected, &event);
                    return (lines, WindowStep::Event(event));
                }
                step => return (lines, step),
            }
        }
    }
}

/// Adds the line of an event, as a reader with these selectors sees it: an object that does not match any more is deleted for him.
fn event_line(lines: &mut String, selected: &SelectedObjects, event: &WindowEvent) {
    let had = event.prev.as_ref().filter(|prev| selected.has(prev));
    let has = !event.is_gone && selected.has(&event.now);
    match (had, has) {
        (None, true) => line(lines, "ADDED", &selected.text(&event.now)),
        (Some(_), true) => line(lines, "MODIFIED", &selected.text(&event.now)),
        (Some(_), false) if event.is_gone => line(lines, "DELETED", &selected.text(&event.now)),
        (Some(prev), false) => line(
            lines,
            "DELETED",
            &at_version(&selected.text(prev), event.at),
        ),
        (None, false) => {}
    }
}

fn line(lines: &mut String, kind: &str, object: &str) {
    let _infallible = writeln!(
        lines,
        "{{\"type\":\"{kind}\",\"object\":{}}}",
        object.trim_end()
    );
}

/// The last state of an object that matched, at the version at which it no longer did: the reader goes on from there.
fn at_version(object: &str, at: Revision) -> String {
    let mut object: serde_json::Value = serde_json::from_str(object).unwrap_or_default();
    object["metadata"]["resourceVersion"] = at.to_string().into();
    object.to_string()
}

/// The line of a bookmark: everything up to a version was sent.
fn bookmark(source: &WatchedSource, at: Revision, ends_initial: bool) -> String {
    let (api_version, kind) = source.selected.type_of(&source.resource);
    let annotations = if ends_initial {
        format!(",\"annotations\":{{\"{INITIAL_EVENTS_END}\":\"true\"}}")
    } else {
        String::new()
    };
    let mut text = String::new();
    let object = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{{\"resourceVersion\":\"{at}\",\"creationTimestamp\":null{annotations}}}}}",
        json(&kind),
        json(&api_version),
    );
    line(&mut text, "BOOKMARK", &object);
    text
}

/// The answer to a watch from a version whose later events are forgotten: an event with the code 410.
pub(super) fn expired(version: u64) -> Response {
    let message = format!("too old resource version: {version}");
    let status = status_object(StatusCode::GONE, "Expired", &message);
    let mut text = String::new();
    line(&mut text, "ERROR", &status.to_string());
    answer(Body::from(text))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures::future::BoxFuture;
    use insta::assert_snapshot;
    use jiff::Timestamp;
    use tokio::time::timeout;

    use super::super::kube_objects::testing::pod;
    use super::*;
    use crate::object::{ResourceVersion, well_known_type};
    use crate::serve::{
        ApiSelectors, ObjectForm, PlaceLimits, ReadRight, ReaderPlaces, ReaderToken, RightsAnswer,
        RightsCache, RightsSource, SourcePlace, WatchFrom, WebReader,
    };
    use crate::source::{Event, Why};

    fn revision(number: u64) -> Revision {
        Revision::read(&number.to_string()).expect("a revision")
    }

    fn object(why: Why, prev: Option<Version>, now: Version) -> Event {
        Event::Object {
            why,
            past: false,
            seen: Timestamp::UNIX_EPOCH,
            now: Arc::new(now),
            prev: prev.map(Arc::new),
        }
    }

    /// A window that was listed at version 10.
    fn window() -> watch::Sender<WatchWindow> {
        let window = watch::Sender::new(WatchWindow::default());
        apply(
            &window,
            &Event::Synced {
                epoch: 1,
                count: 0,
                version: ResourceVersion::new("10"),
            },
        );
        window
    }

    fn apply(window: &watch::Sender<WatchWindow>, event: &Event) {
        window.send_modify(|window| window.apply(event));
    }

    fn asked(labels: Option<&str>) -> CachedWatch {
        CachedWatch {
            selectors: ApiSelectors {
                labels: labels.map(str::to_owned),
                fields: None,
            },
            from: WatchFrom::Version(10),
            has_bookmarks: true,
            seconds: Some(90),
        }
    }

    /// A watch of the Pods of `shop` from version 10.
    fn open(
        window: &watch::Sender<WatchWindow>,
        asked: &CachedWatch,
        present: Option<PresentObjects>,
        guard: Option<RightGuard>,
    ) -> KubeWatch {
        let selected = SelectedObjects::new(Some("shop"), &asked.selectors, ObjectForm::Whole);
        let limits = PlaceLimits { all: 1, of_one: 1 };
        let place = window.borrow().place_after(revision(10));
        let pods = well_known_type("", "Pod").expect("known");
        let source = WatchedSource {
            window: window.subscribe(),
            place: place.expect("it is held"),
            resource: pods.resource.clone(),
            selected: selected.expect("of every server"),
            guard,
            _place: ReaderPlaces::new(limits)
                .take(WebReader::Owner.holder())
                .expect("a place"),
        };
        KubeWatch::new(source, asked, present)
    }

    /// The lines that a watch has now: the type, the name, the version.
    fn now(watch: &mut KubeWatch) -> String {
        let mut text = String::new();
        while let Some(Some(piece)) = watch.next().now_or_never() {
            text.push_str(&shown(&piece));
        }
        text.trim_end().to_owned()
    }

    fn shown(piece: &str) -> String {
        let mut text = String::new();
        for line in piece.lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let metadata = &event["object"]["metadata"];
            let of = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let end = &metadata["annotations"][INITIAL_EVENTS_END];
            let end = if end == "true" { " end" } else { "" };
            let (kind, name) = (of(&event["type"]), of(&metadata["name"]));
            let _infallible = writeln!(
                text,
                "{kind} {name} {}{end}",
                of(&metadata["resourceVersion"])
            );
        }
        text
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_ends_in_time_although_there_is_always_news() {
        let window = window();
        let mut watch = open(&window, &asked(None), None, None);
        let begun = Instant::now();
        let mut number = 10;
        loop {
            number += 1;
            let new = pod(("shop", "a"), "{}", number);
            apply(&window, &object(Why::Modified, None, new));
            tokio::time::advance(Duration::from_secs(1)).await;
            if watch.next().await.is_none() {
                break;
            }
        }
        assert_eq!(begun.elapsed(), Duration::from_secs(90));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_sees_objects_come_into_his_selector_and_leave_it() {
        let window = window();
        let (mut web, mut all) = (
            open(&window, &asked(Some("app=web")), None, None),
            open(&window, &asked(None), None, None),
        );
        let (web_label, other) = (r#"{"app":"web"}"#, r#"{"app":"db"}"#);
        let of = |name: &str, labels: &str, at: u64| pod(("shop", name), labels, at);
        for event in [
            object(Why::Added, None, of("a", web_label, 11)),
            object(Why::Added, None, of("b", other, 12)),
            object(
                Why::Modified,
                Some(of("b", other, 12)),
                of("b", web_label, 13),
            ),
            object(
                Why::Modified,
                Some(of("a", web_label, 11)),
                of("a", web_label, 14),
            ),
            object(
                Why::Modified,
                Some(of("a", web_label, 14)),
                of("a", other, 15),
            ),
            object(Why::Deleted, Some(of("a", other, 15)), of("a", other, 16)),
            object(
                Why::Deleted,
                Some(of("b", web_label, 13)),
                of("b", web_label, 17),
            ),
            object(Why::Added, None, pod(("prod", "c"), web_label, 18)),
        ] {
            apply(&window, &event);
        }
        assert_snapshot!(now(&mut web), @"
        ADDED a 11
        ADDED b 13
        MODIFIED a 14
        DELETED a 15
        DELETED b 17
        ");
        assert_snapshot!(now(&mut all), @"
        ADDED a 11
        ADDED b 12
        MODIFIED b 13
        MODIFIED a 14
        MODIFIED a 15
        DELETED a 16
        DELETED b 17
        ");
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_begins_with_the_present_objects_and_ends_with_a_bookmark() {
        let window = window();
        let objects = [("shop", "a"), ("prod", "b")].map(|named| Arc::new(pod(named, "{}", 4)));
        let present = PresentObjects {
            at: revision(10),
            objects: objects.to_vec(),
            is_marked: true,
        };
        let mut watch = open(&window, &asked(None), Some(present), None);
        assert_snapshot!(now(&mut watch), @"
        ADDED a 4
        BOOKMARK  10 end
        ");
        apply(
            &window,
            &object(Why::Added, None, pod(("shop", "c"), "{}", 11)),
        );
        assert_snapshot!(now(&mut watch), @"ADDED c 11");
        assert!(window.send_if_modified(|window| window.reach(&ResourceVersion::new("20"))));
        let begun = Instant::now();
        let mut rest = String::new();
        while let Some(piece) = watch.next().await {
            let _infallible = write!(rest, "{}s {}", begun.elapsed().as_secs(), shown(&piece));
        }
        assert_snapshot!(rest.trim_end(), @"
        60s BOOKMARK  20
        90s BOOKMARK  20
        ");
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_whose_events_may_be_incomplete_ends() {
        let window = window();
        let mut watch = open(&window, &asked(None), None, None);
        assert!(watch.next().now_or_never().is_none());
        apply(
            &window,
            &object(Why::Skipped, None, pod(("shop", "a"), "{}", 11)),
        );
        assert_eq!(watch.next().await, None);
        let mut watch = open_after_restart(&window);
        drop(window);
        assert_eq!(watch.next().await, None);
    }

    fn open_after_restart(window: &watch::Sender<WatchWindow>) -> KubeWatch {
        apply(
            window,
            &Event::Synced {
                epoch: 2,
                count: 0,
                version: ResourceVersion::new("10"),
            },
        );
        open(window, &asked(None), None, None)
    }

    /// Grants everything while it is true.
    struct ApiServer(Arc<AtomicBool>);

    impl RightsSource for ApiServer {
        fn answer<'a>(
            &'a self,
            _: &'a ReaderToken,
            _: &'a ReadRight,
        ) -> BoxFuture<'a, Result<RightsAnswer, String>> {
            let answer = if self.0.load(Ordering::Relaxed) {
                RightsAnswer::Granted
            } else {
                RightsAnswer::Denied
            };
            Box::pin(async move { Ok(answer) })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_ends_half_a_minute_after_the_right_is_gone() {
        let window = window();
        let grants = Arc::new(AtomicBool::new(true));
        let rights = Arc::new(RightsCache::new(Arc::new(ApiServer(grants.clone()))));
        let pods = well_known_type("", "Pod").expect("known");
        let right = ReadRight::Watch(SourcePlace {
            resource: pods.resource.clone(),
            namespace: Some("shop".into()),
        });
        let token = ReaderToken::new("alice").expect("a token");
        let guard = RightGuard::new(rights, token, right);
        let mut long = asked(None);
        long.seconds = Some(600);
        long.has_bookmarks = false;
        let mut watch = open(&window, &long, None, Some(guard));
        let minutes = timeout(Duration::from_secs(180), watch.next()).await;
        assert!(minutes.is_err(), "it ended while the right was there");
        grants.store(false, Ordering::Relaxed);
        let ended = timeout(Duration::from_secs(30), watch.next()).await;
        assert_eq!(ended, Ok(None));
    }

    /// It never answers.
    struct SilentServer;

    impl RightsSource for SilentServer {
        fn answer<'a>(
            &'a self,
            _: &'a ReaderToken,
            _: &'a ReadRight,
        ) -> BoxFuture<'a, Result<RightsAnswer, String>> {
            Box::pin(pending())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_shows_news_while_the_api_server_is_silent() {
        let window = window();
        let rights = Arc::new(RightsCache::new(Arc::new(SilentServer)));
        let token = ReaderToken::new("alice").expect("a token");
        let right = ReadRight::Logs("shop".into());
        let guard = RightGuard::new(rights, token, right);
        let mut long = asked(None);
        long.seconds = Some(600);
        long.has_bookmarks = false;
        let mut watch = open(&window, &long, None, Some(guard));
        let idle = timeout(Duration::from_secs(30), watch.next()).await;
        assert!(idle.is_err(), "{idle:?}");
        let new = pod(("shop", "a"), "{}", 11);
        apply(&window, &object(Why::Modified, None, new));
        let news = timeout(Duration::from_millis(1), watch.next()).await;
        let news = news.expect("it asks meanwhile").expect("news");
        assert_eq!(shown(&news), "ADDED a 11\n");
        let begun = Instant::now();
        assert_eq!(watch.next().await, None);
        assert_eq!(begun.elapsed(), Duration::from_secs(270));
    }
}
