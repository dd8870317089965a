//! `LastChange`: one change of an object: who made it, when, and what it changed.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::commands::field_fight::FieldWrite;
use crate::diff::{Change, Diff, Redactor};
use crate::graph::ReferenceTarget;
use crate::object::ObjectRef;
use crate::object::managed_fields::{ManagedFieldsEntry, OwnedField, Writers, entries};
use crate::render::age::{rfc3339, rfc3339_millis};
use crate::render::diff::{change_in_line, most_telling_first, path_in_line};
use crate::render::json::{LastChangeRecord, RefRecord, SignRecord};
use crate::render::text::escape_line;
use crate::source::Version;
use crate::status::Assessment;
use crate::watch::{Between, Revision};

use super::failure::FailureReason;
use super::fields::{Matters, REPLICAS, Sign};
use super::what::{ChangedBy, FieldChanges, Made, OldValues, What, WrittenFields};

/// How many changed fields are listed.
const FIELDS: usize = 2;

/// The arrow between two values in logs and records.
const ARROW: &str = " → ";

/// What is said about a change that only came before the failure.
const NO_SIGN: &str = "no sign that it matters";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastChange {
    /// The object; `None` if it is the failed one.
    object: Option<ObjectRef>,
    pub(super) by: ChangedBy,
    /// The revision of the version after it.
    revision: Option<Revision>,
    /// Whether it only changes the metadata of a Pod template, as a restart does, or the number of Pods that fail. Such a
    /// change brings out what changed before.
    pub(super) is_minor: bool,
    /// Whether it only changes the Pod template.
    is_of_template: bool,
    /// Whether the object has changed again since.
    is_earlier: bool,
    /// The paths of all changed fields.
    pub(super) paths: Vec<String>,
    /// When it was made, by the clock of this machine; `None` if that is not known.
    pub(super) at: Option<Made>,
    pub(super) sign: Sign,
    pub(super) what: What,
    /// What two managers do with its first field: `flipped 9 times in 25s between …`.
    fight: Option<String>,
}

impl LastChange {
    /// The change between two versions; `None` if it changes no field that may be the cause.
    pub(super) fn between(
        older: &Version,
        newer: &Version,
        matters: Matters<'_>,
        redactor: &Redactor,
    ) -> Option<LastChange> {
        let (old, new) = (older.doc().ok()?, newer.doc().ok()?);
        let (old, new) = (old.root(), new.root());
        let diff = Diff::of(Some(old), Some(new));
        let changes = diff.changes().iter();
        let mut changes: Vec<&Change> = changes
            .filter(|change| {
                change.noise.is_none() && matters.has(&newer.object.kind, &diff, change)
            })
            .collect();
        most_telling_first(&diff, &mut changes);
        let first = changes.first()?;
        let writers = diff.writers(Some(old), Some(new)).up_to(matters.now);
        let by = diff
            .by(&writers, first)
            .map(ChangedBy::of)
            .unwrap_or_default();
        let paths = changes.iter().map(|change| diff.path(change.at));
        let paths: Vec<String> = paths.map(|path| path.to_string()).collect();
        let is_all = |part: &str| paths.iter().all(|path| path.starts_with(part));
        let at = writers.moved();
        let signs = changes.iter();
        let signs = signs.map(|change| matters.sign(&diff, change, redactor));
        let sign = signs.max().unwrap_or(Sign::None);
        let shown = changes.iter().take(FIELDS);
        Some(LastChange {
            object: (!matters.is_own).then(|| ObjectRef::clone(&newer.object)),
            by,
            revision: Revision::parse(&newer.version),
            is_minor: is_all(".spec.template.metadata")
                || (*matters.reason == FailureReason::Pods && is_all(REPLICAS)),
            sign,
            is_of_template: is_all(".spec.template"),
            is_earlier: false,
            paths,
            at: at.map(Made::At),
            what: What::Changed(FieldChanges {
                first: shown
                    .map(|change| change_in_line(&diff, change, redactor).sides())
                    .collect(),
                more: changes.len().saturating_sub(FIELDS),
            }),
            fight: None,
        })
    }

