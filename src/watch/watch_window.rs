//! `WatchWindow`: the last events of a source, so that a watch can begin in the past, as in the watch cache of an API server.
//!
//! It holds every event between two versions, or none. An interruption after which events may be missing begins it anew, and ends
//! the watches that read from it: their readers list again, as they do when an API server is started again.

use std::collections::VecDeque;
use std::sync::Arc;

use super::revision::Revision;
use crate::object::ResourceVersion;
use crate::source::{Event, Version, Why};

/// The most events of a source.
const MAX_EVENTS: usize = 10_000;

/// The most bytes of the versions that only the window keeps.
const MAX_BYTES: usize = 4 << 20;

/// The bytes of an event beside its versions.
const EVENT_BYTES: usize = 150;

/// A change of an object.
#[derive(Clone, Debug)]
pub struct WindowEvent {
    /// The version of the source after it.
    pub at: Revision,
    /// Whether the object is gone. `now` is its last state then.
    pub is_gone: bool,
    /// The object after the change.
    pub now: Arc<Version>,
    /// The object before it; `None` if it is new.
    pub prev: Option<Arc<Version>>,
}

/// The place of a watch in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPlace {
    /// How often the window had begun anew.
    begun: u64,
    /// The number of the next event.
    next: u64,
    /// The reader knows events up to this version from elsewhere.
    after: Revision,
}

/// What a watch finds at its place.
#[derive(Clone, Debug)]
pub enum WindowStep {
    /// The next event.
    Event(WindowEvent),
    /// Everything up to this version was read.
    Reached(Revision),
    /// Events may be missing.
    Lost,
}

/// The events of one source.
#[derive(Debug, Default)]
pub struct WatchWindow {
    begun: u64,
    /// All events after this version are here; `None` until a listing is complete.
    floor: Option<Revision>,
    /// Everything up to this version has arrived.
    reached: Option<Revision>,
    /// Whether the differences of a gap follow.
    is_catching_up: bool,
    events: VecDeque<WindowEvent>,
    /// The number of the first event.
    first: u64,
    bytes: usize,
}

impl WatchWindow {
    /// Takes the next event of the source.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Synced { version, .. } => self.begin(Revision::parse(version)),
            Event::Object {
                why,
                now,
                prev,
                past,
                ..
            } if why.is_live() && !past => {
                let at = Revision::parse(&now.version);
                match (at, self.floor) {
                    (Some(at), Some(_)) => self.push(WindowEvent {
                        at,
                        is_gone: why.is_gone(),
                        now: Arc::new(now.without_tape()),
                        prev: prev.clone(),
                    }),
                    // It is the first one after an interruption: only what follows it is complete.
                    (at, _) => self.begin(at),
                }
            }
            Event::Gap(gap) => {
                self.begin(Revision::parse(&gap.upto));
                self.is_catching_up = true;
            }
            // These are the differences of a gap, or listings before the first `Synced`.
            Event::Object { .. } if self.is_catching_up || self.floor.is_none() => {}
            // The version of what has taken its name follows.
            Event::Object {
                why: Why::Vanished, ..
            } => self.begin(None),
            Event::Object { now, .. } => self.begin(Revision::parse(&now.version)),
            Event::State(_) | Event::Undecodable { .. } => {}
        }
    }

    /// Notes that everything up to a version has arrived. Returns whether that is news.
    pub fn reach(&mut self, version: &ResourceVersion) -> bool {
        let version = Revision::parse(version);
        let is_news = self.floor.is_some() && version > self.reached;
        if is_news {
            self.reached = version;
        }
        is_news
    }

    /// Where a watch begins whose reader knows everything up to a version; `None` if later events are forgotten.
    pub fn place_after(&self, version: Revision) -> Option<WindowPlace> {
        let floor = self.floor?;
        (version >= floor).then(|| {
            let known = self.events.partition_point(|event| event.at <= version);
            WindowPlace {
                begun: self.begun,
                next: self.first + known as u64,
                after: version,
            }
        })
    }

    /// The next event of a watch. It moves on.
    pub fn next(&self, place: &mut WindowPlace) -> WindowStep {
        let (Some(reached), true) = (self.reached, place.begun == self.begun) else {
            return WindowStep::Lost;
        };
        let Some(read) = place.next.checked_sub(self.first) else {
            return WindowStep::Lost;
        };
        let unread = self
            .events
            .iter()
            .skip(usize::try_from(read).unwrap_or(usize::MAX));
        for event in unread {
            place.next += 1;
            if event.at > place.after {
                return WindowStep::Event(event.clone());
            }
        }
        WindowStep::Reached(reached.max(place.after))
    }

    fn begin(&mut self, floor: Option<Revision>) {
        self.begun += 1;
        self.first += self.events.len() as u64;
        self.events = VecDeque::new();
        self.bytes = 0;
        self.floor = floor;
        self.reached = floor;
        self.is_catching_up = false;
    }

    fn push(&mut self, event: WindowEvent) {
        self.is_catching_up = false;
        self.bytes += event.weight();
        self.reached = self.reached.max(Some(event.at));
        self.events.push_back(event);
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.events.pop_front() else {
                return;
            };
            self.bytes -= oldest.weight();
            self.first += 1;
            self.floor = self.floor.max(Some(oldest.at));
        }
    }
}

