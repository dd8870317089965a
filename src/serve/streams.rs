//! The streams: events for programs, and views for the page. A stream is pulled by its reader, so a slow one delays nobody and
//! has no queue: [`EventFeed`] has a position among the events, and [`ViewFeed`] skips to the newest snapshot.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHasher;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::board::Board;
use super::event_ring::{EventId, Frame, NumberedEvent, Resumption, RingEvent};
use super::page::{PageView, View};
use super::params::RowFilter;
use super::places::ReaderPlaces;
use super::rights::{Judgement, ReaderRights, RightsMark};
use super::served_row::ServedRow;
use super::snapshot::Snapshot;
use crate::render::json::{VERSION, line};

/// The most events that a stream takes at a time.
const BATCH: usize = 64;

/// After how many events that a reader does not get he gets a place to resume from.
const SKIPPED: u64 = 256;

/// The least time between two views of one reader of the page.
const PAUSE: Duration = Duration::from_millis(250);

/// Where a stream reads, and how often.
pub(super) struct StreamSource {
    pub(super) board: watch::Receiver<Board>,
    pub(super) pace: StreamPace,
}

/// What one reader gets.
pub(super) trait Feed: Send + 'static {
    /// The next event; `None` at the end. It is cancel safe.
    fn next(&mut self) -> impl Future<Output = Option<Frame>> + Send;

    /// The next event, if it waits for nothing.
    fn next_now(&mut self) -> Option<Frame>;

    /// From now on, the reader has other rights.
    fn change_rights(&mut self, rights: ReaderRights);
}

/// The events of one reader.
pub(super) struct EventFeed {
    board: watch::Receiver<Board>,
    filter: RowFilter,
    stage: FeedStage,
    /// The number of the last event that was looked at.
    position: u64,
    /// The ids of the objects that it gets only because of the objects above them, as far as they were there after the last
    /// event that it has taken, or later.
    dependents: HashSet<String>,
    /// Whether those of the newest snapshot are among them.
    has_newest_dependents: bool,
    /// Whether there are more of them than when the reader had last taken all events.
    has_more_dependents: bool,
    rights: ReaderRights,
    /// What the reader sees of the events that it has taken.
    judgement: Judgement,
    /// What stands for both in the ids of events.
    mark: Option<RightsMark>,
    /// How many events it has passed over since the last id.
    skipped: u64,
    pace: StreamPace,
}

/// What the reader gets next.
enum FeedStage {
    /// It has just connected, and this was its last event before.
    Start(Option<EventId>),
    /// The rest of the present state, and the number of all its objects.
    State(std::vec::IntoIter<Arc<ServedRow>>, usize),
    /// The events that it has taken and not sent.
    Events(std::vec::IntoIter<NumberedEvent>),
}

/// The events between two places are gone.
#[derive(Serialize)]
struct GapFrame {
    v: u32,
    after: String,
    upto: String,
    cause: &'static str,
}

/// The end of the present state.
#[derive(Serialize)]
struct SyncedFrame {
    v: u32,
    count: usize,
}

impl EventFeed {
    /// The events after `last`; with the present state first, if the reader has none, or if they are gone.
    pub(super) fn new(
        source: StreamSource,
        filter: RowFilter,
        last: Option<EventId>,
        rights: ReaderRights,
    ) -> EventFeed {
        EventFeed {
            board: source.board,
            pace: source.pace,
            filter,
            stage: FeedStage::Start(last),
            position: 0,
            dependents: HashSet::new(),
            has_newest_dependents: false,
            has_more_dependents: false,
            rights,
            judgement: Judgement::Alone,
            mark: None,
            skipped: 0,
        }
    }

    /// The place of the last event that was looked at, for this reader.
    fn id(&self) -> EventId {
        EventId {
            rights: self.mark,
            ..self.board.borrow().ring.id(self.position)
        }
    }

    /// From now on, the reader sees what his rights show of a snapshot.
    fn judge(&mut self, snapshot: &Snapshot) {
        self.judgement = self.rights.judgement(snapshot.places.iter());
        self.mark = self.rights.mark(self.judgement);
    }

    /// What the reader sees of a snapshot.
    fn seen(&self, snapshot: &Arc<Snapshot>) -> Arc<Snapshot> {
        snapshot.for_reader(&self.rights)
    }

