//! `ChangesState`: what `changes` remembers between events. It turns each event into a timeline entry.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::commands::Note;
use crate::commands::live::sources::named;
use crate::object::managed_fields::Writers;
use crate::object::{ObjectRef, Uid};
use crate::render::diff::ChangeType;
use crate::source::{Event, Gap, SourceKey, Version, Why};

/// An entry of the timeline: what happened, when, and in which source.
#[derive(Clone, Debug)]
pub(crate) struct TimelineEntry {
    /// The time of arrival, by this machine's clock.
    pub(crate) seen: Timestamp,
    /// The source of the event.
    pub(crate) key: Arc<SourceKey>,
    pub(crate) what: Occurrence,
    pub(crate) when: When,
}

/// When an entry happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// When it arrived.
    Live,
    /// While the source was disconnected. The version was read back later; its write time is in the object.
    ReadBack,
    /// Before the start.
    Past(PastTime),
}

/// The time of a version that was read back, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PastTime {
    /// The exact or the earliest possible time.
    pub(crate) time: Timestamp,
    /// The latest possible time, if only an interval is known.
    pub(crate) until: Option<Timestamp>,
}

/// The meaning of one event.
#[derive(Clone, Debug)]
pub(crate) enum Occurrence {
    /// A version of an object.
    Version(VersionEvent),
    /// A full listing arrived: of a wide scope, or of a named object that does not exist.
    Synced {
        /// The number of objects in it.
        count: usize,
    },
    /// Versions are missing.
    Gap(Gap),
    /// A line could not be read.
    Undecodable { detail: Arc<str> },
    /// The state of the source has changed.
    State(Note),
}

/// A version of one object.
#[derive(Clone, Debug)]
pub(crate) struct VersionEvent {
    pub(crate) change: ChangeType,
    /// The previous version, if known.
    pub(crate) old: Option<Arc<Version>>,
    /// Of a re-created object: the last version of the deleted object that had its name.
    pub(crate) former: Option<Arc<Version>>,
    /// The version; for a deletion the last state.
    pub(crate) now: Arc<Version>,
    /// Whether versions may be missing before it, because the source was disconnected.
    pub(crate) was_unseen: bool,
    /// The arrival of the object's previous change, if both changes arrived live.
    pub(crate) since: Option<Timestamp>,
}

impl TimelineEntry {
    /// The time that orders the timeline.
    pub(crate) fn time(&self) -> Timestamp {
        match self.when {
            When::Past(past) => past.time,
            When::Live | When::ReadBack => self.seen,
        }
    }

    /// The latest time at which it can have happened.
    pub(crate) fn latest(&self) -> Timestamp {
        match self.when {
            When::Past(past) => past.until.unwrap_or(past.time),
            When::Live | When::ReadBack => self.seen,
        }
    }

    /// The version, if the entry has one.
    pub(crate) fn version(&self) -> Option<&VersionEvent> {
        match &self.what {
            Occurrence::Version(event) => Some(event),
            Occurrence::Synced { .. }
            | Occurrence::Gap(_)
            | Occurrence::Undecodable { .. }
            | Occurrence::State(_) => None,
        }
    }

    /// Whether the entry is the number of objects in a full listing.
    pub(crate) fn is_listing(&self) -> bool {
        matches!(self.what, Occurrence::Synced { .. })
    }

    /// Whether the entry is a version that came after the start.
    pub(crate) fn is_live_version(&self) -> bool {
        let version = self.version().is_some() && !self.is_baseline();
        version && self.when == When::Live
    }

    /// Tells a creation in a source with a selector from an older object, which may only have started to match. `server` is
    /// the server's time, if known.
    pub(crate) fn tell_joined(&mut self, server: Option<Timestamp>) {
        self.rename_creation(server, |is_newborn| is_newborn != Some(true));
    }

    /// Tells a creation in a file from an object that is clearly older. The recorded watch may have had a selector, or it sent
    /// the objects of its start late. `arrival` is the time of arrival, if that is known.
    pub(crate) fn tell_older(&mut self, arrival: Option<Timestamp>) {
        let change = self.version().map(|event| event.change);
        // An object that replaced another one is not older than the recording.
        if change == Some(ChangeType::Created) {
            self.rename_creation(arrival, |is_newborn| is_newborn == Some(false));
        }
    }

    fn rename_creation(&mut self, at: Option<Timestamp>, is_older: fn(Option<bool>) -> bool) {
        let at = at.filter(|_| self.when == When::Live);
        if let Occurrence::Version(event) = &mut self.what
            && event.change.is_creation()
            && is_older(is_newborn(&event.now, at))
        {
            event.change = ChangeType::Joined;
        }
    }

    /// Whether the entry is an object that existed at the start.
    pub(crate) fn is_baseline(&self) -> bool {
        self.version()
            .is_some_and(|event| event.change == ChangeType::Baseline)
    }
}

