//! `-o paths`: one line for each change, with its path.

use super::VersionView;
use super::text::TextFormat;
use crate::commands::changes::output::Creation;
use crate::diff::Diff;
use crate::render::diff::{ShownChanges, created_lines};
use crate::render::style::Role;
use crate::render::text::Text;

/// `-o paths`.
pub(super) struct Paths;

impl TextFormat for Paths {
    fn changes(
        &self,
        _view: &VersionView<'_>,
        shown: &ShownChanges<'_>,
        _diff: &Diff<'_>,
    ) -> Vec<Text> {
        shown.lines()
    }

    fn object(&self, view: &VersionView<'_>) -> Vec<Text> {
        if !view.compared.change().is_creation() {
            return Vec::new();
        }
        let now = view.compared.read.now();
        match view.options.creation {
            Creation::RunSummary => {
                let object = view.options.redactor.shown(now.doc.root());
                created_lines(object, &view.diff_view())
            }
            Creation::Whole => {
                let lines = view.yaml(now).into_iter();
                lines
                    .map(|line| (Text::from("+ ") + line).in_role(Role::Added))
                    .collect()
            }
        }
    }

    fn two_lives(&self, shown: &ShownChanges<'_>) -> Vec<Text> {
        shown.lines()
    }
}
