//! Counts the changes that were printed, for `--count` and `--exit-code`.

use crate::commands::changes::compared::Compared;
use crate::render::diff::ChangeType;

/// How many changes were printed, and whether one of them was of interest.
#[derive(Debug, Default)]
pub(crate) struct CountLimit {
    /// How many may be printed; any number if there is no limit.
    limit: Option<u64>,
    count: u64,
    /// Whether anything changed that is neither noise nor filtered out.
    pub(crate) is_changed: bool,
}

impl CountLimit {
    pub(crate) fn up_to(limit: Option<u64>) -> CountLimit {
        CountLimit {
            limit,
            ..CountLimit::default()
        }
    }

    /// Whether the limit is reached.
    pub(crate) fn is_reached(&self) -> bool {
        self.limit.is_some_and(|limit| self.count >= limit)
    }

    /// Counts a version that was printed; `None` if it could not be read.
    pub(crate) fn note(&mut self, change: ChangeType, compared: Option<&Compared<'_>>) {
        if change != ChangeType::Baseline {
            self.count += 1;
            self.is_changed = self.is_changed || compared.is_none_or(Compared::is_shown);
        }
    }
}
