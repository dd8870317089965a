//! What was told of changes: `--count` and `--exit-code` go by it.

use super::shown::Shown;
use super::state::{Happened, Step};

/// How many changes were told, and whether one was among them that was asked for.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// How many may be told; any number if there is no limit.
    limit: Option<u64>,
    count: u64,
    /// Whether anything has changed: noise, and what is filtered out, is no change.
    pub(super) is_changed: bool,
}

impl Tally {
    /// Nothing is told yet, and no more than `limit` will be.
    pub(super) fn up_to(limit: Option<u64>) -> Tally {
        Tally {
            limit,
            ..Tally::default()
        }
    }

    /// Whether no more is to be told.
    pub(super) fn is_enough(&self) -> bool {
        self.limit.is_some_and(|limit| self.count >= limit)
    }

    /// Notes that something was told.
    pub(super) fn note(&mut self, happened: &Happened, shown: &Shown) {
        if happened.is_change() {
            self.count += 1;
            self.is_changed = self.is_changed || shown.shows(happened);
        }
    }
}

impl Happened {
    /// Whether an object has come, has another version, or is gone.
    fn is_change(&self) -> bool {
        match self.step {
            Step::Created { .. }
            | Step::Modified { .. }
            | Step::Deleted { .. }
            | Step::Left { .. } => true,
            Step::Baseline(_)
            | Step::Synced { .. }
            | Step::Gap(_)
            | Step::Undecodable { .. }
            | Step::State(_) => false,
        }
    }
}
