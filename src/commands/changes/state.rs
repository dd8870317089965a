//! What `changes` keeps between two events, and what an event means to a reader who follows the object.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::Note;
use crate::commands::sources::named;
use crate::object::{ObjectRef, Uid};
use crate::render::diff::ChangeType;
use crate::source::{Event, Gap, SourceKey, Version, Why};

/// An entry of the timeline: what happened, when, and which source saw it.
#[derive(Clone, Debug)]
pub(super) struct TimelineEntry {
    /// When the program saw it, by this machine's clock.
    pub(super) seen: Timestamp,
    /// The source that saw it.
    pub(super) key: Arc<SourceKey>,
    pub(super) what: Occurrence,
    pub(super) when: When,
}

/// When an entry happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// As it was seen.
    Live,
    /// While the source was disconnected. It was read back later, and the version itself says when.
    ReadBack,
    /// Before the start.
    Past(PastTime),
}

/// When something happened that nobody saw, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PastTime {
    /// The time, or the earliest time it can have been.
    pub(super) time: Timestamp,
    /// The latest time, where only an interval is known.
    pub(super) until: Option<Timestamp>,
}

/// What one event means.
#[derive(Clone, Debug)]
pub(super) enum Occurrence {
    /// Something happened to an object.
    Version(VersionEvent),
    /// A full listing has arrived, of a wide scope or without the one named object.
    Synced {
        /// How many objects it has.
        count: usize,
    },
    /// Versions are missing.
    Gap(Gap),
    /// A line could not be read.
    Undecodable { detail: Arc<str> },
    /// The state of the source has changed.
    State(Note),
}

/// What happened to one object.
#[derive(Clone, Debug)]
pub(super) struct VersionEvent {
    pub(super) change: ChangeType,
    /// The version to compare with, where it is known.
    pub(super) old: Option<Arc<Version>>,
    /// The version; of a deletion the last state.
    pub(super) now: Arc<Version>,
    /// Whether it happened while the source was disconnected, so that versions may be missing before it.
    pub(super) was_unseen: bool,
    /// When the object changed last, where both changes were seen.
    pub(super) since: Option<Timestamp>,
}

impl TimelineEntry {
    /// The time by which the look-back orders it.
    pub(super) fn time(&self) -> Timestamp {
        match self.when {
            When::Past(past) => past.time,
            When::Live | When::ReadBack => self.seen,
        }
    }

    /// What happened to an object, if it is about one.
    pub(super) fn version(&self) -> Option<&VersionEvent> {
        match &self.what {
            Occurrence::Version(event) => Some(event),
            Occurrence::Synced { .. }
            | Occurrence::Gap(_)
            | Occurrence::Undecodable { .. }
            | Occurrence::State(_) => None,
        }
    }

    /// Whether it is an object that existed at the start.
    pub(super) fn is_baseline(&self) -> bool {
        self.version()
            .is_some_and(|event| event.change == ChangeType::Baseline)
    }
}

impl VersionEvent {
    /// A version, and the one before it if there is one.
    pub(super) fn new(
        change: ChangeType,
        old: Option<Arc<Version>>,
        now: Arc<Version>,
    ) -> VersionEvent {
        VersionEvent {
            change,
            old,
            now,
            was_unseen: false,
            since: None,
        }
    }

    /// Whether the object is gone, or left the selector.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.change, ChangeType::Deleted | ChangeType::Left)
    }
}

/// How many deleted names are remembered, to tell a re-creation from a creation.
const DELETED_NAMES: usize = 1024;

/// What is kept between events: when each object last changed, and the names that were deleted.
#[derive(Debug, Default)]
pub(super) struct ChangesState {
    changed: HashMap<Uid, Timestamp>,
    deleted: VecDeque<ObjectRef>,
    synced: Vec<Arc<SourceKey>>,
    /// How many objects exist now.
    pub(super) objects: usize,
    /// How many versions arrived after the first listing.
    pub(super) versions: u64,
    /// How many of them changed nothing that is shown.
    pub(super) hidden: u64,
    /// When the last of them arrived.
    pub(super) last: Option<Timestamp>,
}

impl ChangesState {
    /// Takes one event; `None` for what a reader need not know.
    pub(super) fn apply(
        &mut self,
        key: &Arc<SourceKey>,
        event: Event,
        at: Timestamp,
    ) -> Option<TimelineEntry> {
        let is_named = named(key).is_some();
        let mut when = When::Live;
        let (seen, what) = match event {
            Event::Object {
                why: Why::Listed,
                seen,
                now,
                ..
            } if !self.synced.contains(key) => {
                self.objects += 1;
                let baseline = VersionEvent::new(ChangeType::Baseline, None, now);
                (seen, is_named.then_some(Occurrence::Version(baseline))?)
            }
            Event::Object {
                why,
                seen,
                now,
                prev,
                past,
                ..
            } => {
                let mut event = self.version(why, now, prev);
                let since = self.touch(&event, seen);
                if past {
                    when = When::ReadBack;
                } else if event.change == ChangeType::Modified {
                    event.since = since;
                }
                (seen, Occurrence::Version(event))
            }
            Event::Synced { count, .. } => {
                let first = !self.synced.contains(key);
                if first {
                    self.synced.push(key.clone());
                }
                let is_shown = first && (!is_named || count == 0);
                (at, is_shown.then_some(Occurrence::Synced { count })?)
            }
            Event::Gap(gap) => (at, Occurrence::Gap(gap)),
            Event::Undecodable { detail } => (at, Occurrence::Undecodable { detail }),
            Event::State(_) => return None,
        };
        Some(TimelineEntry {
            seen,
            key: key.clone(),
            what,
            when,
        })
    }

    fn version(&mut self, why: Why, now: Arc<Version>, prev: Option<Arc<Version>>) -> VersionEvent {
        let change = match (why, &prev) {
            (Why::Deleted | Why::Vanished, _) => {
                self.objects = self.objects.saturating_sub(1);
                self.remember_deleted(&now.object);
                ChangeType::Deleted
            }
            (Why::LeftSelector, _) => {
                self.objects = self.objects.saturating_sub(1);
                ChangeType::Left
            }
            (Why::Listed | Why::Added | Why::Modified | Why::Skipped, Some(_)) => {
                ChangeType::Modified
            }
            (Why::Listed | Why::Added | Why::Modified | Why::Skipped, None) => {
                self.objects += 1;
                if self.was_deleted(&now.object) {
                    ChangeType::Recreated
                } else {
                    ChangeType::Created
                }
            }
        };
        VersionEvent {
            was_unseen: matches!(why, Why::Vanished | Why::Skipped),
            ..VersionEvent::new(change, prev.filter(|_| change != ChangeType::Left), now)
        }
    }

    /// Counts a version; returns when the object changed before.
    fn touch(&mut self, event: &VersionEvent, seen: Timestamp) -> Option<Timestamp> {
        self.versions += 1;
        self.last = Some(seen);
        let uid = event.now.object.uid.as_ref()?;
        if event.is_end() {
            return self.changed.remove(uid);
        }
        self.changed.insert(uid.clone(), seen)
    }

    pub(super) fn remember_deleted(&mut self, object: &ObjectRef) {
        if self.deleted.len() == DELETED_NAMES {
            self.deleted.pop_front();
        }
        self.deleted.push_back(object.without_uid());
    }

    fn was_deleted(&mut self, object: &ObjectRef) -> bool {
        let name = object.without_uid();
        let at = self.deleted.iter().position(|deleted| *deleted == name);
        at.and_then(|at| self.deleted.remove(at)).is_some()
    }
}
