//! The change that a rollout follows: what, who, when.

use jiff::Timestamp;

use crate::diff::{Diff, Redactor};
use crate::object::managed_fields::{self, OwnerStep, Writers};
use crate::object::path::Side;
use crate::object::{Kind, Value};

use super::log::Moment;

/// A change of a Deployment's spec.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// The generation it made.
    pub(super) generation: i64,
    /// The field manager that wrote it.
    pub(super) by: Option<String>,
    /// What was changed, in short paths; `None` while that is not known.
    pub(super) what: Option<String>,
    /// When.
    pub(super) at: Moment,
}

/// How many changed paths are named.
const PATHS_SHOWN: usize = 3;

impl Change {
    /// The last change of an object that is seen for the first time. Who wrote to its spec last has
    /// made it.
    pub(super) fn last(deployment: Value<'_>) -> Change {
        let entries = managed_fields::entries(deployment);
        let spec = [OwnerStep::Field("spec".into())];
        let writer = entries
            .iter()
            .filter(|entry| entry.owns(&spec))
            .max_by_key(|entry| entry.time);
        Change {
            generation: generation(deployment),
            by: writer.map(|writer| writer.manager.clone().into_owned()),
            what: None,
            at: Moment {
                server: writer.and_then(|writer| writer.time),
                seen: None,
            },
        }
    }

    /// The change from one version to the next; `None` if the spec is the same. `seen` is when the new
    /// one came, if it came as it was written.
    pub(super) fn between(
        old: Value<'_>,
        new: Value<'_>,
        seen: Option<Timestamp>,
    ) -> Option<Change> {
        if generation(old) == generation(new) {
            return None;
        }
        let writers = Writers::of(Some(old), Some(new));
        let spec = [OwnerStep::Field("spec".into())];
        let writer = writers.actors().find(|actor| actor.owns(&spec));
        let by = writer.map(|writer| writer.manager.clone().into_owned());
        let server = writer.and_then(|writer| writer.time);
        Some(Change {
            generation: generation(new),
            by,
            what: what(old, new, ".spec"),
            at: Moment {
                server: server.or_else(|| writers.time()),
                seen,
            },
        })
    }

    /// The change in words: `gen 13 by kubectl-set: containers[web].image`.
    pub(super) fn text(&self) -> String {
        let by = self.by.as_ref().map(|by| format!(" by {by}"));
        let what = self.what.as_ref().map(|what| format!(": {what}"));
        format!(
            "gen {}{}{}",
            self.generation,
            by.unwrap_or_default(),
            what.unwrap_or_default()
        )
    }
}

fn generation(object: Value<'_>) -> i64 {
    object
        .i64_at(&["metadata", "generation"])
        .unwrap_or_default()
}

/// What differs below `root`, in short paths, with the values of what stands right in the spec.
pub(super) fn what(old: Value<'_>, new: Value<'_>, root: &str) -> Option<String> {
    let diff = Diff::of(Some(old), Some(new));
    let redactor = Redactor::new();
    let mut changes: Vec<String> = Vec::new();
    for change in diff.changes() {
        let path = diff.path(change.at).to_string();
        if !path.starts_with(root) || path.contains("pod-template-hash") {
            continue;
        }
        let value = |side| {
            diff.shown(change.at, side, &redactor)
                .map_or("none".to_owned(), |value| value.json())
        };
        let is_scalar = |object: Value<'_>, key: &str| {
            object
                .at(&["spec", key])
                .is_none_or(|value| !matches!(value.kind(), Kind::Object | Kind::Array))
        };
        let text = match path.strip_prefix(".spec.") {
            Some(_) if path.contains("kubectl.kubernetes.io/restartedAt") => "restart".to_owned(),
            Some(key)
                if !key.contains(['.', '[']) && is_scalar(old, key) && is_scalar(new, key) =>
            {
                format!("{key} {} to {}", value(Side::Old), value(Side::New))
            }
            _ => short(&path),
        };
        if !changes.contains(&text) {
            changes.push(text);
        }
    }
    let more = match changes.len().saturating_sub(PATHS_SHOWN) {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    changes.truncate(PATHS_SHOWN);
    (!changes.is_empty()).then(|| format!("{}{more}", changes.join(", ")))
}

/// `.spec.template.spec.containers[name=web].image` as `containers[web].image`.
fn short(path: &str) -> String {
    let path = [".spec.template.spec.", ".spec.template.", ".spec."]
        .into_iter()
        .find_map(|prefix| path.strip_prefix(prefix))
        .unwrap_or(path);
    path.replace("[name=", "[")
}
