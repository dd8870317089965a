//! `Unmatched`: the messages about `--by` and `--only` if no version matches them.

use super::seen_managers::SeenManagers;
use super::seen_paths::SeenPaths;
use crate::commands::changes::compared::{Compared, ShownVersions};

/// The flags that no version has matched so far.
pub(crate) struct Unmatched {
    managers: SeenManagers,
    paths: SeenPaths,
}

impl Unmatched {
    pub(super) fn of(shown: &ShownVersions) -> Unmatched {
        Unmatched {
            managers: SeenManagers::default(),
            paths: SeenPaths::of(&shown.filter),
        }
    }

    /// Notes what a version has.
    pub(super) fn see(&mut self, shown: &ShownVersions, compared: &Compared<'_>) {
        self.managers.see(&shown.by, compared);
        self.paths.see(compared);
    }

    /// The messages about the versions so far. Each is returned once.
    pub(crate) fn take_messages(&mut self) -> Vec<String> {
        let managers = self.managers.take_unmatched();
        managers
            .into_iter()
            .chain(self.paths.take_unmatched())
            .collect()
    }
}
