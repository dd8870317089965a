//! What a subscriber whose queue was full will have missed: one version per object.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::event::{Event, Gap, GapCause, Version, Why};
use super::store::{Change, Store, identity};
use crate::object::{ResourceVersion, Uid};

/// What a subscriber misses.
#[derive(Debug, Default)]
pub(super) struct Lag {
    /// The version up to which the subscriber has all.
    after: Option<ResourceVersion>,
    /// How many object events were not kept.
    dropped: u64,
    /// Of each object with a missed event: the version that the subscriber has.
    pub(super) missed: BTreeMap<Uid, Option<Arc<Version>>>,
    /// The last full listing and the last state that were not told.
    epoch: Option<u32>,
    state: Option<Event>,
}

impl Lag {
    /// Notes an event that is not kept. `before` is the source's version before it.
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
            Event::Gap(gap) => Some(&gap.after),
            _ => before,
        };
        self.after
            .get_or_insert_with(|| before.cloned().unwrap_or_else(|| ResourceVersion::new("")));
    }

    fn object(&mut self, why: Why, now: &Version, prev: Option<&Arc<Version>>) {
        let uid = identity(&now.object);
        let has = self
            .missed
            .entry(uid.clone())
            .or_insert_with(|| prev.cloned());
        let gone = match why {
            Why::Deleted | Why::LeftSelector | Why::Vanished => true,
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => false,
        };
        if gone && has.is_none() {
            // It came and went: there is nothing to tell, and nothing to keep.
            self.missed.remove(&uid);
        }
    }

    /// What was missed, up to what the store holds.
    pub(super) fn tell(
        self,
        store: &Store,
        upto: Option<&ResourceVersion>,
        (seq, clock): (u64, Timestamp),
    ) -> VecDeque<Event> {
        let mut events = VecDeque::new();
        if let Some(after) = self.after {
            let upto = upto.cloned().unwrap_or_else(|| after.clone());
            let dropped = self.dropped;
            let cause = GapCause::SlowSubscriber { dropped };
            events.push_back(Event::Gap(Gap { after, upto, cause }));
        }
        let (gone, there): (Vec<_>, Vec<_>) = self
            .missed
            .into_iter()
            .map(|(uid, has)| (has, store.get(&uid)))
            .partition(|(_, now)| now.is_none());
        for has in gone.into_iter().filter_map(|(has, _)| has) {
            let change = Change {
                why: Why::Vanished,
                now: has.clone(),
                prev: Some(has),
            };
            events.push_back(change.event(seq, clock));
        }
        for (prev, entry) in there {
            let Some(entry) = entry else { continue };
            if prev
                .as_ref()
                .is_some_and(|prev| Arc::ptr_eq(prev, &entry.version))
            {
                continue;
            }
            let why = if prev.is_some() {
                Why::Skipped
            } else {
                Why::Listed
            };
            let now = entry.version.clone();
            events.push_back(Change { why, now, prev }.event(seq, entry.seen));
        }
        events.extend(self.epoch.map(|epoch| Event::Synced {
            epoch,
            count: store.len(),
            version: upto.cloned().unwrap_or_else(|| ResourceVersion::new("")),
        }));
        events.extend(self.state);
        events
    }
}
