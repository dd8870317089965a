//! What a subscriber misses while its queue is full. It holds one version per object.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::store::{ObjectStore, StoreChange};
use crate::object::{ResourceVersion, Uid};
use crate::source::{Event, Gap, GapCause, Version, Why};

/// The events that a subscriber missed, reduced to one version per object.
#[derive(Debug, Default)]
pub(super) struct Missed {
    /// The subscriber has every event up to this version.
    after: Option<ResourceVersion>,
    /// Whether the server's history was restored meanwhile.
    is_restored: bool,
    /// How many object events were dropped.
    dropped: u64,
    /// For each object with a dropped event, the version that the subscriber has.
    pub(super) objects: BTreeMap<Uid, Option<Arc<Version>>>,
    /// The last full listing and the last state that the subscriber did not get.
    epoch: Option<u32>,
    state: Option<Event>,
}

impl Missed {
    /// Records an event that the queue does not keep. `before` is the source's version before that event.
    pub(super) fn miss(&mut self, event: &Event, before: Option<&ResourceVersion>) {
        match event {
            Event::Object { why, now, prev, .. } => {
                self.dropped += 1;
                self.object(*why, now, prev.as_ref());
            }
            Event::Synced { epoch, .. } => {
                self.epoch = Some(*epoch);
                return;
            }
            Event::State(_) => {
                self.state = Some(event.clone());
                return;
            }
            Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        let before = match event {
            Event::Gap(gap) => {
                self.is_restored |= gap.cause == GapCause::Restored;
                Some(&gap.after)
            }
            _ => before,
        };
        self.after
            .get_or_insert_with(|| before.cloned().unwrap_or_else(|| ResourceVersion::new("")));
    }

    fn object(&mut self, why: Why, now: &Version, prev: Option<&Arc<Version>>) {
        let uid = now.object.identity();
        let has = self
            .objects
            .entry(uid.clone())
            .or_insert_with(|| prev.cloned());
        if why.is_gone() && has.is_none() {
            // The object was created and deleted in between: the subscriber never saw it.
            self.objects.remove(&uid);
        }
    }

    /// Adds an object of an unfinished backfill. The subscriber has `then`; the source had `now` when the
    /// backfill began.
    pub(super) fn resume(&mut self, then: Option<&Arc<Version>>, now: Option<&Arc<Version>>) {
        if let Some(now) = now {
            self.objects.entry(now.object.identity()).or_insert(None);
        }
        if let Some(then) = then {
            let uid = then.object.identity();
            self.objects.insert(uid, Some(then.clone()));
        }
    }

    /// Adds the events that the subscriber missed after these.
    pub(super) fn join(&mut self, later: Missed) {
        self.is_restored |= later.is_restored;
        self.dropped += later.dropped;
        self.epoch = later.epoch.or(self.epoch);
        self.state = later.state.or_else(|| self.state.take());
        for (uid, has) in later.objects {
            self.objects.entry(uid).or_insert(has);
        }
    }

    /// Starts for a subscriber that has every event up to this version.
    pub(super) fn after(base: ResourceVersion) -> Missed {
        Missed {
            after: Some(base),
            ..Missed::default()
        }
    }

    /// The difference between what the subscriber has and what the store holds.
    pub(super) fn changes(
        self,
        store: &ObjectStore,
        upto: Option<&ResourceVersion>,
        clock: Timestamp,
    ) -> MissedChanges {
        let gap = self.after.map(|after| Gap {
            upto: upto.cloned().unwrap_or_else(|| after.clone()),
            after,
            cause: if self.is_restored {
                GapCause::Restored
            } else {
                let dropped = self.dropped;
                GapCause::SlowSubscriber { dropped }
            },
        });
        let (mut gone, mut there) = (Vec::new(), Vec::new());
        for (uid, prev) in self.objects {
            match (prev, store.get(&uid)) {
                (None, None) => {}
                (Some(has), None) => gone.push((StoreChange::vanished(has), clock)),
                (Some(prev), Some(entry)) if prev.is_same(&entry.version) => {}
                (prev, Some(entry)) => {
                    let why = prev.as_ref().map_or(Why::Listed, |_| Why::Skipped);
                    let now = entry.version.clone();
                    there.push((StoreChange { why, now, prev }, entry.seen));
                }
            }
        }
        gone.append(&mut there);
        let synced = self.epoch.map(|epoch| Event::Synced {
            epoch,
            count: store.len(),
            version: upto.cloned().unwrap_or_else(|| ResourceVersion::new("")),
        });
        MissedChanges {
            gap,
            changes: gone,
            after: synced.into_iter().chain(self.state).collect(),
        }
    }
}

/// What a subscriber missed, ready to send.
#[derive(Debug)]
pub(super) struct MissedChanges {
    pub(super) gap: Option<Gap>,
    /// The changes, and the time of each. Vanished objects come first.
    pub(super) changes: Vec<(StoreChange, Timestamp)>,
    /// The events to send after the changes.
    pub(super) after: Vec<Event>,
}

impl MissedChanges {
    /// The events to send: the gap, then the changes.
    pub(super) fn into_events(self) -> VecDeque<Event> {
        let gap = self.gap.map(Event::Gap);
        let changes = self.changes.into_iter();
        let changes = changes.map(|(change, seen)| change.event(seen));
        gap.into_iter().chain(changes).chain(self.after).collect()
    }
}
