//! `LastChange`: one change of an object: who made it, when, and what it changed.

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::diff::{Change, Diff, Redactor};
use crate::object::ObjectRef;
use crate::object::managed_fields::Writers;
use crate::render::age::{age, rfc3339, rfc3339_millis};
use crate::render::diff::{change_in_line, most_telling_first};
use crate::render::json::RefRecord;
use crate::render::json::last_change::LastChangeRecord;
use crate::source::Version;
use crate::watch::Revision;

use super::changed_by::ChangedBy;
use super::fields::Matters;

/// How many changed fields are listed.
const FIELDS: usize = 2;

/// The arrow between two values in logs and records.
const ARROW: &str = " → ";

/// A change of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastChange {
    /// The object; `None` if it is the failed one.
    object: Option<ObjectRef>,
    by: ChangedBy,
    /// The revision of the version after it.
    revision: Option<Revision>,
    /// Whether it only changes the metadata of a Pod template, as a restart does.
    is_minor: bool,
    /// Whether it only changes the Pod template.
    is_of_template: bool,
    /// Whether the object has changed again since.
    is_earlier: bool,
    /// The paths of all changed fields.
    paths: Vec<String>,
    /// When it was made, by the clock of this machine; `None` if that is not known.
    at: Option<Made>,
    what: What,
}

/// When a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// The server recorded this time.
    At(Timestamp),
    /// Other writes, some seconds before and after it, have recorded times.
    About(Timestamp),
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// It changed fields.
    Changed(FieldChanges),
    /// It created the object.
    Created,
    /// It deleted the object.
    Deleted,
}

/// The fields that a change changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldChanges {
    /// The first few, with the arrow between the values left open.
    first: Vec<[String; 2]>,
    /// How many more there are.
    more: usize,
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
        let shown = changes.iter().take(FIELDS);
        Some(LastChange {
            object: (!matters.is_own).then(|| ObjectRef::clone(&newer.object)),
            by,
            revision: Revision::parse(&newer.version),
            is_minor: is_all(".spec.template.metadata"),
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
        })
    }

    /// The creation of an object in its first version. Of the failed object it counts only if that is a workload: what
    /// created others has often nothing to do with their failure.
    pub(super) fn creation(first: &Version, matters: Matters<'_>) -> Option<LastChange> {
        let doc = first.doc().ok()?;
        let mut templates = ["template", "jobTemplate"].into_iter();
        let is_workload = templates.any(|part| doc.root().at(&["spec", part]).is_some());
        if matters.is_own && !is_workload {
            return None;
        }
        let created = doc.root().time_at(&["metadata", "creationTimestamp"])?;
        let writers = Writers::of(None, Some(doc.root()));
        let creator = writers.actors().next()?;
        Some(LastChange {
            object: (!matters.is_own).then(|| ObjectRef::clone(&first.object)),
            by: ChangedBy::Recorded(creator.manager.to_string()),
            revision: Revision::parse(&first.version),
            at: Some(Made::At(created)),
            ..LastChange::of(What::Created)
        })
    }

    /// The deletion at this revision of an object that the failed one needs.
    pub(super) fn deletion(object: &ObjectRef, revision: Revision) -> LastChange {
        LastChange {
            object: Some(object.clone()),
            revision: Some(revision),
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
            what,
        }
    }

    /// The revision of a change whose time is not known.
    pub(super) fn undated(&self) -> Option<Revision> {
        self.revision.filter(|_| self.at.is_none())
    }

    /// The same change, which was made at about this time.
    pub(super) fn made_about(self, at: Timestamp) -> LastChange {
        LastChange {
            at: Some(Made::About(at)),
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

    /// Whether it changes a field that another change changes, too.
    pub(super) fn repeats(&self, other: &LastChange) -> bool {
        self.paths.iter().any(|path| other.paths.contains(path))
    }

    /// Whether it was certainly made after a time.
    pub(super) fn is_after(&self, time: Timestamp) -> bool {
        self.at.is_some_and(|at| at.time() > time)
    }

    /// Whether it is the newest change of the Pod template of the failed object.
    pub(crate) fn is_of_newest_template(&self) -> bool {
        self.object.is_none() && self.is_of_template && !self.is_earlier
    }

    /// Whether it is a deletion.
    pub(super) fn is_deletion(&self) -> bool {
        self.what == What::Deleted
    }

    /// Whether it only changes the metadata of a Pod template. A restart brings out what changed before.
    pub(super) fn is_minor(&self) -> bool {
        self.is_minor
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
        let when = |at| format!(" {} ago", age(at, now));
        self.sentence(when, &format!(" {arrow} "))
    }

    /// `changed at 2026-03-02T12:00:02Z by kubectl-set: containers[web].image: web:1.0 → bad:1`, for a log.
    pub(crate) fn log_text(&self) -> String {
        self.sentence(|at| format!(" at {}", rfc3339(at)), ARROW)
    }

    fn sentence(&self, when: impl Fn(Timestamp) -> String, arrow: &str) -> String {
        let object = self.object.as_ref();
        let object = object.map_or(String::new(), |object| format!("{object} "));
        let when = match self.at {
            Some(Made::At(at)) => when(at),
            Some(Made::About(at)) => format!(" about{}", when(at)),
            None => String::new(),
        };
        let (by, was) = self.by.texts();
        match &self.what {
            What::Changed(fields) => {
                let fields = fields.text(arrow);
                format!("{object}changed{when}{by}: {fields}{was}")
            }
            What::Created if self.object.is_none() => format!("created{when}{by}"),
            What::Created => format!("{object}was created{when}{by}"),
            What::Deleted => format!("{object}was deleted{when}"),
        }
    }

    /// The record of the change in a cluster.
    pub(crate) fn record(&self, cluster: &str) -> LastChangeRecord {
        let object = self.object.as_ref();
        let fields = match &self.what {
            What::Changed(fields) => Some(fields),
            What::Created | What::Deleted => None,
        };
        LastChangeRecord {
            object: object.map(|object| RefRecord::new(cluster, object)),
            time: self.at.map(|at| rfc3339_millis(at.time())),
            about: matches!(self.at, Some(Made::About(_))),
            by: self.by.recorded(),
            created: self.what == What::Created,
            deleted: self.what == What::Deleted,
            changes: fields.map_or_else(Vec::new, |fields| fields.texts(ARROW)),
            more: fields.map_or(0, |fields| fields.more),
        }
    }
}

impl Made {
    fn time(self) -> Timestamp {
        let (Made::At(time) | Made::About(time)) = self;
        time
    }
}

impl FieldChanges {
    fn texts(&self, arrow: &str) -> Vec<String> {
        self.first.iter().map(|parts| parts.join(arrow)).collect()
    }

    fn text(&self, arrow: &str) -> String {
        let first = self.texts(arrow);
        let more = match self.more {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        format!("{}{more}", first.join(", "))
    }
}
