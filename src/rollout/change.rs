//! `SpecChange`: the change that a rollout follows: what changed, who changed it, and when.

use jiff::{SignedDuration, Timestamp};

use crate::diff::{Change, Diff, Filter, Op, VersionWriter, writer_of};
use crate::object::managed_fields::{ManagedFieldsEntry, OwnerStep};
use crate::object::{Doc, Value, managed_fields, restarted_at};

/// The most time between a spec change and the creation of its revision.
const REACTION: SignedDuration = SignedDuration::from_secs(5);

/// When something happened: by the server's clock, in seconds, and by our clock if it was seen live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The server's time.
    pub server: Option<Timestamp>,
    /// Our time.
    pub seen: Option<Timestamp>,
}

impl Moment {
    /// The known time; the server's if both are known.
    pub fn time(self) -> Option<Timestamp> {
        self.server.or(self.seen)
    }

    /// Whether it was later: by our clock if that shows both. Unknown times are not.
    pub(super) fn is_after(self, other: Moment) -> bool {
        match (self.seen, other.seen) {
            (Some(seen), Some(other)) => seen > other,
            _ => self
                .time()
                .zip(other.time())
                .is_some_and(|(time, other)| time > other),
        }
    }
}

/// A change of a workload's spec.
#[derive(Clone, Default)]
pub struct SpecChange {
    /// The generation after it; `None` if that is unknown.
    pub generation: Option<i64>,
    /// The field manager that wrote it.
    by: Option<VersionWriter>,
    /// What changed; `None` if unknown.
    pub fields: Option<ChangedFields>,
    /// When it was made.
    pub(super) at: Moment,
}

impl SpecChange {
    /// The last change of an object that was not seen before. The last recorded writer of its spec probably made it: somebody
    /// who only removed fields is not recorded. The API server records a scale without a time, so its generation may be that
    /// of the scale.
    pub(super) fn last(workload: Value<'_>) -> SpecChange {
        let spec = [OwnerStep::Field("spec".into())];
        let generation = generation(workload);
        let mut entries = managed_fields::entries(workload).into_iter();
        let has_undated = entries.any(|entry| entry.owns(&spec) && entry.time().is_none());
        let is_first = generation == 1;
        let generation = Some(generation).filter(|_| is_first || !has_undated);
        let mut change = SpecChange::by(generation, last_writer(workload, &spec).as_ref());
        if !is_first {
            change.by = change.by.as_ref().map(VersionWriter::probably);
        }
        change
    }

    /// The last change of the Pod template of an object that was not seen before. The last recorded writer
    /// of the template made it, if the controller created the revision when that one wrote: at `created`. Someone may have changed
    /// another part of the spec since.
    pub(super) fn last_of_template(
        workload: Value<'_>,
        fields: ChangedFields,
        created: Option<Timestamp>,
    ) -> SpecChange {
        let last = SpecChange::last(workload);
        let template = ["spec", "template"].map(|name| OwnerStep::Field(name.into()));
        let writer = last_writer(workload, &template);
        let by = writer.as_ref().map(VersionWriter::recorded);
        let is_of_last =
            by.as_ref().map(VersionWriter::bare) == last.by.as_ref().map(VersionWriter::bare);
        let mut change = if by.is_some() && !is_of_last {
            SpecChange::by(None, writer.as_ref())
        } else {
            last
        };
        let written = created.zip(change.at.server);
        let age = written.map(|(created, at)| created.duration_since(at));
        let is_removal = fields.are_only_removed();
        // The revision of a rollback is older than the change. A removal has no time of its own.
        let is_recorded =
            age.is_some_and(|age| age <= REACTION && (age >= -REACTION || !is_removal));
        change.by = if is_recorded {
            by
        } else if is_removal {
            by.as_ref().map(VersionWriter::former)
        } else {
            by.as_ref().map(VersionWriter::probably)
        };
        if !is_recorded && (is_removal || age.is_some()) {
            change.at = Moment::default();
        }
        change.at.server = change.at.server.or(created);
        change.fields = Some(fields);
        change
    }

    fn by(generation: Option<i64>, writer: Option<&ManagedFieldsEntry<'_>>) -> SpecChange {
        SpecChange {
            generation,
            by: writer.map(VersionWriter::recorded),
            fields: None,
            at: Moment {
                server: writer.and_then(ManagedFieldsEntry::time),
                seen: None,
            },
        }
    }

    /// The change from one version to the next; `None` if the spec is the same. `seen` is when the new
    /// version arrived, if it arrived live.
    pub(super) fn between(old: &Doc, new: &Doc, seen: Option<Timestamp>) -> Option<SpecChange> {
        if generation(old.root()) == generation(new.root()) {
            return None;
        }
        let roots = (Some(old.root()), Some(new.root()));
        let writers = Diff::of(roots.0, roots.1).writers(roots.0, roots.1);
        let writers = writers.up_to(seen.unwrap_or(Timestamp::MAX));
        let fields = ChangedFields::of(old, new, SPEC);
        Some(SpecChange {
            generation: Some(generation(new.root())),
            by: fields.as_ref().and_then(|fields| fields.writer(seen)),
            fields,
            at: Moment {
                server: writers.moved(),
                seen,
            },
        })
    }