    /// What the managers of a version say about the last write of a field that matters, if no older version can be read.
    /// An entry has the time of the manager's last write, of whatever field. Server-side apply may own what it never changed.
    pub(super) fn last_written(
        version: &Version,
        old: OldValues,
        matters: Matters<'_>,
    ) -> Option<LastChange> {
        let doc = version.doc().ok()?;
        let kind = &version.object.kind;
        let mut entries = entries(doc.root());
        entries.retain(|entry| entry.subresource.is_empty());
        let is_alone = entries.len() == 1;
        let owned = |entry: &ManagedFieldsEntry<'_>| entry.owned_fields(doc.root());
        let owned = entries.iter().flat_map(owned).map(|field| field.path);
        let owned: BTreeSet<String> = owned.collect();
        let entries = entries.into_iter();
        let written = entries.filter_map(|entry| {
            let mut fields = entry.owned_fields(doc.root());
            let all = fields.len();
            fields.retain(|field| {
                matters.has_path(kind, &field.path) && !is_left_over(&owned, &field.path)
            });
            let at = entry.time().filter(|at| *at <= matters.now)?;
            (!fields.is_empty()).then_some((at, entry, fields, all))
        });
        let (at, entry, fields, all) = written.max_by_key(|(at, ..)| *at)?;
        let mut writers = Writers::of(None, Some(doc.root()));
        writers.retain(|_, creator| creator.manager == entry.manager);
        if is_alone && writers.actors().next().is_some() {
            let is_from_start = matters.reason.ends_with_success()
                || matches!(matters.reason, FailureReason::Isolated(_));
            let creation = LastChange::creation_of_workload(version, matters);
            return creation.filter(|_| is_from_start);
        }
        let first = fields.iter().take(FIELDS);
        Some(LastChange {
            object: (!matters.is_own).then(|| ObjectRef::clone(&version.object)),
            by: ChangedBy::Recorded(entry.manager.clone().into_owned()),
            at: Some(Made::At(at)),
            sign: matters.sign_of_written(kind, &fields),
            ..LastChange::of(What::Wrote(WrittenFields {
                first: first.map(|field| path_in_line(&field.path)).collect(),
                more: fields.len().saturating_sub(FIELDS),
                is_all: all == 1 && !entry.is_apply(),
                old,
            }))
        })
    }

    /// The creation of an object. Of the failed object it counts only if that is a workload: what created others has often
    /// nothing to do with their failure.
    pub(super) fn creation_of_workload(
        first: &Version,
        matters: Matters<'_>,
    ) -> Option<LastChange> {
        let doc = first.doc().ok()?;
        let mut templates = ["template", "jobTemplate"].into_iter();
        let is_workload = templates.any(|part| doc.root().at(&["spec", part]).is_some());
        if matters.is_own && !is_workload {
            return None;
        }
        LastChange::creation(first, matters.is_own)
    }

    /// The creation of an object in its first version.
    pub(super) fn creation(first: &Version, is_own: bool) -> Option<LastChange> {
        let doc = first.doc().ok()?;
        let created = doc.root().time_at(&["metadata", "creationTimestamp"])?;
        let writers = Writers::of(None, Some(doc.root()));
        let creator = writers.actors().next()?;
        Some(LastChange {
            object: (!is_own).then(|| ObjectRef::clone(&first.object)),
            by: ChangedBy::Recorded(creator.manager.to_string()),
            revision: Revision::parse(&first.version),
            at: Some(Made::At(created)),
            sign: Sign::Possible,
            ..LastChange::of(What::Created)
        })
    }

    /// The creation of another object in its first version, after one of this name whose field the failure is about.
    pub(super) fn recreation(first: &Version, field: [String; 2]) -> Option<LastChange> {
        let creation = LastChange::creation(first, false)?;
        Some(LastChange {
            what: What::Recreated(FieldChanges {
                first: vec![field],
                more: 0,
            }),
            ..creation.tied()
        })
    }

    /// The deletion at this revision of an object that the failed one needs.
    pub(super) fn deletion(object: &ObjectRef, revision: Revision) -> LastChange {
        LastChange {
            object: Some(object.clone()),
            revision: Some(revision),
            sign: Sign::Tied,
            ..LastChange::of(What::Deleted)
        }
    }

    fn of(what: What) -> LastChange {
        LastChange {
            object: None,
            by: ChangedBy::Unknown,
            revision: None,
            is_minor: false,
            is_of_template: false,
            is_earlier: false,
            paths: Vec::new(),
            at: None,
            sign: Sign::None,
            what,
            fight: None,
        }
    }

    /// The same change, which the failure is about.
    pub(super) fn tied(self) -> LastChange {
        LastChange {
            sign: Sign::Tied,
            ..self
        }
    }

    /// The revision of a change whose time is not known.
    pub(super) fn undated(&self) -> Option<Revision> {
        self.revision.filter(|_| self.at.is_none())
    }

    /// The same change, which was made between these times.
    pub(super) fn made_between(self, between: Between) -> LastChange {
        LastChange {
            at: Some(Made::Between(between.from, between.until)),
            ..self
        }
    }

    /// The same change, if the object has changed again since.
    pub(super) fn earlier(self) -> LastChange {
        LastChange {
            is_earlier: true,
            ..self
        }
    }

    /// The same change, with what two managers do with its first field.
    pub(super) fn with_fight(self, fight: Option<String>) -> LastChange {
        LastChange { fight, ..self }
    }

