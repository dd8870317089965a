//! The views of a diff. `paths`: a line a change, each with its path, what it was and what it is; and
//! [`tree`], the object's own JSON with marks.
//!
//! Everything here is a pure function to lines of text. Cluster text is escaped where a value or a
//! path becomes text, and what Secrets hold never gets here.

mod conditions;
mod containers;
mod created;
mod embedded;
mod excerpt;
mod fit;
mod folds;
mod header;
mod line;
mod lines;
mod tree;
mod value;
mod who;

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;

use crate::diff::{Change, Diff, Filter, LAST_APPLIED, Noise, Op, Redactor, SegId};
use crate::object::managed_fields::Writers;
use crate::render::style::Look;

pub use created::{created_lines, lifetime};
pub use header::{ChangeType, Header, Quiet, header, quiet_line};
pub use tree::{Extent, Standing, tree_lines, whole_lines};
pub use who::{who, writer};

use lines::Painter;
use who::Above;

/// How changes are shown.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// Colours, symbols and width. Without a width nothing is cut or folded.
    pub look: Look,
    /// What the values are read through.
    pub redactor: &'v Redactor,
    /// Which changes are asked for.
    pub filter: &'v Filter,
    /// Which sorts of noise are shown.
    pub noise: &'v BTreeSet<Noise>,
    /// In which zone times of day are.
    pub zone: &'v TimeZone,
    /// Whether what is too much for a screen is counted.
    pub fold: Fold,
}

/// Whether what is too much for a screen is told in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// On a terminal many changes, and many lines of a text, are counted; of very long values there is
    /// no more than what is around the change.
    #[default]
    Many,
    /// All of it is told.
    Never,
}

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
    fn of_shown(&self) -> Counts {
        Counts {
            shown: self.shown,
            ..Counts::default()
        }
    }
}

/// Above this many lines, changes are counted by what they are in.
const MANY: usize = 200;

/// Above this many moves, a list is said to be in another order.
const MOVES: usize = 3;

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

/// The lines of a version's changes: those of the metadata first, then the spec, the data, the status
/// and the rest; of each, what stands at the top of it first.
pub fn change_lines(diff: &Diff<'_>, writers: &Writers<'_>, view: &View<'_>) -> Vec<String> {
    let shown = shown(diff, view);
    let painter = Painter {
        diff,
        writers: Some(writers),
        view,
        above: Above::of(diff, writers, &shown),
    };
    let lines = folds::lines(&painter, &shown);
    if view.folds(lines.len()) {
        return folds::tally(&painter, &shown, lines.len());
    }
    lines
}

/// The changes that are shown, in the order of their lines.
fn shown<'d>(diff: &'d Diff<'_>, view: &View<'_>) -> Vec<&'d Change> {
    let changes = diff.changes().iter();
    let mut shown: Vec<&Change> = changes
        .filter(|change| is_shown(diff, change, view))
        .collect();
    shown.sort_by_cached_key(|change| rank(diff, change.at));
    shown
}

impl View<'_> {
    /// Whether so many lines of one version are too many for a screen.
    fn folds(&self, lines: usize) -> bool {
        lines > MANY && self.look.width.is_some() && self.fold == Fold::Many
    }
}

fn is_shown(diff: &Diff<'_>, change: &Change, view: &View<'_>) -> bool {
    change.noise.is_none_or(|noise| view.noise.contains(&noise)) && view.filter.keeps(diff, change)
}

/// The place of a change among the others: its section, and whether it is at the top of it.
fn rank(diff: &Diff<'_>, at: SegId) -> (usize, bool) {
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
    // What was applied is mostly what is told above it.
    if diff.field(at) == Some(LAST_APPLIED) {
        return (5, true);
    }
    (section, depth > 2)
}

/// Whether a change is of the place of an item alone.
fn is_move(change: &Change) -> bool {
    matches!(change.op, Op::Move { .. })
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
