//! `EventRing`: the last events in memory, so that a reader who was away can resume.
//!
//! No reader has a queue. A reader has a position, and takes the events after it when it can. One that is too slow, or was away
//! too long, finds that its position is gone, which is a gap.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use super::rights::{Judgement, ReaderRights, RightsMark, SourcePlace};
use super::served_row::ServedRow;

/// The most events that are kept.
const MAX_EVENTS: usize = 20_000;
/// The most bytes that they may have together.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The place of an event: `Last-Event-ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId {
    /// Names the run of the server. Its numbers begin again with each run.
    pub epoch: u64,
    /// The number of the event in this run.
    pub number: u64,
    /// The rights of the reader who got it; `None` for those of the server.
    pub rights: Option<RightsMark>,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.number)?;
        match self.rights {
            Some(mark) => write!(f, "-{mark}"),
            None => Ok(()),
        }
    }
}

impl FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<EventId, ()> {
        let (epoch, rest) = text.trim().split_once('.').ok_or(())?;
        let (number, mark) = match rest.split_once('-') {
            Some((number, mark)) => (number, Some(mark.parse()?)),
            None => (rest, None),
        };
        Ok(EventId {
            epoch: epoch.parse().map_err(drop)?,
            number: number.parse().map_err(drop)?,
            rights: mark,
        })
    }
}

/// What an event is about.
#[derive(Clone, Debug)]
pub enum EventSubject {
    /// The state of an object has changed, or it is new.
    Object {
        /// Its row.
        row: Arc<ServedRow>,
        /// Its row before; `None` for a new object.
        was: Option<Arc<ServedRow>>,
    },
    /// A source has another state, or has missed versions. It reads this place.
    Source(SourcePlace),
}

/// What readers learn from an event. Those who see the same share it.
#[derive(Clone, Debug)]
pub struct EventNews {
    /// One line of JSON.
    pub data: Arc<str>,
    /// Whether it is about an object that is not well, or was not.
    pub is_of_unhealthy: bool,
}

impl EventNews {
    /// What a row says after the row before; `None` if that is nothing.
    fn of(row: &ServedRow, was: Option<&ServedRow>) -> Option<EventNews> {
        if was.is_some_and(|was| row.is_like(was)) {
            return None;
        }
        Some(EventNews {
            data: row.json(false).into(),
            is_of_unhealthy: row.is_unhealthy || was.is_some_and(|was| was.is_unhealthy),
        })
    }
}

/// One event, ready to be sent.
#[derive(Debug)]
pub struct RingEvent {
    /// Its subject, by which readers select.
    subject: EventSubject,
    /// For readers who see everything.
    whole: Option<EventNews>,
    /// For readers who see each object alone, once one of them has asked.
    alone: OnceLock<Option<EventNews>>,
}

impl RingEvent {
    /// The change of the state of an object, or a new object.
    pub fn of_object(row: &Arc<ServedRow>, was: Option<&Arc<ServedRow>>) -> RingEvent {
        RingEvent {
            whole: EventNews::of(row, was.map(|was| &**was)),
            subject: EventSubject::Object {
                row: row.clone(),
                was: was.cloned(),
            },
            alone: OnceLock::new(),
        }
    }

    /// The change of a source that reads this place.
    pub fn of_source(place: SourcePlace, data: String) -> RingEvent {
        RingEvent {
            subject: EventSubject::Source(place),
            whole: Some(EventNews {
                data: data.into(),
                is_of_unhealthy: true,
            }),
            alone: OnceLock::new(),
        }
    }

    /// The name of its type in the stream.
    pub fn name(&self) -> &'static str {
        match self.subject {
            EventSubject::Object { .. } => "status",
            EventSubject::Source(_) => "cluster",
        }
    }

    /// The object that it is about.
    pub fn row(&self) -> Option<&Arc<ServedRow>> {
        match &self.subject {
            EventSubject::Object { row, .. } => Some(row),
            EventSubject::Source(_) => None,
        }
    }

    /// What a reader with these rights learns from it; `None` if that is nothing.
    pub fn for_reader(
        &self,
        rights: &ReaderRights,
        judgement: Judgement,
    ) -> Option<Cow<'_, EventNews>> {
        let (row, was) = match &self.subject {
            EventSubject::Object { row, was } => (row, was.as_ref()),
            EventSubject::Source(place) => {
                let whole = self.whole.as_ref().filter(|_| rights.may_list(place));
                return whole.map(Cow::Borrowed);
            }
        };
        let granted = match rights {
            ReaderRights::Everything => return self.whole.as_ref().map(Cow::Borrowed),
            ReaderRights::Only(granted) => granted,
        };
        if !granted.may_see(&row.object_ref) {
            return None;
        }
        if judgement == Judgement::Alone {
            let alone = || EventNews::of(&row.alone(), was.map(|was| was.alone()).as_ref());
            return self.alone.get_or_init(alone).as_ref().map(Cow::Borrowed);
        }
        let seen = row.without_hidden(granted);
        let seen_before = was.map(|was| was.without_hidden(granted));
        let is_whole = Arc::ptr_eq(&seen, row)
            && seen_before.as_ref().map(Arc::as_ptr) == was.map(Arc::as_ptr);
        if is_whole {
            return self.whole.as_ref().map(Cow::Borrowed);
        }
        EventNews::of(&seen, seen_before.as_deref()).map(Cow::Owned)
    }

    /// How much of the ring it takes, in bytes.
    fn size(&self) -> usize {
        self.whole.as_ref().map_or(0, |news| news.data.len())
    }
}

