//! Which objects changed since a table last looked: coalesced, and never more than there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::Notify;

use super::bell::Bell;
use super::event::Why;
use super::store::{Change, identity};
use crate::object::Uid;

/// What one table has not looked at yet.
#[derive(Debug)]
pub(super) struct Table {
    changed: BTreeMap<Uid, Shown>,
    woken: bool,
    pub(super) bell: Bell,
}

/// Whether the table knows of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

impl Table {
    /// A table that has seen nothing: all that is there counts as changed.
    pub(super) fn new(known: impl Iterator<Item = Uid>, signal: Arc<Notify>) -> Table {
        Table {
            changed: known.map(|uid| (uid, Shown::No)).collect(),
            woken: true,
            bell: Bell::new(signal),
        }
    }

    pub(super) fn mark(&mut self, change: &Change) {
        let uid = identity(&change.now.object);
        let shown = match change.prev {
            Some(_) => Shown::Yes,
            None => Shown::No,
        };
        let shown = *self.changed.entry(uid.clone()).or_insert(shown);
        let gone = match change.why {
            Why::Deleted | Why::LeftSelector | Why::Vanished => true,
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => false,
        };
        if gone && shown == Shown::No {
            // It came and went between two looks.
            self.changed.remove(&uid);
        }
        self.wake();
    }

    pub(super) fn wake(&mut self) {
        self.woken = true;
        self.bell.ring();
    }

    /// What changed, if there is a reason to look.
    pub(super) fn take(&mut self) -> Option<BTreeSet<Uid>> {
        std::mem::take(&mut self.woken)
            .then(|| std::mem::take(&mut self.changed).into_keys().collect())
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.changed.len()
    }
}