    /// The next object of the present state, or its end.
    fn state_frame(&mut self, row: Option<Arc<ServedRow>>, count: usize) -> Frame {
        if let Some(row) = row {
            return Frame {
                id: None,
                name: "status",
                data: row.json(false).into(),
            };
        }
        self.stage = FeedStage::Events(Vec::new().into_iter());
        self.skipped = 0;
        Frame {
            id: Some(self.id()),
            name: "synced",
            data: line(&SyncedFrame { v: VERSION, count }).into(),
        }
    }

    /// Begins where the reader was. A gap comes first, if that place is gone, or if he sees other objects now.
    fn start(&mut self, last: Option<EventId>) -> Option<Frame> {
        let snapshot = self.board.borrow().snapshot.clone();
        let resumption = self.board.borrow().ring.resume(last);
        self.judge(&snapshot);
        match resumption {
            Resumption::After(number) => {
                self.position = number;
                self.dependents = self.filter.dependents(&self.seen(&snapshot));
                let has_same_rights = last.is_some_and(|last| last.rights == self.mark);
                if !has_same_rights || self.has_lost_dependents(&snapshot) {
                    return last.map(|after| self.gap(after));
                }
                self.stage = FeedStage::Events(Vec::new().into_iter());
                None
            }
            Resumption::Anew => {
                self.begin_state();
                None
            }
            Resumption::Forgotten(id) => Some(self.gap(id)),
        }
    }

    /// Whether an object has gone after the position of the reader that may have been a dependent of what it asks for. Whose
    /// dependent it was is not known any more.
    fn has_lost_dependents(&self, snapshot: &Snapshot) -> bool {
        let board = self.board.borrow();
        let events = board.ring.after(self.position, usize::MAX);
        let rows = events.iter().flatten().filter_map(|next| next.event.row());
        let mut candidates = rows
            .filter(|row| self.filter.may_ask_for_dependent(row) && !self.filter.asks_for(row))
            .filter(|row| row.for_reader(&self.rights, self.judgement).is_some())
            .peekable();
        if candidates.peek().is_none() {
            return false;
        }
        let known: HashSet<String> = snapshot.rows.iter().map(|row| row.id()).collect();
        candidates.any(|row| !known.contains(&row.id()))
    }

    /// The gap after this place. The present state follows.
    fn gap(&mut self, after: EventId) -> Frame {
        self.begin_state();
        let upto = self.id();
        let cause = if after.epoch != upto.epoch {
            "restarted"
        } else if after.rights != upto.rights {
            "rights"
        } else {
            "forgotten"
        };
        let gap = GapFrame {
            v: VERSION,
            after: after.to_string(),
            upto: upto.to_string(),
            cause,
        };
        Frame {
            id: None,
            name: "gap",
            data: line(&gap).into(),
        }
    }

    fn begin_state(&mut self) {
        let board = self.board.borrow_and_update();
        let snapshot = board.snapshot.clone();
        self.position = board.ring.newest().number;
        drop(board);
        self.judge(&snapshot);
        let seen = self.seen(&snapshot);
        let rows = self.filter.rows(&seen);
        let rows: Vec<Arc<ServedRow>> = rows.into_iter().cloned().collect();
        self.dependents = self.filter.dependents(&seen);
        let count = rows.len();
        self.stage = FeedStage::State(rows.into_iter(), count);
    }

    /// Takes the next events. Returns the gap if some are gone. The stream rests once it has taken all.
    fn take_events(&mut self) -> Option<Frame> {
        let board = self.board.borrow_and_update();
        let judgement = self.rights.judgement(board.snapshot.places.iter());
        let Some(events) = board.ring.after(self.position, BATCH) else {
            drop(board);
            let after = self.id();
            return Some(self.gap(after));
        };
        if judgement != self.judgement {
            // The server reads more or less than before, so the reader sees other states.
            drop(board);
            self.begin_state();
            return None;
        }
        if (1..BATCH).contains(&events.len()) {
            self.pace.begin_rest(Duration::ZERO);
        }
        self.has_newest_dependents = false;
        if events.is_empty() && std::mem::take(&mut self.has_more_dependents) {
            // No event is left of those that are gone.
            let seen = board.snapshot.for_reader(&self.rights);
            self.dependents = self.filter.dependents(&seen);
        }
        self.stage = FeedStage::Events(events.into_iter());
        None
    }

