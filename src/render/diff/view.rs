//! How changes are shown.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;

use crate::diff::{Change, Diff, Filter, Noise, Redactor};
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