/// The last events. The oldest ones make room for new ones.
#[derive(Debug)]
pub struct EventRing {
    epoch: u64,
    /// The number of the newest event; 0 before the first.
    newest: u64,
    events: VecDeque<Arc<RingEvent>>,
    bytes: usize,
    max_events: usize,
}

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumption {
    /// After the event with this number.
    After(u64),
    /// With the present state, because it knows nothing.
    Anew,
    /// With the present state, because the events after its position are gone.
    Forgotten(EventId),
}

impl EventRing {
    /// A ring without events. Each run of the server has an epoch of its own.
    pub fn new(epoch: u64) -> EventRing {
        EventRing {
            epoch,
            newest: 0,
            events: VecDeque::new(),
            bytes: 0,
            max_events: MAX_EVENTS,
        }
    }

    /// A ring for this many events.
    #[cfg(test)]
    fn of_size(epoch: u64, max_events: usize) -> EventRing {
        EventRing {
            max_events,
            ..EventRing::new(epoch)
        }
    }

    /// The place of the newest event.
    pub fn newest(&self) -> EventId {
        self.id(self.newest)
    }

    /// The place of the event with this number.
    pub fn id(&self, number: u64) -> EventId {
        EventId {
            epoch: self.epoch,
            number,
            rights: None,
        }
    }

    /// Adds an event.
    pub fn push(&mut self, event: RingEvent) {
        self.newest += 1;
        self.bytes += event.size();
        self.events.push_back(Arc::new(event));
        while self.events.len() > self.max_events || self.bytes > MAX_BYTES {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.size();
        }
    }

    /// Where a reader begins whose last event had this place.
    pub fn resume(&self, last: Option<EventId>) -> Resumption {
        match last {
            None => Resumption::Anew,
            Some(id) if id.epoch == self.epoch && self.reaches(id.number) => {
                Resumption::After(id.number)
            }
            Some(id) => Resumption::Forgotten(id),
        }
    }

    /// At most `most` events after this number, each with its own; `None` if some of them are gone.
    pub fn after(&self, number: u64, most: usize) -> Option<Vec<NumberedEvent>> {
        if !self.reaches(number) {
            return None;
        }
        let oldest = self.newest - self.events.len() as u64 + 1;
        let skipped = usize::try_from(number + 1 - oldest).unwrap_or(usize::MAX);
        let events = self.events.iter().skip(skipped).take(most);
        let numbered = (number + 1..).zip(events);
        let numbered = numbered.map(|(number, event)| NumberedEvent {
            number,
            event: event.clone(),
        });
        Some(numbered.collect())
    }

    /// Whether all events after this number are there.
    fn reaches(&self, number: u64) -> bool {
        let gone = self.newest - self.events.len() as u64;
        (gone..=self.newest).contains(&number)
    }
}

/// An event with its number.
#[derive(Clone, Debug)]
pub struct NumberedEvent {
    /// Its number in the run of the server.
    pub number: u64,
    /// The event.
    pub event: Arc<RingEvent>,
}

/// One event of a stream, as [Server-Sent Events](https://html.spec.whatwg.org/multipage/server-sent-events.html) write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Where a reader resumes after it.
    pub(super) id: Option<EventId>,
    /// The name of its type; empty for a place to resume from without an event.
    pub(super) name: &'static str,
    /// One line of JSON, which readers share; empty without an event.
    pub(super) data: Arc<str>,
}

