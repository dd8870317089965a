//! `-o diff`: a unified diff of the object's YAML.

use super::VersionView;
use super::text::TextFormat;
use crate::commands::versions::{VersionDoc, known};
use crate::diff::{Diff, partly};
use crate::render::diff::ShownChanges;
use crate::render::text::Text;
use crate::render::unified::{UnifiedSide, unified};

/// The file name of a missing side.
const NOTHING: &str = "/dev/null";

/// `-o diff`.
pub(super) struct Unified;

impl TextFormat for Unified {
    fn changes(
        &self,
        view: &VersionView<'_>,
        _shown: &ShownChanges<'_>,
        diff: &Diff<'_>,
    ) -> Vec<Text> {
        // Several managers may have written this version: print only the parts of the managers in `--by`.
        let theirs = (!view.options.shown.by.is_everyone()).then(|| partly(diff, |_| true));
        let now = view.compared.read.now();
        let doc = theirs.as_ref().unwrap_or(now.doc);
        sides(
            view,
            view.compared.read.old(),
            Some(VersionDoc { doc, ..now }),
        )
    }

    fn object(&self, view: &VersionView<'_>) -> Vec<Text> {
        if !view.compared.change().is_creation() {
            return Vec::new();
        }
        sides(view, None, Some(view.compared.read.now()))
    }

    fn deleted(&self, view: &VersionView<'_>) -> Vec<Text> {
        sides(view, Some(view.compared.read.now()), None)
    }
}

/// A unified diff of both versions as YAML.
fn sides(
    view: &VersionView<'_>,
    old: Option<VersionDoc<'_>>,
    now: Option<VersionDoc<'_>>,
) -> Vec<Text> {
    let lines = |side: Option<VersionDoc<'_>>| side.map_or_else(Vec::new, |side| view.yaml(side));
    let name = |side: Option<VersionDoc<'_>>| match side {
        Some(VersionDoc { version, .. }) => {
            let object = version.object.to_string();
            match known(&version.version) {
                Some(version) => format!("{object} {version}"),
                None => object,
            }
        }
        None => NOTHING.to_owned(),
    };
    let side = |name, lines| UnifiedSide { name, lines };
    unified(side(&name(old), &lines(old)), side(&name(now), &lines(now)))
}
