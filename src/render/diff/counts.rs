//! How many changes of a version are shown, and how many are hidden.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::{Diff, Filter, Noise};

/// How many changes a version has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that are shown.
    pub shown: usize,
    /// Those that are asked for but hidden, by the sort of noise.
    pub noise: BTreeMap<Noise, usize>,
    /// Those that are not asked for.
    pub filtered: usize,
}

impl Counts {
    /// How many are hidden as noise.
    pub fn hidden(&self) -> usize {
        self.noise.values().sum()
    }

    /// The same where none of them is asked for.
    #[must_use]
    pub fn all_filtered(&self) -> Counts {
        Counts {
            filtered: self.shown + self.hidden() + self.filtered,
            ..Counts::default()
        }
    }

    /// Those that are shown, without the others.
    pub(super) fn of_shown(&self) -> Counts {
        Counts {
            shown: self.shown,
            ..Counts::default()
        }
    }
}

/// Counts the changes of a version.
pub fn counts(diff: &Diff<'_>, filter: &Filter, shown: &BTreeSet<Noise>) -> Counts {
    let mut counts = Counts::default();
    for change in diff.changes() {
        match change.noise {
            _ if !filter.keeps(diff, change) => counts.filtered += 1,
            Some(noise) if !shown.contains(&noise) => *counts.noise.entry(noise).or_default() += 1,
            Some(_) | None => counts.shown += 1,
        }
    }
    counts
}