impl Frame {
    /// Appends its lines to those of a stream.
    pub(super) fn write_to(&self, stream: &mut String) {
        if !self.name.is_empty() {
            let lines = ["event: ", self.name, "\ndata: ", &self.data, "\n"];
            stream.extend(lines);
        }
        if let Some(id) = &self.id {
            stream.extend(["id: ", &id.to_string(), "\n"]);
        }
        stream.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::super::rights::{GrantedRights, ReadRight};
    use super::super::snapshot::testing::{failed_pod, pods};
    use super::*;

    fn event(data: String) -> RingEvent {
        let place = SourcePlace {
            resource: pods(),
            namespace: None,
        };
        RingEvent::of_source(place, data)
    }

    fn data(event: &RingEvent) -> String {
        let news = event.for_reader(&ReaderRights::Everything, Judgement::Whole);
        news.expect("news").data.to_string()
    }

    #[test]
    fn a_place_is_two_numbers_and_the_rights_of_a_reader() {
        for (text, written) in [
            ("7.12", Some("7.12")),
            (" 7.0 ", Some("7.0")),
            ("7.12-9f3a12bc", Some("7.12-9f3a12bc")),
            ("7", None),
            ("7.x", None),
            ("-1.2", None),
            ("-1.-1", None),
            ("7.12-", None),
            ("7.12-9f3a12b", None),
            ("7.12-9f3a12bc-1", None),
            ("", None),
        ] {
            let parsed = text.parse::<EventId>().ok();
            let parsed = parsed.map(|id| id.to_string());
            assert_eq!(parsed.as_deref(), written, "{text}");
        }
    }

    #[test]
    fn another_run_or_another_time_is_a_gap() {
        let mut ring = EventRing::of_size(7, 3);
        for number in 1..=5 {
            ring.push(event(number.to_string()));
        }
        let id = |epoch, number| EventId {
            epoch,
            number,
            rights: None,
        };
        let place = |epoch, number| Some(id(epoch, number));
        let forgotten = |epoch, number| Resumption::Forgotten(id(epoch, number));
        for (last, expect) in [
            (None, Resumption::Anew),
            (place(7, 5), Resumption::After(5)),
            (place(7, 2), Resumption::After(2)),
            (place(7, 1), forgotten(7, 1)),
            (place(7, 6), forgotten(7, 6)),
            (place(6, 4), forgotten(6, 4)),
        ] {
            assert_eq!(ring.resume(last), expect, "{last:?}");
        }
    }

    #[test]
    fn readers_who_see_the_same_share_the_bytes() {
        let row = Arc::new(failed_pod("web", "it fails"));
        let event = RingEvent::of_object(&row, None);
        let only_pods = || {
            let mut granted = GrantedRights::default();
            granted.grant(ReadRight::List(SourcePlace {
                resource: pods(),
                namespace: None,
            }));
            ReaderRights::Only(Arc::new(granted))
        };
        let bytes = |rights, judgement| {
            let news = event.for_reader(&rights, judgement).expect("news");
            news.data.as_ptr()
        };
        let whole = bytes(ReaderRights::Everything, Judgement::Whole);
        assert_eq!(bytes(only_pods(), Judgement::Whole), whole);
        let alone = bytes(only_pods(), Judgement::Alone);
        assert_eq!(bytes(only_pods(), Judgement::Alone), alone);
        let nothing = ReaderRights::Only(Arc::default());
        assert!(event.for_reader(&nothing, Judgement::Alone).is_none());
    }

    #[test]
    fn large_events_make_room_too() {
        let mut ring = EventRing::new(1);
        for _ in 0..20 {
            ring.push(event("x".repeat(1024 * 1024)));
        }
        assert!(ring.bytes <= MAX_BYTES && ring.events.len() == 8);
        assert!(ring.after(11, 1).is_none() && ring.after(12, 1).is_some());
    }

    proptest! {
        /// A reader gets every event once, in order, or learns that some are gone.
        #[test]
        fn no_event_is_lost_in_silence(
            size in 1usize..8,
            steps in prop::collection::vec((0u8..4, 1usize..4), 1..60),
        ) {
            let mut ring = EventRing::of_size(1, size);
            let (mut pushed, mut position) = (0u64, 0u64);
            for (pushes, most) in steps {
                for _ in 0..pushes {
                    pushed += 1;
                    ring.push(event(pushed.to_string()));
                }
                if let Some(events) = ring.after(position, most) {
                    for numbered in events {
                        prop_assert_eq!(numbered.number, position + 1);
                        prop_assert_eq!(data(&numbered.event), numbered.number.to_string());
                        position = numbered.number;
                    }
                } else {
                    prop_assert!(pushed - position > size as u64);
                    position = ring.newest().number;
                }
                prop_assert!(ring.events.len() <= size);
            }
        }
    }

    #[test]
    fn a_frame_is_a_block_of_lines() {
        let id = Some(EventId {
            epoch: 7,
            number: 12,
            rights: None,
        });
        let mut stream = String::new();
        for (id, name, data) in [(id, "status", "{}"), (None, "view", "[1]"), (id, "", "")] {
            let data = data.into();
            Frame { id, name, data }.write_to(&mut stream);
        }
        assert_snapshot!(stream, @r"
        event: status
        data: {}
        id: 7.12

        event: view
        data: [1]

        id: 7.12

        ");
    }
}
