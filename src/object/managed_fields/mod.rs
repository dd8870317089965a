//! Who wrote which field: `metadata.managedFields`, read as the API server keeps it
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management>).
//!
//! Times have seconds, and an entry's time does not move when another manager takes a field over.

mod key;
mod owner;

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use super::path::Side;
use super::time::time;
use super::value::Value;

pub use owner::OwnerStep;
use owner::names;

/// One entry: a manager, how it wrote, and what it owns.
#[derive(Clone, Default)]
pub struct ManagedFieldsEntry<'a> {
    /// The manager's name, `kubectl-edit` say.
    pub manager: Cow<'a, str>,
    /// `Apply` or `Update`.
    pub operation: Cow<'a, str>,
    /// The subresource it wrote through; empty for the object itself.
    pub subresource: Cow<'a, str>,
    /// The version of the API it wrote in.
    pub api_version: Cow<'a, str>,
    /// When the entry was last changed, as it is written.
    written: Cow<'a, str>,
    fields: Option<Value<'a>>,
}

/// Who is behind a change of a field.
#[derive(Clone, Copy)]
pub enum By<'w, 'a> {
    /// One who wrote in this version owns the field.
    Actor(&'w ManagedFieldsEntry<'a>),
    /// One who wrote in this version removed it; another had owned it until then.
    Took {
        /// Who removed it.
        actor: &'w ManagedFieldsEntry<'a>,
        /// Whose it was.
        was: &'w ManagedFieldsEntry<'a>,
    },
    /// Nobody is known to have written now; this is who owns the field.
    Owner(&'w ManagedFieldsEntry<'a>),
}

/// The managers of two successive versions of an object.
pub struct Writers<'a> {
    old: Vec<ManagedFieldsEntry<'a>>,
    new: Vec<ManagedFieldsEntry<'a>>,
    /// Which of `new` are new or changed, the latest first.
    actors: Vec<usize>,
    /// The latest time that came with the version.
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

    /// When the entry was last changed.
    pub fn time(&self) -> Option<Timestamp> {
        time(&self.written)
    }

    fn same_identity(&self, other: &ManagedFieldsEntry<'_>) -> bool {
        self.manager == other.manager
            && self.operation == other.operation
            && self.subresource == other.subresource
            && self.api_version == other.api_version
    }

    /// Whether the manager has written since `old`, its entry before: then the time has moved, or fields have
    /// come. Fields that go while the time stands may have been taken by somebody else, or removed by anybody.
    fn has_written_since(&self, old: &ManagedFieldsEntry<'_>) -> bool {
        let same_time = self.written == old.written || self.time() == old.time();
        let same_fields = || self.fields.map(Value::raw) == old.fields.map(Value::raw);
        !same_time || !(same_fields() || within(self.fields, old.fields))
    }

    /// Whether the entry owns the field at the end of `path`, or something inside it.
    pub fn owns(&self, path: &[OwnerStep<'_>]) -> bool {
        self.names(path).is_some()
    }

    /// How many steps of `path` the entry names, if it owns what is at its end.
    fn names(&self, path: &[OwnerStep<'_>]) -> Option<usize> {
        names(self.fields?, path)
    }
}

/// The entries of an object, those without a manager's name left out.
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

/// When the deletion of an object was asked for: it has no entry, and its time stands as much ahead as the
/// object has to end (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/>).
fn deletion(object: Value<'_>) -> Option<Timestamp> {
    let end = time(&object.str_at(&["metadata", "deletionTimestamp"])?)?;
    let grace = object.at(&["metadata", "deletionGracePeriodSeconds"]);
    let grace = grace.and_then(|grace| grace.raw().parse().ok());
    end.checked_sub(SignedDuration::from_secs(grace.unwrap_or(0)))
        .ok()
}

/// The first of the entries that name most of a path. An entry whose fields inside a
/// map others have taken over is left with the map, and owns no more of it than is nobody's.
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

/// Whether a set of fields lies within another.
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
    /// Reads the managers of both versions. Where there is only the new one, all of its managers
    /// have acted; where there is only the old one, none has.
    pub fn of(old: Option<Value<'a>>, new: Option<Value<'a>>) -> Writers<'a> {
        let before = old.and_then(deletion);
        let deletion = new.and_then(deletion).filter(|at| before != Some(*at));
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

    /// The entries that are new, or whose time moved or fields grew, the latest first.
    pub fn actors(&self) -> impl Iterator<Item = &ManagedFieldsEntry<'a>> {
        self.actors.iter().map(|&at| &self.new[at])
    }

    /// When the version was written, by the server's clock, where it says so itself: the latest time that
    /// moved, that of the deletion included. A write that only removes fields moves none
    /// (<https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/managedfieldsupdater.go>),
    /// nor does one that nobody is recorded for, such as the binding of a Pod.
    pub fn moved(&self) -> Option<Timestamp> {
        self.moved
    }

    /// [`Writers::moved`], else the latest time in the object: the version was not written before that.
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

    /// Whether there is an entry that does not say when it was changed, such as that of a scale
    /// (<https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go>).
    pub fn has_undated(&self) -> bool {
        self.new.iter().any(|entry| entry.time().is_none())
    }

    /// Who is behind the change of the field at `path`, which is there on `side` last. The path is
    /// that of the same side.
    pub fn by(&self, side: Side, path: &[OwnerStep<'_>]) -> Option<By<'_, 'a>> {
        match side {
            Side::New => self.by_now(path),
            Side::Old => {
                let was = nearest(self.old.iter(), path)?;
                match self.actors().next() {
                    // The owner itself let go of the field.
                    Some(_) if self.actors().any(|actor| actor.same_identity(was)) => {
                        Some(By::Actor(was))
                    }
                    Some(actor) => Some(By::Took { actor, was }),
                    None => Some(By::Owner(was)),
                }
            }
        }
    }

    /// Who is behind the change of a field that is there: whose it is, of several one who wrote.
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
