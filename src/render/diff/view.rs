//! How changes are shown: which of them, in which order, and how many.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;

use crate::diff::{Change, Diff, Filter, LAST_APPLIED, Noise, Op, Redactor, NodeId};
use crate::render::style::Look;

/// How changes are shown.
#[derive(Clone, Copy)]
pub struct DiffView<'v> {
    /// Colours, symbols and width. Without a width nothing is cut or folded.
    pub look: Look,
    /// Hides the values of Secrets.
    pub redactor: &'v Redactor,
    /// Which parts of the object are selected.
    pub filter: &'v Filter,
    /// Which classes of noise are shown.
    pub noise: &'v BTreeSet<Noise>,
    /// The zone of times of day.
    pub zone: &'v TimeZone,
    /// Whether long output is collapsed.
    pub fold: Fold,
}

/// Whether output that is too long for a screen is collapsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// On a terminal many changes, and many lines of a text, are counted. Of a very long value only the part
    /// around the change is shown.
    #[default]
    Many,
    /// Everything is shown.
    Never,
}

/// Above this many lines, changes are counted by the part of the object that they are in.
const MANY: usize = 200;

impl DiffView<'_> {
    /// Whether so many lines of one version are too many for a screen.
    pub(super) fn folds(&self, lines: usize) -> bool {
        lines > MANY && self.look.width.is_some() && self.fold == Fold::Many
    }

    /// Whether a change is shown.
    pub(super) fn shows(&self, diff: &Diff<'_>, change: &Change) -> bool {
        change.noise.is_none_or(|noise| self.noise.contains(&noise))
            && self.filter.keeps(diff, change)
    }
}

/// How many changes a version has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that are shown.
    pub shown: usize,
    /// Those that are selected but hidden, by class of noise.
    pub noise: BTreeMap<Noise, usize>,
    /// Those that are filtered out.
    pub filtered: usize,
}

impl Counts {
    /// How many are hidden as noise.
    pub fn hidden(&self) -> usize {
        self.noise.values().sum()
    }

    /// The same where all of them are filtered out.
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

/// Above this many moves, a list is said to be in another order.
pub(super) const MOVES: usize = 3;

/// The changes that are shown: those of the metadata first, then the spec, the data, the status and the
/// rest; of each, what stands at the top of it first.
pub(super) fn shown<'d>(diff: &'d Diff<'_>, view: &DiffView<'_>) -> Vec<&'d Change> {
    let changes = diff.changes().iter();
    let mut shown: Vec<&Change> = changes.filter(|change| view.shows(diff, change)).collect();
    shown.sort_by_cached_key(|change| rank(diff, change.at));
    shown
}

/// The place of a change among the others: its section, and whether it is at the top of it.
pub(super) fn rank(diff: &Diff<'_>, at: NodeId) -> (usize, bool) {
    let (depth, top) = diff
        .chain(at)
        .fold((0, at), |(depth, _), above| (depth + 1, above));
    let top = diff.field(top);
    let section = match top {
        Some("metadata") => 0,
        Some("spec") => 1,
        Some("data" | "stringData" | "binaryData") => 2,
        Some("status") => 3,
        Some(_) | None => 4,
    };
    // The applied configuration mostly repeats the changes above it.
    if diff.field(at) == Some(LAST_APPLIED) {
        return (5, true);
    }
    (section, depth > 2)
}

/// Whether a change is of the place of an item alone.
pub(super) fn is_move(change: &Change) -> bool {
    matches!(change.op, Op::Move { .. })
}