    /// The change as text: `gen 13 by kubectl-set`.
    pub(super) fn text(&self) -> String {
        let generation = self
            .generation
            .map(|generation| format!("gen {generation}"));
        let by = self.by.as_ref().map(VersionWriter::to_string);
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

/// Two versions of a spec.
#[derive(Clone)]
pub struct ChangedFields {
    old: Doc,
    new: Doc,
    /// The part of the objects that is compared.
    part: &'static str,
}

/// The whole spec.
const SPEC: &str = "spec";

/// The part of a spec whose changes start a rollout.
pub(super) const TEMPLATE: &str = "spec.template";

/// Fields that controllers add to the templates of their revisions.
const ADDED: [&str; 3] = [
    "spec.template.metadata.labels.pod-template-hash",
    "spec.template.metadata.creationTimestamp",
    "spec.template[\"$patch\"]",
];

impl ChangedFields {
    /// The differences between two versions of a part of a workload, [`SPEC`] or [`TEMPLATE`]; `None` if they are equal.
    pub(super) fn of(old: &Doc, new: &Doc, part: &'static str) -> Option<ChangedFields> {
        let changed = ChangedFields {
            old: old.clone(),
            new: new.clone(),
            part,
        };
        changed.differs_in(part).then_some(changed)
    }

    /// Whether the Pod template differs.
    pub(super) fn has_template(&self) -> bool {
        self.differs_in(TEMPLATE)
    }

    /// Whether the change is a restart by `kubectl rollout restart`.
    pub(super) fn is_restart(&self) -> bool {
        restarted_at(self.old.root()) != restarted_at(self.new.root())
    }

    /// The field manager that wrote the newer version. If none is recorded, the one that owns all values that were set.
    /// The version arrived at `seen`, if it arrived live.
    pub(super) fn writer(&self, seen: Option<Timestamp>) -> Option<VersionWriter> {
        let (old, new) = (self.old.root(), self.new.root());
        let diff = self.diff();
        let writers = diff.writers(Some(old), Some(new));
        let writers = writers.up_to(seen.unwrap_or(Timestamp::MAX));
        writer_of(&diff, &writers, &changes(&diff, &self.filter()))
    }

    /// Whether the change only removes fields.
    pub(super) fn are_only_removed(&self) -> bool {
        let diff = self.diff();
        let changes = changes(&diff, &self.filter());
        changes.iter().all(|change| change.op == Op::Remove)
    }

    fn differs_in(&self, part: &str) -> bool {
        !changes(&self.diff(), &filter(part)).is_empty()
    }

    /// Everything that differs.
    pub fn diff(&self) -> Diff<'_> {
        Diff::of(Some(self.old.root()), Some(self.new.root()))
    }

    /// The compared part of the objects, without what controllers add.
    pub fn filter(&self) -> Filter {
        filter(self.part)
    }
}

/// The changes that a filter keeps, without noise.
fn changes<'d>(diff: &'d Diff<'_>, filter: &Filter) -> Vec<&'d Change> {
    let changes = diff.changes().iter();
    let changes = changes.filter(|change| change.noise.is_none() && filter.keeps(diff, change));
    changes.collect()
}

fn filter(part: &str) -> Filter {
    let pattern = |text: &str| text.parse().ok();
    Filter {
        only: pattern(part).into_iter().collect(),
        ignore: ADDED.into_iter().filter_map(pattern).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_that_shows_both_moments_compares_them() {
        let time = |second: Option<i64>| second.map(|second| Timestamp::constant(second, 0));
        let moment = |(server, seen)| Moment {
            server: time(server),
            seen: time(seen),
        };
        for (one, other, is_after) in [
            ((Some(3), None), (Some(2), None), true),
            ((Some(2), None), (Some(2), None), false),
            ((Some(9), Some(1)), (Some(2), Some(2)), false),
            ((Some(1), Some(3)), (Some(2), Some(2)), true),
            ((None, Some(3)), (Some(2), None), true),
            ((None, None), (Some(2), None), false),
            ((Some(3), None), (None, None), false),
        ] {
            let found = moment(one).is_after(moment(other));
            assert_eq!(found, is_after, "{one:?} {other:?}");
        }
    }

    /// The last write of a spec may have removed fields, and nobody is recorded for that.
    #[test]
    fn the_writer_of_an_unseen_change_is_only_probable() {
        for (generation, text) in [
            (1, "gen 1 by argocd: created"),
            (2, "gen 2 probably by argocd"),
        ] {
            let entry = r#"{"manager":"argocd","operation":"Update","time":"2026-01-02T03:04:05Z","fieldsV1":{"f:spec":{"f:x":{}}}}"#;
            let workload = Doc::parse(format!(
                r#"{{"metadata":{{"generation":{generation},"managedFields":[{entry}]}},"spec":{{}}}}"#
            ));
            let change = SpecChange::last(workload.expect("valid").root());
            assert_eq!(change.text(), text);
        }
    }

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
        assert_eq!(change.text(), "gen 2 by hpa (scale)");
        assert_eq!(change.at.time(), None);
    }
}