    /// Adds the bounds of an autoscaler to what two managers do with the scale.
    pub(super) fn add_bounds(&mut self, bounds: Option<String>) {
        if let (Some(fight), Some(bounds)) = (&mut self.fight, bounds) {
            *fight = format!("{fight} ({bounds})");
        }
    }

    /// Whether it changes a field that another change changes, too.
    pub(super) fn repeats(&self, other: &LastChange) -> bool {
        self.paths.iter().any(|path| other.paths.contains(path))
    }

    /// Whether it was certainly made after a time.
    pub(super) fn is_after(&self, time: Timestamp) -> bool {
        self.at.is_some_and(|at| at.time() > time)
    }

    /// Whether it is only the newest change of the Pod template of the failed object, which a trace of the rollout shows anyway.
    pub(crate) fn is_of_newest_template(&self) -> bool {
        self.object.is_none() && self.is_of_template && !self.is_earlier && self.fight.is_none()
    }

    /// The order among changes that are equally suspect: the minor ones come first, then the older ones. Revisions order
    /// the changes of one storage; where both have a time, it decides, because objects may have different storages.
    pub(super) fn cmp_age(&self, other: &LastChange) -> Ordering {
        let times = self.at.zip(other.at);
        let by_time = times.map_or(Ordering::Equal, |(own, other)| {
            own.time().cmp(&other.time())
        });
        (!self.is_minor)
            .cmp(&!other.is_minor)
            .then(by_time)
            .then(self.revision.cmp(&other.revision))
    }

    /// `changed 41s ago by kubectl-set: containers[web].image: web:1.0 → bad:1`. It has display text of values, and names
    /// that are not escaped.
    pub(crate) fn text(&self, now: Timestamp, arrow: &str) -> String {
        self.sentence(|made: Made| made.ago(now), &format!(" {arrow} "))
    }

    /// `is not well: changed at 2026-03-02T12:00:02Z by kubectl-set: containers[web].image: web:1.0 → bad:1`, after the name of
    /// the object in a log. An object that is well may still do less than before.
    pub(crate) fn log_text(&self, assessment: &Assessment) -> String {
        let state = if assessment.is_well() {
            "is affected"
        } else {
            "is not well"
        };
        format!("{state}: {}", self.dated_text())
    }

    /// `changed at 2026-03-02T12:00:02Z by kubectl-set: containers[web].image: web:1.0 → bad:1`: the same alone.
    pub(crate) fn dated_text(&self) -> String {
        let when = |made| match made {
            Made::At(at) => format!(" at {}", rfc3339(at)),
            Made::Between(from, Some(until)) => {
                format!(" between {} and {}", rfc3339(from), rfc3339(until))
            }
            Made::Between(from, None) => format!(" after {}", rfc3339(from)),
        };
        self.sentence(when, ARROW)
    }

    /// `changed 30s ago by config-bot`, beside the row of the object that it changed; `None` if that is another object, or
    /// if neither the time nor the manager is known.
    pub(crate) fn mark(&self, object: &ReferenceTarget, now: Timestamp) -> Option<String> {
        let is_it = self.object.as_ref().map(ReferenceTarget::of).as_ref() == Some(object);
        let word = match self.what {
            What::Changed(_) => "changed",
            What::Wrote(_) => "last written",
            What::Created => "created",
            What::Recreated(_) => "recreated",
            What::Deleted => "deleted",
        };
        let when = self.at.map_or(String::new(), |made| made.ago(now));
        let by = self.by.text();
        let is_known = !(when.is_empty() && by.is_empty());
        (is_it && is_known).then(|| format!("{word}{when}{by}"))
    }

    fn sentence(&self, when: impl Fn(Made) -> String, arrow: &str) -> String {
        let object = self.object.as_ref();
        let object = object.map_or(String::new(), |object| format!("{object} "));
        let when = self.at.map_or(String::new(), when);
        let by = self.by.text();
        let (sentence, old) = match &self.what {
            What::Changed(fields) => {
                let fields = fields.text(arrow);
                let fight = self.fight.as_ref();
                let fight = fight.map_or(String::new(), |fight| format!("; {fight}"));
                (format!("{object}changed{when}{by}: {fields}{fight}"), None)
            }
            What::Wrote(fields) => {
                let bound = if fields.is_all { "" } else { " or before" };
                let paths = fields.text();
                let sentence = format!("{object}last written{when}{bound}{by}: {paths}");
                (sentence, Some(fields.old_values().to_owned()))
            }
            What::Recreated(fields) => {
                let fields = fields.text(arrow);
                (format!("{object}recreated{when}{by}: {fields}"), None)
            }
            What::Created if self.object.is_none() => (format!("created{when}{by}"), None),
            What::Created => (format!("{object}was created{when}{by}"), None),
            What::Deleted => (format!("{object}was deleted{when}"), None),
        };
        let sign = (self.sign == Sign::None).then(|| NO_SIGN.to_owned());
        let notes = [self.by.note(), old, sign].into_iter().flatten();
        let notes: Vec<String> = notes.collect();
        if notes.is_empty() {
            sentence
        } else {
            format!("{sentence} ({})", notes.join("; "))
        }
    }

