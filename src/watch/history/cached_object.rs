//! What is known of one object without reading exact revisions: its events in the watch cache. They may be older
//! than the revisions that the server still has.

use std::collections::BTreeSet;

use super::objects_at::ObjectAt;
use super::past_event::Past;
use super::read::Archive;
use super::replay::{LastEvent, Replay};
use super::revision::{Revision, RevisionSpan};
use super::watch_cache::CachedEvent;
use crate::source::Version;
use crate::watch::envelope::Verb;

/// The known past of one object.
#[derive(Debug, Default)]
pub(super) struct CachedObject {
    /// From this revision on, the watch cache has every event; `None` if it was not read.
    pub(super) reaches: Option<Revision>,
    /// The events, oldest first.
    events: Vec<CachedEvent>,
    /// Revisions at which the object is known to exist.
    present: BTreeSet<Revision>,
}

impl CachedObject {
    /// Creates a value without reading the watch cache.
    pub(super) fn known(present: BTreeSet<Revision>) -> CachedObject {
        CachedObject {
            present,
            ..CachedObject::default()
        }
    }

    /// Reads the events that lead to a state, after `floor` or as far back as the watch cache reaches.
    pub(super) async fn read(archive: Archive, state: ObjectAt, floor: Revision) -> CachedObject {
        let own = |there: &Version| Revision::parse(&there.version);
        let last = match &state.there {
            Some(there) => own(there).map_or(LastEvent::Unknown, LastEvent::At),
            None => LastEvent::Deletion,
        };
        let span = RevisionSpan {
            after: floor,
            upto: state.at,
        };
        let Some(replay) = Replay::read(&archive, span, last).await else {
            return CachedObject::default();
        };
        CachedObject {
            reaches: Some(replay.reaches),
            events: replay.events,
            present: BTreeSet::new(),
        }
    }

    /// Whether the watch cache showed events. A silent cache is no proof: they may still be on their way.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The newest revision before `at` at which the object is known to exist.
    pub(super) fn present(&self, at: Revision) -> Option<Revision> {
        let deleted = self.deletion(at).filter(|deleted| deleted.at == at);
        let before = deleted.map(|_| at.back(1));
        before.or_else(|| self.present.range(..at).next_back().copied())
    }

    /// The newest deletion that is not after `at`: the object was deleted, or stopped matching.
    pub(super) fn deletion(&self, at: Revision) -> Option<&CachedEvent> {
        let mut events = self.upto(at).iter().rev();
        events.find(|event| event.verb == Verb::Deleted)
    }

    /// The findings before a state, and the state before them, if the events lead from one to the other.
    pub(super) fn before(&self, state: &ObjectAt) -> Option<(Vec<Past>, ObjectAt)> {
        let (last, earlier) = self.upto(state.at).split_last()?;
        let earlier = earlier.last().filter(|event| event.verb != Verb::Deleted);
        let there = |event: &CachedEvent| ObjectAt {
            at: event.at,
            there: Some(event.version.clone()),
        };
        let absent = ObjectAt {
            at: last.at.back(1),
            there: None,
        };
        match (&state.there, last.verb) {
            (Some(now), Verb::Modified) if last.is_of(now) => {
                let earlier = earlier?;
                let version = Past::Version(earlier.version.clone());
                Some((vec![version], there(earlier)))
            }
            (Some(now), Verb::Added) if last.is_of(now) => Some((vec![Past::Created], absent)),
            (None, Verb::Deleted) => {
                let earlier = earlier?;
                let version = Past::Version(earlier.version.clone());
                Some((vec![Past::Deleted(last.at), version], there(earlier)))
            }
            (Some(_) | None, _) => None,
        }
    }

    /// The last state of a deleted object whose last version is unknown: the event of its deletion has it.
    pub(super) fn last_state(&self, state: &ObjectAt) -> Option<[Past; 2]> {
        let last = self.upto(state.at).last()?;
        let is_end = state.there.is_none() && last.verb == Verb::Deleted;
        let version = Past::Version(last.version.clone());
        is_end.then_some([Past::Deleted(last.at), version])
    }

    fn upto(&self, at: Revision) -> &[CachedEvent] {
        &self.events[..self.events.partition_point(|event| event.at <= at)]
    }
}

impl CachedEvent {
    /// Whether a version came with this event.
    fn is_of(&self, now: &Version) -> bool {
        self.version.version == now.version && self.version.object.uid == now.object.uid
    }
}
