//! `LastChange`: one change of an object: who made it, when, and what it changed.

use jiff::{SignedDuration, Timestamp};

use crate::diff::{Change, Diff, Redactor};
use crate::object::ObjectRef;
use crate::object::managed_fields::{By, ManagedFieldsEntry, Writers};
use crate::render::age::{age, rfc3339, rfc3339_millis};
use crate::render::diff::{change_in_line, most_telling_first};
use crate::render::json::RefRecord;
use crate::render::json::last_change::LastChangeRecord;
use crate::source::Version;
use crate::watch::Revision;

use super::failure_reason::{FailureReason, is_configuration};

/// How many changed fields are listed.
const FIELDS: usize = 2;

/// The arrow between two values in logs and records.
const ARROW: &str = " → ";

/// Which changes matter, and whose they are.
#[derive(Clone, Copy)]
pub(super) struct Matters<'r> {
    /// Why the failed object has failed; `None` for a change of another object.
    pub(super) own: Option<&'r FailureReason>,
    /// How far the server's clock is ahead of this machine's.
    pub(super) skew: SignedDuration,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastChange {
    /// The object; `None` if it is the failed one.
    object: Option<ObjectRef>,
    /// The field manager that made it, if the server recorded one.
    by: Option<String>,
    /// The field manager that probably made it: it owns the fields.
    probably_by: Option<String>,
    /// The revision of the version after it.
    revision: Option<Revision>,
    /// Whether it only changes the metadata of a Pod template, as a restart does.
    is_minor: bool,
    /// Whether it only changes the Pod template.
    is_of_template: bool,
    /// Whether the object has changed again since.
    is_earlier: bool,
    /// When it was made, by the clock of this machine; `None` if the server recorded no time.
    at: Option<Timestamp>,
    /// The changed fields, with old and new values; `None` for a deletion.
    fields: Option<FieldChanges>,
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
            .filter(|change| change.noise.is_none() && matters.has(&diff, change))
            .collect();
        most_telling_first(&diff, &mut changes);
        let first = changes.first()?;
        let writers = Writers::of(Some(old), Some(new));
        let (by, probably_by) = match diff.by(&writers, first) {
            Some(By::Actor(writer) | By::Took { actor: writer, .. }) => (Some(writer), None),
            Some(By::Owner(owner)) => (None, Some(owner)),
            None => (None, None),
        };
        let name = |entry: &ManagedFieldsEntry<'_>| entry.manager.clone().into_owned();
        let is_all = |part: &str| {
            let mut paths = changes
                .iter()
                .map(|change| diff.path(change.at).to_string());
            paths.all(|path| path.starts_with(part))
        };
        let at = writers.moved();
        let shown = changes.iter().take(FIELDS);
        Some(LastChange {
            object: matters
                .own
                .is_none()
                .then(|| ObjectRef::clone(&newer.object)),
            by: by.map(name),
            probably_by: probably_by.map(name),
            revision: Revision::parse(&newer.version),
            is_minor: is_all(".spec.template.metadata"),
            is_of_template: is_all(".spec.template"),
            is_earlier: false,
            at: at.map(|at| at.checked_sub(matters.skew).unwrap_or(at)),
            fields: Some(FieldChanges {
                first: shown
                    .map(|change| change_in_line(&diff, change, redactor).sides())
                    .collect(),
                more: changes.len().saturating_sub(FIELDS),
            }),
        })
    }

    /// The deletion of an object that the failed one needs.
    pub(super) fn deletion(object: &ObjectRef) -> LastChange {
        LastChange {
            object: Some(object.clone()),
            by: None,
            probably_by: None,
            revision: None,
            is_minor: false,
            is_of_template: false,
            is_earlier: false,
            at: None,
            fields: None,
        }
    }

    /// The same change, if the object has changed again since.
    pub(super) fn earlier(self) -> LastChange {
        LastChange {
            is_earlier: true,
            ..self
        }
    }

    /// Whether it is the newest change of the Pod template of the failed object.
    pub(crate) fn is_of_newest_template(&self) -> bool {
        self.object.is_none() && self.is_of_template && !self.is_earlier
    }

    /// Whether it is a deletion.
    pub(super) fn is_deletion(&self) -> bool {
        self.fields.is_none()
    }

    /// Whether it only changes the metadata of a Pod template. A restart brings out what changed before.
    pub(super) fn is_minor(&self) -> bool {
        self.is_minor
    }

    /// The order among changes that are equally suspect: the minor ones come first; then by revision.
    pub(super) fn place(&self) -> (bool, Option<Revision>) {
        (!self.is_minor, self.revision)
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
        let Some(fields) = &self.fields else {
            return format!("{object}was deleted");
        };
        let when = self.at.map(when).unwrap_or_default();
        let by = self.by.as_ref().map(|by| format!(" by {by}"));
        let probably = self.probably_by.as_ref();
        let by = by.or_else(|| probably.map(|by| format!(" probably by {by}")));
        let by = by.unwrap_or_default();
        format!("{object}changed{when}{by}: {}", fields.text(arrow))
    }

    /// The record of the change in a cluster.
    pub(crate) fn record(&self, cluster: &str) -> LastChangeRecord {
        let fields = self.fields.as_ref();
        let object = self.object.as_ref();
        LastChangeRecord {
            object: object.map(|object| RefRecord::new(cluster, object)),
            time: self.at.map(rfc3339_millis),
            by: self.by.clone(),
            deleted: fields.is_none(),
            changes: fields.map_or_else(Vec::new, |fields| fields.texts(ARROW)),
            more: fields.map_or(0, |fields| fields.more),
        }
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

impl Matters<'_> {
    fn has(self, diff: &Diff<'_>, change: &Change) -> bool {
        let path = diff.path(change.at).to_string();
        match self.own {
            Some(reason) => reason.may_come_from(&path),
            None => is_configuration(&path),
        }
    }
}
