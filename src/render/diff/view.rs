//! `DiffView`: which changes a view shows, in which order, and how many.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;

use crate::diff::{Change, Diff, Filter, LAST_APPLIED, NodeId, Noise, Op, Redactor};
use crate::render::style::Look;

/// The options of a view of changes.
#[derive(Clone, Copy)]
pub struct DiffView<'v> {
    /// Colours, symbols and width. Without a width, no value is cut and no change is folded.
    pub look: Look,
    /// Hides Secret values.
    pub redactor: &'v Redactor,
    /// The selected paths.
    pub filter: &'v Filter,
    /// The kinds of noise that are shown.
    pub noise: &'v BTreeSet<Noise>,
    /// The time zone for times of day.
    pub zone: &'v TimeZone,
    /// Whether long output is collapsed.
    pub fold: Fold,
}

/// Whether output that is too long for a screen is collapsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// On a terminal, many changes or many lines of a text are replaced by counts. Of a very long value, only
    /// the part around the change is shown.
    #[default]
    Many,
    /// Everything is shown in full.
    Never,
}

/// The number of lines above which changes are replaced by counts.
const MANY: usize = 200;

impl DiffView<'_> {
    /// Whether this many lines of one version are too many for a screen.
    pub(super) fn folds(&self, lines: usize) -> bool {
        lines > MANY && self.look.width.is_some() && self.fold == Fold::Many
    }

    /// The same view for lines that follow this many columns.
    pub(super) fn narrower(&self, columns: usize) -> Self {
        let width = self.look.width.map(|width| width.saturating_sub(columns));
        let look = Look { width, ..self.look };
        DiffView { look, ..*self }
    }

    /// Whether a change is shown.
    pub(super) fn shows(&self, diff: &Diff<'_>, change: &Change) -> bool {
        is_selected(diff, change, self.filter, self.noise)
    }
}

fn is_selected(diff: &Diff<'_>, change: &Change, filter: &Filter, noise: &BTreeSet<Noise>) -> bool {
    change.noise.is_none_or(|own| noise.contains(&own)) && filter.keeps(diff, change)
}

/// The changes that the filter selects and that are not hidden as noise, in the order of the diff.
pub fn selected<'d>(
    diff: &'d Diff<'_>,
    filter: &Filter,
    noise: &BTreeSet<Noise>,
) -> impl Iterator<Item = &'d Change> {
    let changes = diff.changes().iter();
    changes.filter(move |change| is_selected(diff, change, filter, noise))
}

/// The number of changes in a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// The shown changes.
    pub shown: usize,
    /// The selected changes that are hidden, by kind of noise.
    pub noise: BTreeMap<Noise, usize>,
    /// The changes that the filter excludes.
    pub filtered: usize,
}

impl ChangeCounts {
    /// The number of changes hidden as noise.
    pub fn hidden(&self) -> usize {
        self.noise.values().sum()
    }
}

/// Counts the changes of a version.
pub fn counts(diff: &Diff<'_>, filter: &Filter, shown: &BTreeSet<Noise>) -> ChangeCounts {
    let mut counts = ChangeCounts::default();
    for change in diff.changes() {
        match change.noise {
            _ if !filter.keeps(diff, change) => counts.filtered += 1,
            Some(noise) if !shown.contains(&noise) => *counts.noise.entry(noise).or_default() += 1,
            Some(_) | None => counts.shown += 1,
        }
    }
    counts
}

/// The number of moves above which a list counts as reordered.
pub(super) const MOVES: usize = 3;

/// The shown changes, sorted by section: metadata, spec, data, status, other fields. Within a section,
/// changes of top-level fields come first.
pub(super) fn shown<'d>(diff: &'d Diff<'_>, view: &DiffView<'_>) -> Vec<&'d Change> {
    let mut shown: Vec<&Change> = Vec::with_capacity(diff.changes().len());
    shown.extend(selected(diff, view.filter, view.noise));
    shown.sort_by_cached_key(|change| rank(diff, change.at));
    shown
}

/// The rank of a change: its section, and whether it is below the top level of the section.
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
    // The last applied configuration mostly repeats the changes above it.
    if diff.field(at) == Some(LAST_APPLIED) {
        return (5, true);
    }
    (section, depth > 2)
}

/// Whether a change only moves an item.
pub(super) fn is_move(change: &Change) -> bool {
    matches!(change.op, Op::Move { .. })
}
