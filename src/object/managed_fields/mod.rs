//! Reads from `metadata.managedFields` who wrote which field, as the API server stores it
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
//!
//! Times are in whole seconds. An entry keeps its time when another manager takes over one of its fields.

mod fields;
mod writers;

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use super::doc::Value;
use super::time::time;
use fields::{collect, names, names_part, names_whole};

pub use fields::{OwnedField, OwnerStep};
pub use writers::{By, Writers};

/// One entry: a manager, how it wrote, and the fields that it owns.
#[derive(Clone, Default)]
pub struct ManagedFieldsEntry<'a> {
    /// The manager's name, such as `kubectl-edit`.
    pub manager: Cow<'a, str>,
    /// `Apply` or `Update`.
    pub operation: Cow<'a, str>,
    /// The subresource that was written; empty for the object itself.
    pub subresource: Cow<'a, str>,
    /// The API version that the manager used.
    pub api_version: Cow<'a, str>,
    /// The time of the entry's last change, as text.
    written: Cow<'a, str>,
    fields: Option<Value<'a>>,
}

impl<'a> ManagedFieldsEntry<'a> {
    fn read(entry: Value<'a>) -> ManagedFieldsEntry<'a> {
        let mut read = ManagedFieldsEntry::default();
        for (name, value) in entry.fields() {
            let text = match &*name {
                "manager" => &mut read.manager,
                "operation" => &mut read.operation,
                "subresource" => &mut read.subresource,
                "apiVersion" => &mut read.api_version,
                "time" => &mut read.written,
                "fieldsV1" => {
                    read.fields = Some(value);
                    continue;
                }
                _ => continue,
            };
            *text = value.as_str().unwrap_or_default();
        }
        read
    }

    /// The time of the entry's last change.
    pub fn time(&self) -> Option<Timestamp> {
        time(&self.written)
    }

    fn same_identity(&self, other: &ManagedFieldsEntry<'_>) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && self.api_version == other.api_version
    }

    /// Whether the manager may have written since `old`, its previous entry. It may have if the entry has a new
    /// time or new fields. Fields can leave an entry with the same time, because another manager took them over, or
    /// because anyone removed them.
    fn may_have_written_since(&self, old: &ManagedFieldsEntry<'_>) -> bool {
        let same_time = self.written == old.written || self.time() == old.time();
        let same_fields = || self.fields.map(Value::raw) == old.fields.map(Value::raw);
        !same_time || !(same_fields() || within(self.fields, old.fields))
    }

    fn has_lost_fields_since(&self, old: &ManagedFieldsEntry<'_>) -> bool {
        within(self.fields, old.fields) && !within(old.fields, self.fields)
    }

    /// Whether the entry owns the field at the end of `path`, or a field inside it.
    pub fn owns(&self, path: &[OwnerStep<'_>]) -> bool {
        self.names(path).is_some()
    }

    /// Whether the entry owns the value at the end of `path` as a whole. Whoever removes a part of such a value sets
    /// it.
    pub fn owns_whole(&self, path: &[OwnerStep<'_>]) -> bool {
        self.fields.is_some_and(|fields| names_whole(fields, path))
    }

    /// Whether the entry owns a part of the value at the end of `path`.
    fn owns_part(&self, path: &[OwnerStep<'_>]) -> bool {
        self.fields.is_some_and(|fields| names_part(fields, path))
    }

    /// Whether the entry owns the value at the end of `path` itself, not as a part of another value.
    pub fn owns_exactly(&self, path: &[OwnerStep<'_>]) -> bool {
        self.names(path) == Some(path.len())
    }

    /// Whether the entry owns a field of the object other than these, which are at its top.
    pub fn owns_beyond(&self, names: &[&str]) -> bool {
        let is_one = |key: &str| names.iter().any(|name| fields::is_field(key, name));
        let fields = self.fields.into_iter().flat_map(Value::written_fields);
        let mut others = fields.filter(|(key, _)| *key != fields::WHOLE && !is_one(key));
        others.next().is_some()
    }

    /// Whether the manager wrote with server-side apply.
    pub fn is_apply(&self) -> bool {
        self.operation == "Apply"
    }

    /// How many steps of `path` the entry names, if it owns the field at the end.
    fn names(&self, path: &[OwnerStep<'_>]) -> Option<usize> {
        names(self.fields?, path)
    }
}

/// The entries of an object, except those without a manager's name.
pub fn entries(object: Value<'_>) -> Vec<ManagedFieldsEntry<'_>> {
    let mut entries = Vec::new();
    for entry in object.items_at(&["metadata", "managedFields"]) {
        let entry = ManagedFieldsEntry::read(entry);
        if !entry.manager.is_empty() {
            entries.push(entry);
        }
    }
    entries
}

/// Whether the server knows the writers of an object, and none of them wrote this field of it or a part of the field. So it
/// is a default of the kind's definition.
pub fn is_default(object: Value<'_>, field: &str) -> bool {
    let path = [OwnerStep::Field(field.into())];
    let entries = entries(object);
    let wrote = |entry: &ManagedFieldsEntry<'_>| entry.subresource == field || entry.owns(&path);
    !entries.is_empty() && !entries.iter().any(wrote)
}

/// The time at which the deletion of an object was requested. A deletion has no entry, and `deletionTimestamp`
/// lies in the future by the grace period
/// (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/>).
fn deletion(object: Value<'_>) -> Option<Timestamp> {
    let end = object.time_at(&["metadata", "deletionTimestamp"])?;
    let grace = object.at(&["metadata", "deletionGracePeriodSeconds"]);
    let grace = grace.and_then(|grace| grace.raw().parse().ok());
    end.checked_sub(SignedDuration::from_secs(grace.unwrap_or(0)))
        .ok()
}

/// Whether a set of fields is a subset of another.
fn within(set: Option<Value<'_>>, other: Option<Value<'_>>) -> bool {
    match (set, other) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(set), Some(other)) => set.fields().all(|(name, own)| {
            other
                .get(&name)
                .is_some_and(|theirs| within(Some(own), Some(theirs)))
        }),
    }
}

/// The newest time in the entries of an object, or the request to delete it if that is later. Clients can send any
/// time.
pub fn newest_time(object: Value<'_>) -> Option<Timestamp> {
    let entries = entries(object);
    let newest = entries.iter().filter_map(ManagedFieldsEntry::time).max();
    newest.max(deletion(object))
}

impl ManagedFieldsEntry<'_> {
    /// The fields of its object that the entry owns, without the maps and lists around them.
    pub fn owned_fields<'a>(&self, object: Value<'a>) -> Vec<OwnedField<'a>> {
        let mut owned = Vec::new();
        if let Some(fields) = self.fields {
            collect(fields, Some(object), &mut String::new(), &mut owned);
        }
        owned
    }
}