    pub(crate) fn record(&self, cluster: &str) -> LastChangeRecord {
        let object = self.object.as_ref();
        let fields = match &self.what {
            What::Changed(fields) | What::Recreated(fields) => Some(fields),
            What::Wrote(_) | What::Created | What::Deleted => None,
        };
        let written = match &self.what {
            What::Wrote(fields) => Some(fields),
            What::Changed(_) | What::Created | What::Recreated(_) | What::Deleted => None,
        };
        LastChangeRecord {
            object: object.map(|object| RefRecord::new(cluster, object)),
            time: self.at.map(|at| rfc3339_millis(at.time())),
            about: matches!(self.at, Some(Made::Between(..))),
            until: match self.at {
                Some(Made::Between(_, until)) => until.map(rfc3339_millis),
                Some(Made::At(_)) | None => None,
            },
            by: self.by.recorded(),
            created: matches!(self.what, What::Created | What::Recreated(_)),
            deleted: self.what == What::Deleted,
            changes: fields.map_or_else(Vec::new, |fields| fields.texts(ARROW)),
            written: written.map_or_else(Vec::new, |fields| fields.first.clone()),
            more: fields
                .map(|fields| fields.more)
                .or(written.map(|fields| fields.more))
                .unwrap_or(0),
            fight: self.fight.clone(),
            sign: match self.sign {
                Sign::None => SignRecord::None,
                Sign::Possible => SignRecord::Possible,
                Sign::Tied => SignRecord::Tied,
            },
        }
    }
}

/// Whether others own fields below a path. Then it is what was left of a map when they took its fields over, and who owns it
/// owns none of them.
fn is_left_over(owned: &BTreeSet<String>, path: &str) -> bool {
    ['.', '['].into_iter().any(|step| {
        let start = format!("{path}{step}");
        let below = owned.range(start.clone()..).next();
        below.is_some_and(|below| below.starts_with(&start))
    })
}

/// How soon somebody must undo a write to fight about it.
const SOON: SignedDuration = SignedDuration::from_mins(2);

impl LastChange {
    /// Whether the version before it shows that another manager had changed its first field a short time before. What created
    /// the object changed nothing.
    pub(super) fn is_contested(&self, older: &Version) -> bool {
        let change = self.paths.first().zip(self.first_write());
        let Some((path, write)) = change else {
            return false;
        };
        let Ok(doc) = older.doc() else {
            return false;
        };
        let owns = |fields: Vec<_>| {
            fields
                .iter()
                .any(|field: &OwnedField<'_>| field.path == *path)
        };
        let entries = entries(doc.root());
        let created = doc.root().time_at(&["metadata", "creationTimestamp"]);
        let mut others = entries.iter().filter(|entry| {
            let is_soon = entry.time().is_some_and(|before| {
                Some(before) > created && write.at[0].duration_since(before) <= SOON
            });
            is_soon && Some(&*entry.manager) != write.manager.as_deref()
        });
        others.any(|entry| owns(entry.owned_fields(doc.root())))
    }

    /// `kubectl had written 8`, if it takes back what another manager wrote in the change before it: the old value comes
    /// again, or a number that had grown gets less, or the other way round.
    pub(super) fn undoes(&self, before: &LastChange) -> Option<String> {
        let (What::Changed(own), What::Changed(former)) = (&self.what, &before.what) else {
            return None;
        };
        let ([own_old, own_new], [old, new]) = (own.first.first()?, former.first.first()?);
        let path = own_old.strip_suffix(&**new)?;
        let old = old.strip_prefix(path)?;
        let numbers = [old, new, own_new].map(|value| value.parse::<i64>().ok());
        let is_back = match numbers {
            [Some(old), Some(new), Some(own_new)] => (old < new) != (new < own_new),
            _ => old == own_new,
        };
        let (by, manager) = (self.by.recorded()?, before.by.recorded()?);
        let said = format!("{} had written {new}", escape_line(&manager));
        (is_back && by != manager).then_some(said)
    }

    /// The write of its first field; `None` if the old value or the time is not known.
    pub(super) fn first_write(&self) -> Option<FieldWrite> {
        let What::Changed(fields) = &self.what else {
            return None;
        };
        let [_, new] = fields.first.first()?;
        let Some(Made::At(at)) = self.at else {
            return None;
        };
        Some(FieldWrite {
            manager: self.by.recorded(),
            value: new.clone(),
            at: [at, at],
        })
    }
}