    /// Whether it has taken no event that it has not looked at.
    fn has_none(&self) -> bool {
        matches!(&self.stage, FeedStage::Events(events) if events.len() == 0)
    }

    /// The frame of an event, if the reader asks for it and may see it. A reader who gets none for long gets a place to resume
    /// from: an `id` without `data`, which is no event to a browser.
    fn frame(&mut self, next: &NumberedEvent) -> Option<Frame> {
        self.position = next.number;
        let id = Some(self.id());
        let name = next.event.name();
        let frame = match self.data(&next.event) {
            Some(data) => Frame { id, name, data },
            None if self.skipped < SKIPPED => {
                self.skipped += 1;
                return None;
            }
            None => Frame {
                id,
                name: "",
                data: Arc::default(),
            },
        };
        self.skipped = 0;
        Some(frame)
    }

    /// Whether the reader asks for an object, or for one that it depends on. An object that was there before may have gone since.
    fn is_asked_for(&mut self, row: &ServedRow) -> bool {
        if self.filter.asks_for(row) {
            return true;
        }
        if !self.filter.may_ask_for_dependent(row) {
            return false;
        }
        let id = row.id();
        if !self.has_newest_dependents && !self.dependents.contains(&id) {
            // It may be a new dependent. To find out takes a look at all objects.
            let snapshot = self.board.borrow().snapshot.clone();
            let newest = self.filter.dependents(&self.seen(&snapshot));
            let known = self.dependents.len();
            self.dependents.extend(newest);
            self.has_more_dependents |= self.dependents.len() > known;
            self.has_newest_dependents = true;
        }
        self.dependents.contains(&id)
    }

    /// What the reader learns from an event.
    fn data(&mut self, event: &RingEvent) -> Option<Arc<str>> {
        if let Some(row) = event.row()
            && !self.is_asked_for(row)
        {
            return None;
        }
        let news = event.for_reader(&self.rights, self.judgement)?;
        let is_taken = news.is_of_unhealthy || !self.filter.is_of_unhealthy();
        is_taken.then(|| news.data.clone())
    }
}

impl Feed for EventFeed {
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.next_now() {
                return Some(frame);
            }
            // Whoever waits no longer than this begins here again.
            if self.board.borrow().ring.newest().number == self.position {
                self.board.changed().await.ok()?;
            }
            self.pace.rest().await;
        }
    }

    fn next_now(&mut self) -> Option<Frame> {
        loop {
            let frame = match &mut self.stage {
                FeedStage::Start(last) => {
                    let last = *last;
                    self.start(last)
                }
                FeedStage::State(rows, count) => {
                    let (row, count) = (rows.next(), *count);
                    Some(self.state_frame(row, count))
                }
                FeedStage::Events(events) => match events.next() {
                    Some(next) => self.frame(&next),
                    None if self.pace.rests() => return None,
                    None => match self.take_events() {
                        None if self.has_none() => return None,
                        gap => gap,
                    },
                },
            };
            if frame.is_some() {
                return frame;
            }
        }
    }

    /// The present state follows: there may be more objects in it, or fewer.
    fn change_rights(&mut self, rights: ReaderRights) {
        if self.rights != rights {
            self.rights = rights;
            if !matches!(self.stage, FeedStage::Start(_)) {
                self.begin_state();
            }
        }
    }
}

/// The views of one reader of the page.
pub(super) struct ViewFeed<V> {
    board: watch::Receiver<Board>,
    view: V,
    /// The hashes of the rows that the reader has.
    rows: BTreeMap<String, u64>,
    /// The hash of everything that the reader has; `None` before the first view.
    whole: Option<u64>,
    pace: StreamPace,
    is_over: bool,
    rights: ReaderRights,
    /// Whether the rights have changed since the last view.
    is_due: bool,
}

/// A view as the script of the page takes it.
#[derive(Serialize)]
struct ViewFrame<'a> {
    title: &'a str,
    summary: &'a str,
    foot: &'a str,
    link: &'a str,
    /// The ids of all rows, in order.
    order: Vec<&'a str>,
    /// The rows that are new or have changed.
    rows: BTreeMap<&'a str, &'a str>,
}

impl<V: View> ViewFeed<V> {
    /// The views of this reader, beginning with the present one.
    pub(super) fn new(source: StreamSource, view: V, rights: ReaderRights) -> ViewFeed<V> {
        ViewFeed {
            board: source.board,
            pace: source.pace,
            view,
            rows: BTreeMap::new(),
            whole: None,
            is_over: false,
            rights,
            is_due: true,
        }
    }

