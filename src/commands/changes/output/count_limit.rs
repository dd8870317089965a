//! `CountLimit`: counts the printed versions, for `--count` and `--exit-code`.

use crate::commands::changes::compared::Compared;
use crate::render::diff::ChangeType;

/// The number of printed versions and its limit.
#[derive(Debug, Default)]
pub(crate) struct CountLimit {
    /// The value of `--count`; `None` for no limit.
    limit: Option<u64>,
    count: u64,
    /// Whether a printed version had a change that is neither noise nor filtered out.
    pub(crate) is_changed: bool,
}

impl CountLimit {
    pub(crate) fn up_to(limit: Option<u64>) -> CountLimit {
        CountLimit {
            limit,
            ..CountLimit::default()
        }
    }

    /// Whether the count has reached the limit.
    pub(crate) fn is_reached(&self) -> bool {
        self.limit.is_some_and(|limit| self.count >= limit)
    }

    /// Counts a printed version. `compared` is `None` if the version could not be read.
    pub(crate) fn note(&mut self, change: ChangeType, compared: Option<&Compared<'_>>) {
        if change != ChangeType::Baseline {
            self.count += 1;
            self.is_changed = self.is_changed || compared.is_none_or(Compared::is_shown);
        }
    }
}