impl VersionEvent {
    /// A version and the previous one, if any.
    pub(crate) fn new(
        change: ChangeType,
        old: Option<Arc<Version>>,
        now: Arc<Version>,
    ) -> VersionEvent {
        VersionEvent {
            change,
            old,
            former: None,
            now,
            was_unseen: false,
            since: None,
        }
    }

    /// The meaning of a version that arrived for this reason. `deleted` finds the last version of a deleted object of this
    /// name.
    pub(crate) fn arrived(
        why: Why,
        prev: Option<Arc<Version>>,
        now: Arc<Version>,
        deleted: impl FnOnce(&ObjectRef) -> Option<Arc<Version>>,
    ) -> VersionEvent {
        let (change, former) = match (why, &prev) {
            (Why::Deleted | Why::Vanished, _) => (ChangeType::Deleted, None),
            (Why::LeftSelector, _) => (ChangeType::Left, None),
            (Why::Listed | Why::Added | Why::Modified | Why::Skipped, Some(_)) => {
                (ChangeType::Modified, None)
            }
            (Why::Listed | Why::Added | Why::Modified | Why::Skipped, None) => {
                match deleted(&now.object) {
                    Some(former) => (ChangeType::Recreated, Some(former)),
                    None => (ChangeType::Created, None),
                }
            }
        };
        let old = prev.filter(|_| change != ChangeType::Left);
        VersionEvent {
            former,
            ..VersionEvent::new(change, old, now)
        }
    }

    /// Whether it is compared with an older version.
    pub(crate) fn is_compared(&self) -> bool {
        self.old.is_some() || self.former.is_some()
    }

    /// Whether the object was deleted or left the selector.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self.change, ChangeType::Deleted | ChangeType::Left)
    }
}

/// How many deleted objects it remembers. They distinguish a re-creation from a creation.
const DELETED: usize = 1024;

/// The memory between events: when each object last changed, and the last versions of deleted objects.
#[derive(Debug, Default)]
pub(crate) struct ChangesState {
    changed: HashMap<Uid, Timestamp>,
    deleted: VecDeque<Arc<Version>>,
    synced: Vec<Arc<SourceKey>>,
    /// The number of objects that exist now.
    pub(crate) objects: usize,
    /// The number of versions since the first listing.
    pub(crate) versions: usize,
    /// The number of these versions without a shown change.
    pub(crate) hidden: usize,
    /// The arrival of the last of these versions.
    pub(crate) last: Option<Timestamp>,
}

impl ChangesState {
    /// Takes one event. `None` if there is nothing to print.
    pub(crate) fn apply(
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
        let event = VersionEvent::arrived(why, prev, now, |object| {
            let name = object.without_uid();
            let mut deleted = self.deleted.iter();
            let at = deleted.position(|deleted| deleted.object.without_uid() == name)?;
            self.deleted.remove(at)
        });
        match event.change {
            ChangeType::Created | ChangeType::Recreated => self.objects += 1,
            ChangeType::Deleted | ChangeType::Left => {
                self.objects = self.objects.saturating_sub(1);
            }
            ChangeType::Baseline | ChangeType::Modified | ChangeType::Joined => {}
        }
        if event.change == ChangeType::Deleted {
            self.remember_deleted(&event.now);
        }
        VersionEvent {
            was_unseen: matches!(why, Why::Vanished | Why::Skipped),
            ..event
        }
    }

    /// Counts a version. Returns the time of the object's previous change.
    fn touch(&mut self, event: &VersionEvent, seen: Timestamp) -> Option<Timestamp> {
        self.versions += 1;
        self.last = Some(seen);
        let uid = event.now.object.uid.as_ref()?;
        if event.is_end() {
            return self.changed.remove(uid);
        }
        self.changed.insert(uid.clone(), seen)
    }

    pub(crate) fn remember_deleted(&mut self, last: &Version) {
        if self.deleted.len() == DELETED {
            self.deleted.pop_front();
        }
        self.deleted.push_back(Arc::new(last.without_tape()));
    }
}

/// How long after its creation an object may arrive as a new one, and how much later the server may record its first write.
const NEWBORN: [SignedDuration; 2] = [SignedDuration::from_secs(30), SignedDuration::from_secs(2)];

/// Whether an object that a source adds was created just now. Otherwise it may have existed, and have started to match a
/// selector: it was written after its creation, or it is older. `None` for an object without the time of its creation.
fn is_newborn(version: &Version, at: Option<Timestamp>) -> Option<bool> {
    let doc = version.doc().ok()?;
    let [arrival, writing] = NEWBORN;
    let created = doc.root().time_at(&["metadata", "creationTimestamp"])?;
    let written = Writers::of(None, Some(doc.root())).newest();
    let is_soon = |time: Option<Timestamp>, most| {
        time.is_none_or(|time| time.duration_since(created) <= most)
    };
    Some(is_soon(written, writing) && is_soon(at, arrival))
}