    /// What the reader does not have; `None` if it has everything.
    fn changed(&mut self, view: &PageView) -> Option<Frame> {
        let hash = |text: &str| BuildHasherDefault::<FxHasher>::default().hash_one(text);
        let rows: BTreeMap<String, u64> = view
            .rows
            .iter()
            .map(|row| (row.id.clone(), hash(&row.html)))
            .collect();
        let is_new = |id: &str| self.rows.get(id) != rows.get(id);
        let changed = view.rows.iter().filter(|row| is_new(&row.id));
        let frame = ViewFrame {
            title: &view.title,
            summary: &view.summary.0,
            foot: &view.foot.0,
            link: &view.link.0,
            order: view.rows.iter().map(|row| &*row.id).collect(),
            rows: changed.map(|row| (&*row.id, &*row.html)).collect(),
        };
        let is_same = frame.rows.is_empty();
        let data = line(&frame);
        let whole = hash(&line(&ViewFrame {
            rows: BTreeMap::new(),
            ..frame
        }));
        self.rows = rows;
        if self.whole.replace(whole) == Some(whole) && is_same {
            return None;
        }
        Some(Frame {
            id: None,
            name: "view",
            data: data.into(),
        })
    }
}

impl<V: View + Send + 'static> Feed for ViewFeed<V> {
    async fn next(&mut self) -> Option<Frame> {
        while !self.is_over {
            if !self.is_due {
                self.board.changed().await.ok()?;
                self.is_due = true;
            }
            self.pace.rest().await;
            self.is_due = false;
            let snapshot = self.board.borrow_and_update().snapshot.clone();
            let Some(view) = self.view.of(&snapshot.for_reader(&self.rights)) else {
                self.is_over = true;
                return Some(Frame {
                    id: None,
                    name: "gone",
                    data: "{}".into(),
                });
            };
            if let Some(frame) = self.changed(&view) {
                self.pace.begin_rest(PAUSE);
                return Some(frame);
            }
        }
        None
    }

    /// A newer view takes the place of one that nobody has read.
    fn next_now(&mut self) -> Option<Frame> {
        None
    }

    fn change_rights(&mut self, rights: ReaderRights) {
        self.is_due |= self.rights != rights;
        self.rights = rights;
    }
}

/// How long a stream rests for each open stream. So all streams together begin to send at most 1,000 times a second.
const FOR_EACH: Duration = Duration::from_millis(1);

/// The pace of one stream. After a quiet time, it sends at once.
pub(super) struct StreamPace {
    streams: Arc<ReaderPlaces>,
    rests_until: Instant,
}

impl StreamPace {
    /// The pace of one of these streams.
    pub(super) fn among(streams: Arc<ReaderPlaces>) -> StreamPace {
        StreamPace {
            streams,
            rests_until: Instant::now(),
        }
    }

    /// Begins a rest: as long as the number of open streams asks for, and at least this long.
    pub(super) fn begin_rest(&mut self, least: Duration) {
        let streams = u32::try_from(self.streams.taken()).unwrap_or(u32::MAX);
        let rest = FOR_EACH.saturating_mul(streams.saturating_sub(1));
        self.rests_until = Instant::now() + rest.max(least);
    }

    /// Whether the rest is not over.
    pub(super) fn rests(&self) -> bool {
        Instant::now() < self.rests_until
    }

