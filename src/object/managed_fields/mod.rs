//! Reads from `metadata.managedFields` who wrote which field, as the API server stores it
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
//!
//! Times are in whole seconds. An entry keeps its time when another manager takes over one of its fields.

mod key;
mod owner;

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use super::path::Side;
use super::time::time;
use super::value::Value;

pub use owner::OwnerStep;
use owner::names;

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

/// Who changed a field.
#[derive(Clone, Copy)]
pub enum By<'w, 'a> {
    /// A manager that wrote this version, and owns the field.
    Actor(&'w ManagedFieldsEntry<'a>),
    /// A manager that wrote this version removed the field, which another manager owned before.
    Took {
        /// The manager that removed it.
        actor: &'w ManagedFieldsEntry<'a>,
        /// The manager that owned it.
        was: &'w ManagedFieldsEntry<'a>,
    },
    /// No recorded manager wrote this version. This manager owns the field, or owned a field that is gone.
    Owner(&'w ManagedFieldsEntry<'a>),
}

/// The managers of two successive versions of an object.
pub struct Writers<'a> {
    old: Vec<ManagedFieldsEntry<'a>>,
    new: Vec<ManagedFieldsEntry<'a>>,
    /// The indices of the entries in `new` that are new or changed, the latest first.
    actors: Vec<usize>,
    /// The latest time among the changes of this version.
    moved: Option<Timestamp>,
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

    /// Whether the manager has written since `old`, its previous entry. It has if the entry has a new time or new
    /// fields. Fields can leave an entry with the same time, because another manager took them over, or because
    /// anyone removed them.
    fn has_written_since(&self, old: &ManagedFieldsEntry<'_>) -> bool {
        let same_time = self.written == old.written || self.time() == old.time();
        let same_fields = || self.fields.map(Value::raw) == old.fields.map(Value::raw);
        !same_time || !(same_fields() || within(self.fields, old.fields))
    }

    /// Whether the entry owns the field at the end of `path`, or a field inside it.
    pub fn owns(&self, path: &[OwnerStep<'_>]) -> bool {
        self.names(path).is_some()
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

/// The first entry that names the most steps of a path. When other managers have taken over all of its fields
/// inside a map, an entry keeps the empty map. It then owns only the fields of the map that have no other owner.
fn nearest<'w, 'a: 'w>(
    entries: impl Iterator<Item = &'w ManagedFieldsEntry<'a>>,
    path: &[OwnerStep<'_>],
) -> Option<&'w ManagedFieldsEntry<'a>> {
    let mut found: Option<(&ManagedFieldsEntry<'_>, usize)> = None;
    for entry in entries {
        match entry.names(path) {
            Some(steps) if steps == path.len() => return Some(entry),
            Some(steps) if found.is_none_or(|(_, most)| steps > most) => {
                found = Some((entry, steps));
            }
            Some(_) | None => {}
        }
    }
    found.map(|(entry, _)| entry)
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

impl<'a> Writers<'a> {
    /// Reads the managers of both versions. If there is only the new version, all of its managers are actors. If
    /// there is only the old one, none is.
    pub fn of(old: Option<Value<'a>>, new: Option<Value<'a>>) -> Writers<'a> {
        let is_new = |at: &Timestamp| old.and_then(deletion) != Some(*at);
        let deletion = new.and_then(deletion).filter(is_new);
        let old = old.map(entries).unwrap_or_default();
        let new = new.map(entries).unwrap_or_default();
        let has_written = |entry: &ManagedFieldsEntry<'_>| {
            let before = old.iter().find(|before| before.same_identity(entry));
            before.is_none_or(|before| entry.has_written_since(before))
        };
        let mut actors: Vec<usize> = (0..new.len()).filter(|&at| has_written(&new[at])).collect();
        let moved = actors.iter().filter_map(|&at| new[at].time()).max();
        actors.sort_by_cached_key(|&at| std::cmp::Reverse(new[at].time()));
        Writers {
            old,
            new,
            actors,
            moved: moved.max(deletion),
        }
    }

    /// The entries that are new, have a new time or have new fields, the latest first.
    pub fn actors(&self) -> impl Iterator<Item = &ManagedFieldsEntry<'a>> {
        self.actors.iter().map(|&at| &self.new[at])
    }

    /// The time at which this version was written, by the server's clock, as far as the object contains it. It is
    /// the latest new time, that of a deletion included. A write that only removes fields changes no time
    /// (<https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/managedfieldsupdater.go>).
    /// Neither does a write without a recorded manager, such as the binding of a Pod.
    pub fn moved(&self) -> Option<Timestamp> {
        self.moved
    }

    /// [`Writers::moved`], or else the latest time in the object. The version was not written before it.
    pub fn time(&self) -> Option<Timestamp> {
        self.moved.or_else(|| {
            let all = if self.new.is_empty() {
                &self.old
            } else {
                &self.new
            };
            all.iter().filter_map(ManagedFieldsEntry::time).max()
        })
    }

    /// Whether an entry has no time, such as that of the scale subresource
    /// (<https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go>).
    pub fn has_undated(&self) -> bool {
        self.new.iter().any(|entry| entry.time().is_none())
    }

    /// Who changed the field at `path`. `side` is the last version that has the field, and `path` belongs to that
    /// version.
    pub fn by(&self, side: Side, path: &[OwnerStep<'_>]) -> Option<By<'_, 'a>> {
        match side {
            Side::New => self.by_now(path),
            Side::Old => {
                let was = nearest(self.old.iter(), path)?;
                match self.actors().next() {
                    // The owner removed the field itself.
                    Some(_) if self.actors().any(|actor| actor.same_identity(was)) => {
                        Some(By::Actor(was))
                    }
                    Some(actor) => Some(By::Took { actor, was }),
                    // An apply by the owner would have moved the time of its entry.
                    None if was.operation == "Apply" => None,
                    None => Some(By::Owner(was)),
                }
            }
        }
    }

    /// Who changed a field that exists: its owner. Of several owners, one that wrote this version.
    fn by_now(&self, path: &[OwnerStep<'_>]) -> Option<By<'_, 'a>> {
        let others = (0..self.new.len()).filter(|at| !self.actors.contains(at));
        let all = self.actors.iter().copied().chain(others);
        let found = nearest(all.map(|at| &self.new[at]), path)?;
        let is_actor = self.actors().any(|actor| std::ptr::eq(actor, found));
        Some(if is_actor {
            By::Actor(found)
        } else {
            By::Owner(found)
        })
    }
}
