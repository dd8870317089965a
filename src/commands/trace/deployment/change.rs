//! `SpecChange`: the change that a rollout follows: what changed, who changed it, and when.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::diff::Diff;
use crate::object::managed_fields::{self, ManagedFieldsEntry, OwnerStep, Writers};
use crate::object::{Kind, Value};

use super::moment::Moment;

/// A change of a Deployment's spec.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpecChange {
    /// The generation after it.
    pub(super) generation: i64,
    /// The field manager that wrote it.
    pub(super) by: Option<String>,
    /// What changed, in short paths; `None` if unknown.
    pub(super) what: Option<String>,
    /// When it was made.
    pub(super) at: Moment,
}

/// How many changed paths are listed.
const PATHS_SHOWN: usize = 3;

impl SpecChange {
    /// The last change of an object that was not seen before. The last writer of its spec made it.
    pub(super) fn last(deployment: Value<'_>) -> SpecChange {
        let entries = managed_fields::entries(deployment);
        let spec = [OwnerStep::Field("spec".into())];
        let writer = entries
            .iter()
            .filter(|entry| entry.owns(&spec))
            .max_by_key(|entry| entry.time());
        SpecChange {
            generation: generation(deployment),
            by: writer.map(|writer| writer.manager.clone().into_owned()),
            what: None,
            at: Moment {
                server: writer.and_then(ManagedFieldsEntry::time),
                seen: None,
            },
        }
    }

    /// The change from one version to the next; `None` if the spec is the same. `seen` is when the new
    /// version arrived, if it arrived live.
    pub(super) fn between(
        old: Value<'_>,
        new: Value<'_>,
        seen: Option<Timestamp>,
    ) -> Option<SpecChange> {
        if generation(old) == generation(new) {
            return None;
        }
        let writers = Writers::of(Some(old), Some(new));
        let spec = [OwnerStep::Field("spec".into())];
        let writer = writers.actors().find(|actor| actor.owns(&spec));
        let by = writer.map(|writer| writer.manager.clone().into_owned());
        let server = writer.and_then(ManagedFieldsEntry::time);
        Some(SpecChange {
            generation: generation(new),
            by,
            what: what(old, new, ".spec"),
            at: Moment {
                server: server.or_else(|| writers.moved()),
                seen,
            },
        })
    }

    /// The change as text: `gen 13 by kubectl-set: containers[web].image`.
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

/// What differs below `root`, in short paths. Plain settings of the spec have their values.
pub(super) fn what(old: Value<'_>, new: Value<'_>, root: &str) -> Option<String> {
    let mut changes: Vec<String> = Vec::new();
    let diff = Diff::of(Some(old), Some(new));
    let is_restart = restarted(old) != restarted(new);
    if is_restart {
        changes.push("restart".to_owned());
    }
    for change in diff.changes() {
        let path = diff.path(change.at).to_string();
        let is_covered = is_restart && path.starts_with(".spec.template.metadata");
        if !path.starts_with(root) || path.contains("pod-template-hash") || is_covered {
            continue;
        }
        let text = setting(&path, old, new).unwrap_or_else(|| short(&path));
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

/// The annotation that `kubectl rollout restart` writes.
fn restarted(object: Value<'_>) -> Option<Cow<'_, str>> {
    let annotations = ["spec", "template", "metadata", "annotations"];
    object
        .at(&annotations)?
        .str_at(&["kubectl.kubernetes.io/restartedAt"])
}

/// A change of a plain setting of the spec: `replicas 3 to 5`, `paused true`.
fn setting(path: &str, old: Value<'_>, new: Value<'_>) -> Option<String> {
    let key = path
        .strip_prefix(".spec.")
        .filter(|key| !key.contains(['.', '[']))?;
    let value = |object: Value<'_>| match object.at(&["spec", key]) {
        None => Some(None),
        Some(value) if matches!(value.kind(), Kind::Number | Kind::Bool) => {
            Some(Some(value.raw().to_owned()))
        }
        Some(_) => None,
    };
    Some(match (value(old)?, value(new)?) {
        (Some(old), Some(new)) => format!("{key} {old} to {new}"),
        (None, Some(new)) => format!("{key} {new}"),
        (_, None) => format!("{key} removed"),
    })
}

/// `.spec.template.spec.containers[name=web].image` as `containers[web].image`.
fn short(path: &str) -> String {
    let path = [".spec.template.spec.", ".spec.template.", ".spec."]
        .into_iter()
        .find_map(|prefix| path.strip_prefix(prefix))
        .unwrap_or(path);
    path.replace("[name=", "[")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    /// The API server records a scale without a time. The time of an earlier writer does not count.
    #[test]
    fn a_scale_has_no_server_time() {
        let deployment = |generation: i64, scale: &str| {
            let created = r#"{"manager":"create","operation":"Update","time":"2026-01-02T03:04:05Z","fieldsV1":{"f:spec":{"f:x":{}}}}"#;
            Doc::parse(format!(
                r#"{{"metadata":{{"generation":{generation},"managedFields":[{created}{scale}]}},"spec":{{"replicas":{generation}}}}}"#
            ))
            .expect("valid")
        };
        let scale = r#",{"manager":"hpa","operation":"Update","subresource":"scale","fieldsV1":{"f:spec":{"f:replicas":{}}}}"#;
        let (old, new) = (deployment(1, ""), deployment(2, scale));
        let change = SpecChange::between(old.root(), new.root(), None).expect("a change");
        assert_eq!(change.by.as_deref(), Some("hpa"));
        assert_eq!(change.at.time(), None);
    }
}