    /// Waits until the rest is over.
    pub(super) async fn rest(&self) {
        if self.rests() {
            sleep_until(self.rests_until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use insta::assert_snapshot;
    use tokio::time::timeout;

    use super::super::board::SourceRecord;
    use super::super::page::NowPage;
    use super::super::params::Params;
    use super::super::places::PlaceLimits;
    use super::super::rights::{GrantedRights, ReadRight, SourcePlace};
    use super::super::served_row::OwnState;
    use super::super::snapshot::Snapshot;
    use super::super::snapshot::testing::{failed_pod, pods, snapshot};
    use super::*;
    use crate::status::Status;

    fn board() -> watch::Sender<Board> {
        Board::new(7, snapshot(vec![failed_pod("web", "it fails")]))
    }

    fn feed(board: &watch::Sender<Board>, query: &str, last: Option<&str>) -> EventFeed {
        let params = Params::of(&format!("/?{query}").parse().expect("an address"));
        let filter = RowFilter::of(&params).expect("valid parameters");
        let last = last.map(|id| id.parse().expect("an id"));
        EventFeed::new(source(board, 1), filter, last, ReaderRights::Everything)
    }

    /// Where one of this number of open streams reads.
    fn source(board: &watch::Sender<Board>, open: usize) -> StreamSource {
        let streams = ReaderPlaces::new(PlaceLimits {
            all: open,
            of_one: open,
        });
        for _ in 0..open {
            let place = streams.take(None).expect("a place");
            std::mem::forget(place);
        }
        StreamSource {
            board: board.subscribe(),
            pace: StreamPace::among(streams),
        }
    }

    /// Publishes a change of an object.
    fn change(board: &watch::Sender<Board>, name: &str, status: Status) {
        board.send_modify(|board| {
            let mut row = failed_pod(name, "it fails");
            Arc::make_mut(&mut row.assessment).verdict.status = status;
            row.is_unhealthy = status == Status::Failed;
            let row = Arc::new(row);
            let mut rows = board.snapshot.rows.clone();
            let at = rows.iter().position(|known| known.id() == row.id());
            let was = at.map(|at| rows.remove(at));
            rows.push(row.clone());
            board.announce(&row, was.as_ref());
            board.snapshot = Arc::new(Snapshot {
                rows,
                ..Snapshot::clone(&board.snapshot)
            });
        });
    }

    /// The events that a reader gets now: their ids, types, and the names of their objects.
    fn now(feed: &mut EventFeed) -> String {
        let mut lines = Vec::new();
        while let Some(Some(frame)) = feed.next().now_or_never() {
            // The rights of a reader are a hash.
            let place = frame.id.map(|id| EventId { rights: None, ..id });
            let id = place.map_or("-".to_owned(), |id| id.to_string());
            if frame.name.is_empty() {
                lines.push(id);
                continue;
            }
            let data: serde_json::Value = serde_json::from_str(&frame.data).expect("JSON");
            let about = data["ref"]["name"].as_str();
            let about = about.unwrap_or(&frame.data);
            lines.push(format!("{id} {} {about}", frame.name));
        }
        lines.join("\n")
    }

    #[test]
    fn a_new_reader_gets_the_state_and_then_the_changes() {
        let board = board();
        let mut feed = feed(&board, "", None);
        assert_snapshot!(now(&mut feed), @r#"
        - status web
        7.0 synced {"v":1,"count":1}
        "#);
        change(&board, "web", Status::Current);
        change(&board, "api", Status::Failed);
        assert_snapshot!(now(&mut feed), @"
        7.1 status web
        7.2 status api
        ");
    }

    #[test]
    fn a_reader_resumes_after_its_last_event() {
        let board = board();
        for name in ["a", "b", "c"] {
            change(&board, name, Status::Failed);
        }
        assert_snapshot!(now(&mut feed(&board, "", Some("7.2"))), @"7.3 status c");
        assert_snapshot!(now(&mut feed(&board, "", Some("7.3"))), @"");
    }

    #[test]
    fn what_is_gone_is_a_gap_with_the_state_after_it() {
        let board = board();
        change(&board, "web", Status::Failed);
        assert_snapshot!(now(&mut feed(&board, "", Some("6.2"))), @r#"
        - gap {"v":1,"after":"6.2","upto":"7.1","cause":"restarted"}
        - status web
        7.1 synced {"v":1,"count":1}
        "#);
        assert_snapshot!(now(&mut feed(&board, "", Some("7.9"))), @r#"
        - gap {"v":1,"after":"7.9","upto":"7.1","cause":"forgotten"}
        - status web
        7.1 synced {"v":1,"count":1}
        "#);
    }

    #[test]
    fn a_slow_reader_delays_nobody_and_finds_a_gap() {
        let board = board();
        let mut slow = feed(&board, "", None);
        now(&mut slow);
        for _ in 0..20_001 {
            board.send_modify(|board| {
                let row = Arc::new(failed_pod("web", "it fails"));
                board.announce(&row, None);
            });
        }
        let got = now(&mut slow);
        assert!(got.starts_with("- gap "), "{got}");
        assert!(got.contains(r#""cause":"forgotten""#) && got.contains("7.20001 synced"));
    }

    #[test]
    fn a_reader_gets_what_it_asks_for() {
        let board = board();
        let mut of_api = feed(&board, "object=pod/api", None);
        let mut unhealthy = feed(&board, "unhealthy", None);
        now(&mut of_api);
        now(&mut unhealthy);
        change(&board, "api", Status::Current);
        change(&board, "web", Status::Current);
        change(&board, "web", Status::Current);
        assert_snapshot!(now(&mut of_api), @"7.1 status api");
        assert_snapshot!(now(&mut unhealthy), @"7.2 status web");
    }

    /// The Pod `web` has a dependent that comes, and goes with the others.
    #[test]
    fn a_reader_of_an_object_gets_its_dependents_as_long_as_they_are_there() {
        let board = board();
        let mut of_web = feed(&board, "object=pod/web", None);
        let mut of_others = feed(&board, "object=pod/other", None);
        now(&mut of_web);
        now(&mut of_others);
        let mut child = failed_pod("child", "it fails");
        child.depth = 1;
        let child = Arc::new(child);
        let announce = |was: Option<&Arc<ServedRow>>, rows: &dyn Fn(&mut Vec<Arc<ServedRow>>)| {
            board.send_modify(|board| {
                let mut next = Snapshot::clone(&board.snapshot);
                rows(&mut next.rows);
                board.announce(&child, was);
                board.snapshot = Arc::new(next);
            });
        };
        announce(None, &|rows| rows.push(child.clone()));
        assert_eq!(now(&mut of_web), "7.1 status child");
        announce(None, &|rows| rows.clear());
        assert_eq!(now(&mut of_web), "7.2 status child");
        assert_eq!(now(&mut of_others), "");
    }

    #[test]
    fn a_reader_of_an_object_keeps_nothing_of_dependents_that_are_gone() {
        let board = board();
        let mut of_web = feed(&board, "object=pod/web", None);
        now(&mut of_web);
        for number in 0..20 {
            let mut child = failed_pod(&format!("child-{number}"), "it fails");
            child.depth = 1;
            let child = Arc::new(child);
            for is_there in [true, false] {
                board.send_modify(|board| {
                    let mut next = Snapshot::clone(&board.snapshot);
                    next.rows.truncate(1);
                    next.rows.extend(is_there.then(|| child.clone()));
                    board.announce(&child, None);
                    board.snapshot = Arc::new(next);
                });
                assert!(now(&mut of_web).ends_with(&format!("status child-{number}")));
            }
        }
        let known = of_web.dependents.len();
        assert!(known <= 1, "{known} ids are known");
    }

    /// The same reader, away while an object ended and its row was removed.
    #[test]
    fn a_reader_that_was_away_learns_which_of_its_objects_are_gone() {
        let board = board();
        change(&board, "api", Status::Failed);
        let filters = ["namespace=shop", "object=pod/api", "object=pods"];
        change(&board, "api", Status::NotFound);
        board.send_modify(|board| {
            let mut left = Snapshot::clone(&board.snapshot);
            left.rows.retain(|row| &*row.object_ref.name != "api");
            board.snapshot = Arc::new(left);
        });
        for filter in filters {
            let mut resumed = feed(&board, filter, Some("7.1"));
            assert_eq!(now(&mut resumed), "7.2 status api", "{filter}");
        }
        // Whether it was a dependent of another object is not known.
        assert_snapshot!(now(&mut feed(&board, "object=pod/web", Some("7.1"))), @r#"
        - gap {"v":1,"after":"7.1","upto":"7.2","cause":"forgotten"}
        - status web
        7.2 synced {"v":1,"count":1}
        "#);
        assert_snapshot!(now(&mut feed(&board, "object=pod/web&namespace=other", Some("7.1"))), @"");
    }

    /// How long after an event the next one is sent, to one of this number of streams, and how many events it gets then.
    async fn rest_among(open: usize, changes: usize) -> (Duration, usize) {
        let board = board();
        let filter = RowFilter::of(&Params::default()).expect("no parameter");
        let source = source(&board, open);
        let mut feed = EventFeed::new(source, filter, None, ReaderRights::Everything);
        now(&mut feed);
        let begun = Instant::now();
        change(&board, "web", Status::Current);
        assert!(feed.next().await.is_some() && begun.elapsed().is_zero());
        for number in 0..changes {
            change(&board, &format!("web-{number}"), Status::Failed);
        }
        let mut got = usize::from(feed.next().await.is_some());
        let rested = begun.elapsed();
        got += now(&mut feed).lines().count();
        (rested, got)
    }

    #[tokio::test(start_paused = true)]
    async fn each_of_many_streams_rests_longer_and_gets_every_event() {
        for (open, rest) in [(1, 0), (100, 99), (1_000, 999)] {
            let rest = Duration::from_millis(rest);
            assert_eq!(rest_among(open, 200).await, (rest, 200), "{open}");
        }
    }

    /// A reader of the cluster cancels the wait each second.
    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_polled_again_rests_no_shorter() {
        let board = board();
        let filter = RowFilter::of(&Params::default()).expect("no parameter");
        let source = source(&board, 1_000);
        let mut feed = EventFeed::new(source, filter, None, ReaderRights::Everything);
        now(&mut feed);
        let begun = Instant::now();
        for name in ["a", "b"] {
            change(&board, name, Status::Failed);
            let mut next = timeout(Duration::from_millis(10), feed.next()).await;
            while next.is_err() {
                next = timeout(Duration::from_millis(10), feed.next()).await;
            }
        }
        assert_eq!(begun.elapsed(), Duration::from_millis(999));
    }

    #[tokio::test(start_paused = true)]
    async fn a_view_has_only_the_changed_rows() {
        let board = board();
        let params = Params::of(&"/?q=web".parse().expect("an address"));
        let view = NowPage::of(&params).expect("valid parameters");
        let mut feed = ViewFeed::new(source(&board, 1), view, ReaderRights::Everything);
        let rows = |frame: Frame| {
            let data: serde_json::Value = serde_json::from_str(&frame.data).expect("JSON");
            let rows = data["rows"].as_object().expect("rows");
            let rows: Vec<&str> = rows.keys().map(String::as_str).collect();
            format!("{} of {}", rows.join(","), data["order"])
        };
        let first = feed.next().await.map(rows);
        assert_eq!(first.as_deref(), Some(r#"uid-web of ["uid-web"]"#));
        change(&board, "web-2", Status::Failed);
        let second = feed.next().await.map(rows);
        assert_eq!(
            second.as_deref(),
            Some(r#"uid-web-2 of ["uid-web","uid-web-2"]"#)
        );
        // What the view does not show is no news.
        change(&board, "api", Status::Failed);
        let next = tokio::time::timeout(Duration::from_secs(9), feed.next());
        let counts = next
            .await
            .expect("the numbers of states have changed")
            .map(rows);
        assert_eq!(counts.as_deref(), Some(r#" of ["uid-web","uid-web-2"]"#));
        board.send_modify(|_| {});
        let next = tokio::time::timeout(Duration::from_secs(9), feed.next());
        assert!(next.await.is_err(), "nothing has changed");
    }

    /// A reader who may list these types.
    fn only(resources: Vec<crate::object::Resource>) -> ReaderRights {
        let mut granted = GrantedRights::default();
        for resource in resources {
            granted.grant(ReadRight::List(SourcePlace {
                resource,
                namespace: None,
            }));
        }
        ReaderRights::Only(Arc::new(granted))
    }

    #[test]
    fn a_reader_gets_no_event_of_what_he_may_not_list() {
        let board = board();
        let mut none = feed(&board, "", None);
        none.change_rights(only(vec![]));
        let mut pods_alone = feed(&board, "", None);
        pods_alone.change_rights(only(vec![pods()]));
        assert_snapshot!(now(&mut none), @r#"7.0 synced {"v":1,"count":0}"#);
        assert_snapshot!(now(&mut pods_alone), @r#"
        - status web
        7.0 synced {"v":1,"count":1}
        "#);
        change(&board, "web", Status::Current);
        board.send_modify(|board| {
            let time = "1970-01-01T00:00:00Z";
            let record = SourceRecord {
                v: SourceRecord::V,
                time,
                cluster: "test",
                source: "secrets",
                state: "live",
                cause: None,
            };
            let place = SourcePlace {
                resource: crate::object::Resource {
                    kind: "Secret".into(),
                    ..pods()
                },
                namespace: None,
            };
            board.announce_source(&record, place);
        });
        assert_snapshot!(now(&mut none), @"");
        assert_snapshot!(now(&mut pods_alone), @"7.1 status web");
        // More rights show more, and fewer show less.
        none.change_rights(only(vec![pods()]));
        pods_alone.change_rights(only(vec![]));
        assert_snapshot!(now(&mut none), @r#"
        - status web
        7.2 synced {"v":1,"count":1}
        "#);
        assert_snapshot!(now(&mut pods_alone), @r#"7.2 synced {"v":1,"count":0}"#);
    }

    /// A reader who was away, and whose rights are others when he comes back.
    #[test]
    fn a_reader_whose_rights_have_changed_meanwhile_begins_anew() {
        let board = board();
        let filter = || RowFilter::of(&Params::default()).expect("no parameter");
        let resumed = |rights, last: &str| {
            let last = Some(last.parse().expect("an id"));
            now(&mut EventFeed::new(
                source(&board, 1),
                filter(),
                last,
                rights,
            ))
        };
        let mut first = EventFeed::new(source(&board, 1), filter(), None, only(vec![pods()]));
        now(&mut first);
        let last = first.id().to_string();
        let last = &*last;
        change(&board, "api", Status::Failed);
        let same = resumed(only(vec![pods()]), last);
        assert_eq!(same, "7.1 status api");
        for (rights, states) in [(only(vec![]), 0), (ReaderRights::Everything, 2)] {
            let got = resumed(rights, last);
            let lines: Vec<&str> = got.lines().collect();
            assert!(lines[0].contains(r#""cause":"rights""#), "{got}");
            assert_eq!(lines.len(), states + 2, "{got}");
            assert!(lines[states + 1].contains(" synced "), "{got}");
        }
        // The server reads another type, which the reader may not list: each object is judged by itself now.
        board.send_modify(|board| {
            let place = SourcePlace {
                resource: crate::object::Resource {
                    kind: "Secret".into(),
                    ..pods()
                },
                namespace: None,
            };
            board.snapshot = Arc::new(Snapshot {
                places: Arc::new([place].into()),
                ..Snapshot::clone(&board.snapshot)
            });
        });
        let narrower = resumed(only(vec![pods()]), last);
        assert!(narrower.contains(r#""cause":"rights""#), "{narrower}");
        let open = now(&mut first);
        assert!(open.ends_with(r#" synced {"v":1,"count":2}"#), "{open}");
    }

    /// An event that changes only what rests on other objects is none for a reader who sees the object alone.
    #[test]
    fn a_reader_learns_nothing_from_what_others_did_to_an_object() {
        let board = board();
        board.send_modify(|board| {
            let place = |kind: &str| SourcePlace {
                resource: crate::object::Resource {
                    kind: kind.into(),
                    ..pods()
                },
                namespace: None,
            };
            board.snapshot = Arc::new(Snapshot {
                places: Arc::new([place("Pod"), place("Secret")].into()),
                ..Snapshot::clone(&board.snapshot)
            });
        });
        let mut alone = feed(&board, "", None);
        alone.change_rights(only(vec![pods()]));
        now(&mut alone);
        board.send_modify(|board| {
            let was = Arc::new(failed_pod("web", "it fails"));
            let mut row = failed_pod("web", "secret \"s\" not found");
            row.own = Some(OwnState {
                assessment: was.assessment.clone(),
                is_unhealthy: true,
            });
            board.announce(&Arc::new(row), Some(&was));
        });
        assert_snapshot!(now(&mut alone), @"");
    }

    #[test]
    fn a_reader_who_gets_no_event_for_long_gets_a_place_to_resume_from() {
        let board = board();
        let mut of_api = feed(&board, "object=pod/api", None);
        now(&mut of_api);
        let others = |count: u64| {
            for _ in 0..count {
                board.send_modify(|board| {
                    let row = Arc::new(failed_pod("web", "it fails"));
                    board.announce(&row, None);
                });
            }
        };
        others(SKIPPED);
        assert_snapshot!(now(&mut of_api), @"");
        others(1);
        assert_snapshot!(now(&mut of_api), @"7.257");
        // Far more events than are kept. A reader that reads them resumes without a gap.
        let mut last = String::new();
        for _ in 0..50 {
            others(500);
            last = now(&mut of_api);
        }
        let last = last.lines().last().expect("a place");
        let mut resumed = feed(&board, "object=pod/api", Some(last));
        let after = now(&mut resumed);
        assert!(!after.contains("gap"), "{after}");
    }
}
