//! The formats `yaml`, `name` and patches. Standard output has nothing else; messages go to standard error.

use serde_json::value::RawValue;

use super::body::projection;
use super::options::{DisplayOptions, known};
use super::rendered::Rendered;
use super::text::Heading;
use crate::commands::Terminal;
use crate::commands::changes::compared::Compared;
use crate::commands::changes::formats::ChangesFormat;
use crate::commands::changes::state::{TimelineEntry, VersionEvent};
use crate::diff::json_patch::{Patch, json_patch, step_by_step};
use crate::diff::{Diff, MergePatch, Noise, merge_patch};
use crate::object::Value;
use crate::render::diff::{ChangeType, writer};
use crate::render::json::line;
use crate::render::style::Styles;
use crate::render::text::escape_line;
use crate::render::yaml::yaml;

impl DisplayOptions {
    /// A version as a document or a patch.
    pub(super) fn document(
        &self,
        entry: &TimelineEntry,
        compared: &Compared<'_>,
        terminal: &Terminal<'_>,
    ) -> Rendered {
        match self.format {
            ChangesFormat::JsonPatch | ChangesFormat::MergePatch
                if compared.change() == ChangeType::Modified =>
            {
                self.patch(compared)
            }
            // A patch needs two versions. Creations, deletions and baselines have only one.
            ChangesFormat::JsonPatch | ChangesFormat::MergePatch => Rendered::default(),
            ChangesFormat::Name => {
                let name = compared.read.event.now.object.resource_name();
                Rendered::lines(vec![escape_line(&name).into_owned()])
            }
            _ => self.yaml_document(entry, compared, terminal),
        }
    }

    /// A patch of the selected changes, noise included.
    fn patch(&self, compared: &Compared<'_>) -> Rendered {
        let read = compared.read;
        let (Some(diff), (Some(old), new), Some(keys)) =
            (&compared.diff, read.roots(), read.keys.as_deref())
        else {
            let name = both_versions(read.event);
            let text = format!("{name}: no patch, because the previous version could not be read");
            return Rendered::aside(Some(text));
        };
        if self.shown.filter.is_everything() && self.shown.by.is_everyone() {
            return match self.format {
                ChangesFormat::JsonPatch => json_patch_line(&json_patch(diff, &self.redactor)),
                _ => self.merge_patch_line(compared, old, new),
            };
        }
        let partly = diff.partly(|change| self.shown.filter.keeps(diff, change));
        let diff = Diff::keyed(Some(old), Some(partly.root()), keys);
        if diff.is_empty() {
            return Rendered::quiet(compared.counts.clone());
        }
        match self.format {
            // Only parts are selected, so the patch must not replace the whole object, even if that is shorter.
            ChangesFormat::JsonPatch => json_patch_line(&step_by_step(&diff, &self.redactor)),
            _ => self.merge_patch_line(compared, old, partly.root()),
        }
    }

    fn merge_patch_line(
        &self,
        compared: &Compared<'_>,
        old: Value<'_>,
        new: Value<'_>,
    ) -> Rendered {
        match merge_patch(self.redactor.shown(old), self.redactor.shown(new)) {
            Ok(MergePatch { json, is_redacted }) => {
                let json = RawValue::from_string(json).expect("merge_patch writes JSON");
                Rendered {
                    redacted: is_redacted,
                    ..Rendered::lines(vec![line(&json)])
                }
            }
            Err(error) => Rendered::aside(Some(format!(
                "{}: {error}",
                both_versions(compared.read.event)
            ))),
        }
    }

    /// A version as YAML.
    fn yaml_document(
        &self,
        entry: &TimelineEntry,
        compared: &Compared<'_>,
        terminal: &Terminal<'_>,
    ) -> Rendered {
        let mut text = self.text_view(entry, compared, terminal);
        text.look.styles = Styles::PLAIN;
        let change = compared.change();
        let is_written = change.is_creation() || change == ChangeType::Modified;
        let who = is_written.then(|| writer(&compared.writers));
        let heading = text.heading(Heading {
            who: who.flatten().map(|who| who.to_string()),
            ..Heading::default()
        });
        let object = self.redactor.shown(compared.read.doc.root());
        let projection = projection(&self.shown.filter.with_identity(), object)
            .and_metadata(object, &self.hidden_metadata());
        let mut lines = vec![format!("# {heading}")];
        lines.extend(yaml(object, &projection));
        Rendered {
            redacted: projection.holds_secret(object),
            starts_document: true,
            ..Rendered::lines(lines)
        }
    }

    /// The fields of `metadata` to leave out: noise, and fields that would prevent creating the object again.
    fn hidden_metadata(&self) -> Vec<&'static str> {
        let noise = [
            (Noise::ManagedFields, "managedFields"),
            (Noise::Version, "resourceVersion"),
        ];
        let hidden = noise
            .into_iter()
            .filter(|(noise, _)| !self.shown.noise.contains(noise));
        hidden.map(|(_, field)| field).collect()
    }
}

fn json_patch_line(patch: &Patch) -> Rendered {
    Rendered {
        redacted: patch.is_redacted(),
        ..Rendered::lines(vec![line(patch)])
    }
}

/// `deployment/web 5→6`
pub(super) fn both_versions(event: &VersionEvent) -> String {
    let versions = event.old.iter().chain([&event.now]);
    let versions: Vec<String> = versions
        .filter_map(|version| Some(known(&version.version)?.to_string()))
        .collect();
    format!("{} {}", event.now.object, versions.join("→"))
        .trim_end()
        .to_owned()
}
