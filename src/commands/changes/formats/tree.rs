//! `-o tree` and `-o full`: the object as JSON, with marks before changed lines.

use super::VersionView;
use super::text::TextFormat;
use crate::commands::changes::output::Creation;
use crate::diff::Diff;
use crate::render::diff::{
    ChangeType, Extent, ShownChanges, created_lines, tree_lines, whole_lines,
};
use crate::render::text::Text;

/// `-o tree` has the changed parts, `-o full` the whole object.
pub(super) struct Tree(pub(super) Extent);

impl TextFormat for Tree {
    fn changes(
        &self,
        _view: &VersionView<'_>,
        shown: &ShownChanges<'_>,
        _diff: &Diff<'_>,
    ) -> Vec<Text> {
        tree_lines(shown, self.0)
    }

    fn object(&self, view: &VersionView<'_>) -> Vec<Text> {
        let change = view.compared.change();
        let object = view.compared.read.doc.root();
        let object = view.options.redactor.shown(object);
        let is_new = change.is_creation();
        match (self.0, view.options.creation) {
            (Extent::Whole, _) if is_new || change == ChangeType::Baseline => {
                whole_lines(object, &view.diff_view(), change)
            }
            (Extent::Changed, Creation::Whole) if is_new => {
                whole_lines(object, &view.diff_view(), change)
            }
            (Extent::Changed, Creation::RunSummary) if is_new => {
                created_lines(object, &view.diff_view())
            }
            (Extent::Whole | Extent::Changed, Creation::Whole | Creation::RunSummary) => Vec::new(),
        }
    }

    fn two_lives(&self, shown: &ShownChanges<'_>) -> Vec<Text> {
        match self.0 {
            Extent::Changed => tree_lines(shown, Extent::Changed),
            Extent::Whole => Vec::new(),
        }
    }
}