impl WindowEvent {
    /// Its bytes in memory. The store keeps the newest version of an object anyway, and an older one counts where it was
    /// replaced.
    fn weight(&self) -> usize {
        let body = |version: &Arc<Version>| version.body.weight();
        let gone = if self.is_gone { body(&self.now) } else { 0 };
        EVENT_BYTES + gone + self.prev.as_ref().map_or(0, body)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use jiff::Timestamp;

    use super::*;
    use crate::object::ObjectRef;
    use crate::source::{Gap, GapCause, SourceState};

    fn revision(number: u64) -> Revision {
        Revision::read(&number.to_string()).expect("a revision")
    }

    fn version(name: &str, at: u64) -> Arc<Version> {
        Arc::new(Version {
            object: Arc::new(ObjectRef {
                api_version: "v1".into(),
                kind: "ConfigMap".into(),
                namespace: Some("shop".into()),
                name: name.into(),
                uid: None,
            }),
            version: ResourceVersion::new(at.to_string()),
            body: "x".repeat(1 << 10).into(),
        })
    }

    fn object(why: Why, name: &str, at: u64) -> Event {
        let prev = (why != Why::Added && why != Why::Listed).then(|| version(name, 1));
        Event::Object {
            why,
            past: false,
            seen: Timestamp::UNIX_EPOCH,
            now: version(name, at),
            prev,
        }
    }

    fn synced(at: u64) -> Event {
        Event::Synced {
            epoch: 1,
            count: 1,
            version: ResourceVersion::new(at.to_string()),
        }
    }

    fn gap() -> Event {
        Event::Gap(Gap {
            after: ResourceVersion::new("10"),
            upto: ResourceVersion::new("30"),
            cause: GapCause::Expired,
        })
    }

    /// A window that was listed at version 10.
    fn listed() -> WatchWindow {
        let mut window = WatchWindow::default();
        for event in [object(Why::Listed, "a", 4), synced(10)] {
            window.apply(&event);
        }
        window
    }

    /// What a watch finds, until it has to wait.
    fn rest(window: &WatchWindow, place: &mut WindowPlace) -> String {
        let mut text = String::new();
        loop {
            match window.next(place) {
                WindowStep::Event(event) => {
                    let sign = if event.is_gone { '-' } else { '+' };
                    let name = &event.now.object.name;
                    let _infallible = write!(text, "{sign}{name}@{} ", event.at);
                }
                WindowStep::Reached(version) => return format!("{text}={version}"),
                WindowStep::Lost => return format!("{text}lost"),
            }
        }
    }

    fn from(window: &WatchWindow, version: u64) -> String {
        match window.place_after(revision(version)) {
            Some(mut place) => rest(window, &mut place),
            None => "forgotten".to_owned(),
        }
    }

    #[test]
    fn a_watch_begins_after_any_version_that_is_held() {
        let mut window = listed();
        for event in [
            object(Why::Added, "b", 12),
            object(Why::Modified, "a", 13),
            object(Why::Deleted, "b", 15),
        ] {
            window.apply(&event);
        }
        for (version, expect) in [
            (9, "forgotten"),
            (10, "+b@12 +a@13 -b@15 =15"),
            (12, "+a@13 -b@15 =15"),
            (14, "-b@15 =15"),
            (15, "=15"),
            // A reader may know more than the window: of that he is not told again.
            (16, "=16"),
        ] {
            assert_eq!(from(&window, version), expect, "{version}");
        }
        let mut ahead = window.place_after(revision(16)).expect("it is held");
        window.apply(&object(Why::Added, "c", 16));
        window.apply(&object(Why::Added, "d", 17));
        assert_eq!(rest(&window, &mut ahead), "+d@17 =17");
        assert!(window.reach(&ResourceVersion::new("20")));
        assert!(!window.reach(&ResourceVersion::new("19")));
        assert_eq!(rest(&window, &mut ahead), "=20");
    }

    #[test]
    fn nothing_is_held_before_a_listing_is_complete() {
        let mut window = WatchWindow::default();
        window.apply(&object(Why::Listed, "a", 4));
        assert_eq!(from(&window, 4), "forgotten");
        window.apply(&synced(10));
        assert_eq!(from(&window, 10), "=10");
        assert_eq!(from(&window, 4), "forgotten");
    }

    #[test]
    fn an_interruption_ends_watches_if_events_may_be_missing() {
        for (events, expect) in [
            (vec![Event::State(SourceState::Connecting)], "=10"),
            (vec![gap()], "forgotten"),
            (
                vec![gap(), object(Why::Vanished, "a", 4), synced(30)],
                "forgotten",
            ),
            // An object whose name another one has now: its deletion was not seen.
            (
                vec![object(Why::Vanished, "a", 4), object(Why::Added, "a", 12)],
                "forgotten",
            ),
            (vec![object(Why::Skipped, "a", 12)], "forgotten"),
        ] {
            let mut window = listed();
            let mut open = window.place_after(revision(10)).expect("it is held");
            for event in &events {
                window.apply(event);
            }
            assert_eq!(from(&window, 10), expect, "{events:?}");
            let of_open = rest(&window, &mut open);
            assert_eq!(of_open == "lost", expect == "forgotten", "{events:?}");
        }
        let mut window = listed();
        // A reader who lists after a gap is not cut again by its differences.
        window.apply(&gap());
        let mut open = window.place_after(revision(30)).expect("it is held");
        window.apply(&object(Why::Vanished, "c", 4));
        window.apply(&object(Why::Skipped, "a", 25));
        assert_eq!(rest(&window, &mut open), "=30");
        window.apply(&object(Why::Added, "b", 31));
        assert_eq!(rest(&window, &mut open), "+b@31 =31");
        assert_eq!(from(&window, 29), "forgotten");
        // Outside a gap they are one.
        window.apply(&object(Why::Skipped, "a", 32));
        assert_eq!(rest(&window, &mut open), "lost");
        assert_eq!(from(&window, 32), "=32");
    }

    #[test]
    fn a_slow_watch_loses_its_place_and_no_other_is_kept_for_it() {
        let mut window = listed();
        let mut slow = window.place_after(revision(10)).expect("it is held");
        let mut quick = slow;
        for at in 11..20_000 {
            window.apply(&object(Why::Modified, "a", at));
            assert!(
                matches!(window.next(&mut quick), WindowStep::Event(event) if event.at == revision(at))
            );
        }
        assert!(window.bytes <= MAX_BYTES && window.events.len() <= MAX_EVENTS);
        assert!(matches!(window.next(&mut slow), WindowStep::Lost));
        let floor = window.floor.expect("it is listed");
        assert!(window.place_after(floor).is_some());
        assert_eq!(window.events[0].at, floor.next());
    }
}
