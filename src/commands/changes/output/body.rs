//! The lines below the heading of a version, in each format for people.

use super::options::{Creation, known};
use super::text::TextView;
use crate::commands::changes::compared::VersionDoc;
use crate::commands::changes::formats::ChangesFormat;
use crate::diff::{Diff, Filter, Noise, Projection, Shown};
use crate::object::list_keys::ListKeys;
use crate::render::diff::{ChangeType, Extent, ShownChanges, created_lines, whole_lines};
use crate::render::style::Role;
use crate::render::text::escape_line;
use crate::render::unified::{UnifiedSide, unified};
use crate::render::yaml::yaml;

/// The file name of a missing side in a unified diff.
const NOTHING: &str = "/dev/null";

impl TextView<'_> {
    /// The changes between two versions.
    pub(super) fn changes(&self, shown: &ShownChanges<'_>, diff: &Diff<'_>) -> Vec<String> {
        match self.options.format {
            ChangesFormat::Tree => shown.tree(Extent::Changed),
            ChangesFormat::Full => shown.tree(Extent::Whole),
            ChangesFormat::Diff => {
                // Several managers may have written this version: print only the parts of the managers in `--by`.
                let theirs = (!self.options.shown.by.is_everyone()).then(|| diff.partly(|_| true));
                let now = self.compared.read.now();
                let doc = theirs.as_ref().unwrap_or(now.doc);
                self.unified(self.compared.read.old(), Some(VersionDoc { doc, ..now }))
            }
            _ => shown.lines(),
        }
    }

    /// The object itself, if it is new or exists at the start.
    pub(super) fn whole(&self) -> Vec<String> {
        let now = self.compared.read.now();
        let object = self.options.redactor.shown(now.doc.root());
        let change = self.compared.change();
        let is_new = change.is_creation();
        let is_whole = self.options.creation == Creation::Whole;
        let view = self.diff_view();
        match self.options.format {
            ChangesFormat::Full if is_new || change == ChangeType::Baseline => {
                whole_lines(object, &view, change)
            }
            _ if !is_new => Vec::new(),
            ChangesFormat::Tree if is_whole => whole_lines(object, &view, change),
            ChangesFormat::Diff => self.unified(None, Some(now)),
            _ if is_whole => {
                let paint = |line: String| self.look.styles.paint(Role::Added, &line);
                let lines = self.yaml(now).into_iter();
                lines.map(|line| paint(format!("+ {line}"))).collect()
            }
            _ => created_lines(object, &view),
        }
    }

    /// A unified diff of both versions as YAML.
    pub(super) fn unified(
        &self,
        old: Option<VersionDoc<'_>>,
        now: Option<VersionDoc<'_>>,
    ) -> Vec<String> {
        let lines =
            |side: Option<VersionDoc<'_>>| side.map_or_else(Vec::new, |side| self.yaml(side));
        let name = |side: Option<VersionDoc<'_>>| match side {
            Some(VersionDoc { version, .. }) => {
                let object = escape_line(&version.object.to_string()).into_owned();
                match known(&version.version) {
                    Some(version) => format!("{object} {version}"),
                    None => object,
                }
            }
            None => NOTHING.to_owned(),
        };
        let styles = self.look.styles;
        let side = |name, lines| UnifiedSide { name, lines };
        unified(
            side(&name(old), &lines(old)),
            side(&name(now), &lines(now)),
            styles,
        )
    }

    /// The selected parts of a version as YAML, without hidden metadata. Empty if no part is selected.
    fn yaml(&self, side: VersionDoc<'_>) -> Vec<String> {
        let noise = &self.compared.noise;
        let mut without = Vec::new();
        if !noise.contains(&Noise::ManagedFields) {
            without.push("managedFields");
        }
        if !noise.contains(&Noise::Version) {
            without.extend(["resourceVersion", "generation"]);
        }
        let object = self.options.redactor.shown(side.doc.root());
        let projection = projection(&self.options.shown.filter, object);
        if projection.excludes(object) {
            return Vec::new();
        }
        yaml(object, &projection.and_metadata(object, &without))
    }
}

/// The parts of an object that a filter leaves out. It uses the built-in list keys, because printing an object must not
/// fix the list keys of its kind.
pub(super) fn projection<'a>(filter: &Filter, object: Shown<'a>) -> Projection<'a> {
    filter.projection([object], ListKeys::builtin())
}
