//! `ShownChanges`: the changes of a version that a view shows, and who made them.

use super::lines::{counted, lines};
use super::painter::Painter;
use super::view::{DiffView, shown};
use super::who::Attribution;
use crate::diff::{Change, Diff, VersionWriter, former_owner};
use crate::object::managed_fields::{By, Writers};
use crate::render::text::Text;

/// The changes of a version that a view shows, and their managers. Both the heading and the lines of the
/// version use it.
pub struct ShownChanges<'s> {
    pub(super) painter: Painter<'s>,
    pub(super) changes: Vec<&'s Change>,
}

impl<'s> ShownChanges<'s> {
    /// Selects the changes of a version.
    pub fn of(
        diff: &'s Diff<'s>,
        writers: &'s Writers<'s>,
        view: &'s DiffView<'s>,
    ) -> ShownChanges<'s> {
        let changes = shown(diff, view);
        let painter = Painter {
            diff,
            writers: Some(writers),
            view,
            above: Attribution::of(diff, writers, &changes),
        };
        ShownChanges { painter, changes }
    }

    /// Selects the changes between two versions whose managers are not named.
    pub fn unattributed(diff: &'s Diff<'s>, view: &'s DiffView<'s>) -> ShownChanges<'s> {
        ShownChanges {
            painter: Painter::unattributed(diff, view),
            changes: shown(diff, view),
        }
    }

    /// Names the managers that wrote the version. If no writer is known, names the owner of all shown changes. `None` if
    /// several managers own them.
    pub fn who(&self) -> Option<VersionWriter> {
        self.painter.above.heading(self.painter.writers?)
    }

    /// Names the manager that owned all removed fields, if nothing else is known of the writer.
    pub fn former_owner(&self) -> Option<VersionWriter> {
        former_owner(self.painter.diff, self.painter.writers?, &self.changes)
    }

    /// Whether a line names a manager that only probably made its change.
    pub fn has_guess(&self) -> bool {
        let Some(writers) = self.painter.writers else {
            return false;
        };
        let mut changes = self.changes.iter();
        changes.any(|change| matches!(self.painter.diff.by(writers, change), Some(By::Owner(_))))
    }

    /// One line for each change, or the number of changes in each part of the object if there are too many.
    pub fn lines(&self) -> Vec<Text> {
        self.folded(lines(&self.painter, &self.changes))
    }

    /// Returns these lines, or counts if there are too many for a screen.
    pub(super) fn folded(&self, lines: Vec<Text>) -> Vec<Text> {
        if self.painter.view.folds(lines.len()) {
            return counted(&self.painter, &self.changes, lines.len());
        }
        lines
    }
}
