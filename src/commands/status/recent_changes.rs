//! `RecentChanges`: the objects that have changed lately. A short screen shows them before the other healthy ones.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::object::Uid;

/// How long a changed object counts as recent.
pub(super) const RECENT: SignedDuration = SignedDuration::from_secs(10);

/// The objects that have changed lately.
#[derive(Debug, Default)]
pub(super) struct RecentChanges(BTreeSet<(Timestamp, Uid)>);

impl RecentChanges {
    /// The objects, the oldest change first.
    pub(super) fn uids(&self) -> impl Iterator<Item = &Uid> {
        self.0.iter().map(|(_, uid)| uid)
    }

    /// Adds objects that have changed now, and forgets the old ones.
    pub(super) fn add(&mut self, changed: impl Iterator<Item = Uid>, now: Timestamp) {
        self.0.extend(changed.map(|uid| (now, uid)));
        while let Some(oldest) = self.0.pop_first() {
            if now.duration_since(oldest.0) < RECENT {
                self.0.insert(oldest);
                break;
            }
        }
    }
}
