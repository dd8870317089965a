//! `SpecChange`: the change that a rollout follows: what changed, who changed it, and when.

use jiff::Timestamp;

use crate::object::managed_fields::{self, ManagedFieldsEntry, OwnerStep, Writers};
use crate::object::{Doc, Value};

use super::changed_fields::ChangedFields;
use super::moment::Moment;

/// A change of a workload's spec.
#[derive(Clone, Default)]
pub(super) struct SpecChange {
    /// The generation after it; `None` if that is unknown.
    pub(super) generation: Option<i64>,
    /// The field manager that wrote it.
    pub(super) by: Option<String>,
    /// What changed; `None` if unknown.
    pub(super) fields: Option<ChangedFields>,
    /// When it was made.
    pub(super) at: Moment,
}

impl SpecChange {
    /// The last change of an object that was not seen before. The last writer of its spec made it. The API server
    /// records a scale without a time, so its generation may be that of the scale.
    pub(super) fn last(workload: Value<'_>) -> SpecChange {
        let spec = [OwnerStep::Field("spec".into())];
        let writer = last_writer(workload, &spec);
        let generation = generation(workload);
        let mut entries = managed_fields::entries(workload).into_iter();
        let has_undated = entries.any(|entry| entry.owns(&spec) && entry.time().is_none());
        SpecChange {
            generation: Some(generation).filter(|generation| *generation == 1 || !has_undated),
            by: writer
                .as_ref()
                .map(|writer| writer.manager.clone().into_owned()),
            fields: None,
            at: Moment {
                server: writer.and_then(|writer| writer.time()),
                seen: None,
            },
        }
    }

    /// The last change of the Pod template of an object that was not seen before. The last writer of the template
    /// made it. Someone may have changed another part of the spec since.
    pub(super) fn last_of_template(workload: Value<'_>, fields: ChangedFields) -> SpecChange {
        let last = SpecChange::last(workload);
        let template = ["spec", "template"].map(|name| OwnerStep::Field(name.into()));
        let writer = last_writer(workload, &template);
        let by = writer
            .as_ref()
            .map(|writer| writer.manager.clone().into_owned());
        let change = match writer {
            Some(writer) if by != last.by => SpecChange {
                generation: None,
                by,
                at: Moment {
                    server: writer.time(),
                    seen: None,
                },
                fields: None,
            },
            _ => last,
        };
        SpecChange {
            fields: Some(fields),
            ..change
        }
    }

    /// The change from one version to the next; `None` if the spec is the same. `seen` is when the new
    /// version arrived, if it arrived live.
    pub(super) fn between(old: &Doc, new: &Doc, seen: Option<Timestamp>) -> Option<SpecChange> {
        if generation(old.root()) == generation(new.root()) {
            return None;
        }
        let writers = Writers::of(Some(old.root()), Some(new.root()));
        let spec = [OwnerStep::Field("spec".into())];
        let writer = writers.actors().find(|actor| actor.owns(&spec));
        let by = writer.map(|writer| writer.manager.clone().into_owned());
        let server = writer.and_then(ManagedFieldsEntry::time);
        Some(SpecChange {
            generation: Some(generation(new.root())),
            by,
            fields: ChangedFields::of_spec(old, new),
            at: Moment {
                server: server.or_else(|| writers.moved()),
                seen,
            },
        })
    }

    /// The change as text: `gen 13 by kubectl-set`.
    pub(super) fn text(&self) -> String {
        let generation = self
            .generation
            .map(|generation| format!("gen {generation}"));
        let by = self.by.as_ref().map(|by| format!("by {by}"));
        let parts: Vec<String> = generation.into_iter().chain(by).collect();
        let note = match (&self.fields, self.generation) {
            (Some(fields), _) if fields.is_restart() => ": restart",
            (None, Some(1)) => ": created",
            (Some(_) | None, _) => "",
        };
        format!("{}{note}", parts.join(" "))
    }
}

/// The newest of the managers that own a field.
fn last_writer<'a>(object: Value<'a>, path: &[OwnerStep<'_>]) -> Option<ManagedFieldsEntry<'a>> {
    let entries = managed_fields::entries(object).into_iter();
    let owners = entries.filter(|entry| entry.owns(path));
    owners.max_by_key(ManagedFieldsEntry::time)
}

fn generation(object: Value<'_>) -> i64 {
    object
        .i64_at(&["metadata", "generation"])
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let change = SpecChange::between(&old, &new, None).expect("a change");
        assert_eq!(change.by.as_deref(), Some("hpa"));
        assert_eq!(change.at.time(), None);
    }
}
