//! `-o json-patch` and `-o merge-patch`: patches that lead from each version to the next.

use serde_json::value::RawValue;

use super::{Audience, Format, VersionView};
use crate::commands::changes::output::{Rendered, both_versions};
use crate::commands::versions::Compared;
use crate::diff::json_patch::{Patch, json_patch, step_by_step};
use crate::diff::{Diff, MergePatch, merge_patch, partly};
use crate::object::Value;
use crate::render::diff::ChangeType;
use crate::render::json::line;

/// The formats of patches.
pub(super) enum Patches {
    /// RFC 6902.
    Json,
    /// RFC 7396.
    Merge,
}

impl Format for Patches {
    fn audience(&self) -> Audience {
        Audience::Documents
    }

    /// Patches lead from each version to the next, so they include versions with only noise.
    fn prints(&self, compared: &Compared<'_>) -> bool {
        compared.is_shown() || compared.counts.hidden() > 0
    }

    /// A patch of the selected changes, noise included. It needs two versions; creations, deletions and baselines have only
    /// one.
    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let (options, compared) = (view.options, view.compared);
        if compared.change() != ChangeType::Modified {
            return Rendered::default();
        }
        let read = compared.read;
        let (Some(diff), (Some(old), new), Some(keys)) =
            (&compared.diff, read.roots(), read.keys.as_deref())
        else {
            let name = both_versions(read.event);
            let text = format!("{name}: no patch, because the previous version could not be read");
            return Rendered::aside(Some(text));
        };
        if options.shown.filter.is_everything() && options.shown.by.is_everyone() {
            return match self {
                Patches::Json => json_patch_line(&json_patch(diff, &options.redactor)),
                Patches::Merge => merge_patch_line(view, old, new),
            };
        }
        let partly = partly(diff, |change| options.shown.filter.keeps(diff, change));
        let diff = Diff::keyed(Some(old), Some(partly.root()), keys);
        if diff.is_empty() {
            return Rendered::quiet(compared.counts.clone());
        }
        match self {
            // Only parts are selected, so the patch must not replace the whole object, even if that is shorter.
            Patches::Json => json_patch_line(&step_by_step(&diff, &options.redactor)),
            Patches::Merge => merge_patch_line(view, old, partly.root()),
        }
    }
}

fn merge_patch_line(view: &VersionView<'_>, old: Value<'_>, new: Value<'_>) -> Rendered {
    let redactor = &view.options.redactor;
    match merge_patch(redactor.shown(old), redactor.shown(new)) {
        Ok(MergePatch { json, is_redacted }) => {
            let json = RawValue::from_string(json).expect("merge_patch writes JSON");
            Rendered {
                redacted: is_redacted,
                ..Rendered::lines(vec![line(&json).into()])
            }
        }
        Err(error) => {
            let name = both_versions(view.compared.read.event);
            Rendered::aside(Some(format!("{name}: {error}")))
        }
    }
}

fn json_patch_line(patch: &Patch) -> Rendered {
    Rendered {
        redacted: patch.is_redacted(),
        ..Rendered::lines(vec![line(patch).into()])
    }
}
