//! The formats with a heading for each version: [`TextFormat`] and the lines around what it adds.

use super::version_view::Heading;
use super::{Audience, Format, VersionView};
use crate::commands::changes::output::Rendered;
use crate::commands::versions::{TwoLives, known};
use crate::diff::Diff;
use crate::diff::writer;
use crate::render::diff::{ChangeType, ShownChanges};
use crate::render::text::Text;

/// A format that shows lines below the heading of each version.
pub(super) trait TextFormat {
    /// The changes between two versions.
    fn changes(
        &self,
        view: &VersionView<'_>,
        shown: &ShownChanges<'_>,
        diff: &Diff<'_>,
    ) -> Vec<Text>;

    /// The object itself, if it is new or exists at the start.
    fn object(&self, view: &VersionView<'_>) -> Vec<Text>;

    /// What it shows of a deleted object: its last changes.
    fn deleted(&self, view: &VersionView<'_>) -> Vec<Text> {
        match &view.compared.diff {
            Some(diff) if view.compared.counts.shown > 0 => {
                let options = view.diff_view();
                let shown = ShownChanges::of(diff, &view.compared.writers, &options);
                self.changes(view, &shown, diff)
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// How a re-created object differs from the deleted one.
    fn two_lives(&self, _shown: &ShownChanges<'_>) -> Vec<Text> {
        Vec::new()
    }
}

impl<T: TextFormat> Format for T {
    fn audience(&self) -> Audience {
        Audience::Person
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let compared = view.compared;
        let lines = match (compared.change(), &compared.diff) {
            (ChangeType::Modified, Some(diff)) => return modified(self, view, diff),
            (ChangeType::Modified, None) => {
                let mut notes = view.missing("versions may be missing");
                notes.push("the previous version could not be read".to_owned());
                vec![view.heading(Heading {
                    since: view.since(),
                    notes,
                    ..Heading::default()
                })]
            }
            (ChangeType::Deleted, _) => {
                let lived = view.lived(view.options.redactor.shown(compared.read.doc.root()));
                let missing = view.missing("while disconnected");
                let heading = view.heading(Heading {
                    notes: lived.into_iter().chain(missing).collect(),
                    ..Heading::default()
                });
                [vec![heading], self.deleted(view)].concat()
            }
            (
                ChangeType::Baseline
                | ChangeType::Created
                | ChangeType::Recreated
                | ChangeType::Joined
                | ChangeType::Left,
                _,
            ) => {
                let is_new = compared.change().is_creation();
                let who = is_new.then(|| writer(&compared.writers)).flatten();
                let heading = view.heading(Heading {
                    who: who.map(|who| who.to_string()),
                    ..Heading::default()
                });
                [vec![heading], self.object(view), two_lives(self, view)].concat()
            }
        };
        let options = view.diff_view();
        let shown = (compared.diff.as_ref())
            .map(|diff| ShownChanges::of(diff, &compared.writers, &options));
        Rendered {
            has_guess: shown.is_some_and(|shown| shown.has_guess()),
            ..Rendered::lines(lines)
        }
    }
}

/// A new version: a heading and its changes.
fn modified(format: &impl TextFormat, view: &VersionView<'_>, diff: &Diff<'_>) -> Rendered {
    let (compared, options) = (view.compared, view.diff_view());
    let shown = ShownChanges::of(diff, &compared.writers, &options);
    let heading = view.heading(Heading {
        who: shown.who().map(|who| who.to_string()),
        since: view.since(),
        notes: view.missing("versions may be missing"),
    });
    Rendered {
        shown: compared.counts.shown,
        hidden: compared.counts.hidden(),
        has_guess: shown.has_guess(),
        ..Rendered::lines([vec![heading], format.changes(view, &shown, diff)].concat())
    }
}

/// How a re-created object differs from the deleted one, below a line that names that one.
fn two_lives(format: &impl TextFormat, view: &VersionView<'_>) -> Vec<Text> {
    let Some(lives) = TwoLives::of(view.compared.read) else {
        return Vec::new();
    };
    let options = view.diff_view();
    let changes = format.two_lives(&ShownChanges::unattributed(&lives.diff, &options));
    if changes.is_empty() {
        return changes;
    }
    let version = known(&lives.former.version).map(|version| format!(" {version}"));
    let version = version.unwrap_or_default();
    let label = format!("  compared with the deleted object{version}, another life:");
    [vec![Text::dim(label)], changes].concat()
}
