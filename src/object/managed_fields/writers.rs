//! `Writers`: who wrote the newer of two versions, and who changed each field.

use jiff::{SignedDuration, Timestamp};

use super::{ManagedFieldsEntry, OwnerStep, deletion, entries};
use crate::object::doc::Value;
use crate::object::path::Side;

/// The managers of two successive versions of an object.
///
/// An entry alone proves nothing: a client can send any `managedFields`, and `kubectl replace` of a dump sends old ones.
/// But the server itself makes the writer the owner of each value that it sets, takes the value from all others,
/// and stores the time of the write in that entry
/// (<https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/managedfieldsupdater.go>).
/// [`Diff::writers`](crate::diff::Diff::writers) therefore keeps only the entries that own what changed.
pub struct Writers<'a> {
    old: Vec<ManagedFieldsEntry<'a>>,
    new: Vec<ManagedFieldsEntry<'a>>,
    /// The indices of the entries in `new` that wrote this version, the latest first.
    actors: Vec<usize>,
    /// When the server received the request to delete the object, if this version is the first that shows it.
    deletion: Option<Timestamp>,
    /// Whether one write leads from the old version to the new.
    is_one_write: bool,
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
    /// No entry shows who wrote this version, and this manager owns the new value. Usually it wrote twice in one
    /// second.
    Owner(&'w ManagedFieldsEntry<'a>),
    /// No entry shows who removed the field. This manager owned it.
    Was(&'w ManagedFieldsEntry<'a>),
}

impl By<'_, '_> {
    /// The manager that made the change; `None` if no entry shows who did.
    pub fn writer(self) -> Option<String> {
        match self {
            By::Actor(actor) | By::Took { actor, .. } => Some(actor.manager.to_string()),
            By::Owner(_) | By::Was(_) => None,
        }
    }
}

impl<'a> Writers<'a> {
    /// Reads the managers of both versions. The actors are the entries that are new or changed; if there is only the
    /// new version, that of its creator; if there is only the old one, none.
    pub fn of(old: Option<Value<'a>>, new: Option<Value<'a>>) -> Writers<'a> {
        let is_new = |at: &Timestamp| old.and_then(deletion) != Some(*at);
        let deletion = new.and_then(deletion).filter(is_new);
        let root = new.filter(|_| old.is_none());
        let old = old.map(entries).unwrap_or_default();
        let new = new.map(entries).unwrap_or_default();
        let may_have_written = |entry: &ManagedFieldsEntry<'_>| {
            let before = old.iter().find(|before| before.same_identity(entry));
            before.is_none_or(|before| entry.may_have_written_since(before))
        };
        let mut actors: Vec<usize> = match root {
            Some(root) => creators(root, &new),
            None => (0..new.len())
                .filter(|&at| new[at].manager != BEFORE_FIRST_APPLY && may_have_written(&new[at]))
                .collect(),
        };
        actors.sort_by_cached_key(|&at| std::cmp::Reverse(new[at].time()));
        Writers {
            old,
            new,
            actors,
            deletion,
            is_one_write: true,
        }
    }

    /// Keeps only the actors that wrote. `wrote` gets the place of an actor among [`Writers::actors`], and its entry.
    pub fn retain(&mut self, wrote: impl Fn(usize, &ManagedFieldsEntry<'a>) -> bool) {
        let Writers { new, actors, .. } = self;
        let mut place = 0..;
        actors.retain(|&at| place.next().is_some_and(|place| wrote(place, &new[at])));
    }

    /// The places of the actors whose entries have lost fields and gained none.
    pub fn shrunk(&self) -> Vec<usize> {
        let has_shrunk = |actor: &ManagedFieldsEntry<'a>| {
            let before = self.old.iter().find(|before| before.same_identity(actor));
            before.is_some_and(|before| actor.has_lost_fields_since(before))
        };
        let actors = self.actors().enumerate();
        let shrunk = actors.filter(|(_, actor)| has_shrunk(actor));
        shrunk.map(|(at, _)| at).collect()
    }

    /// The same managers without the actors that wrote after `now`, by the server's clock: only a client sends such times.
    #[must_use]
    pub fn up_to(mut self, now: Timestamp) -> Writers<'a> {
        self.retain(|_, actor| {
            let time = actor.time();
            time.is_none_or(|time| time.duration_since(now) <= SKEW)
        });
        self
    }

    /// Whether any manager of either version owns a part of the value at `path`. Nobody then owns it as a whole: an entry
    /// that has lost all of its parts only looks so.
    pub fn own_parts(&self, path: &[OwnerStep<'_>]) -> bool {
        let mut all = self.old.iter().chain(&self.new);
        all.any(|entry| entry.owns_part(path))
    }

    /// The same managers, if versions may be missing between the two. An actor then need not have made each change.
    #[must_use]
    pub fn of_several_writes(self) -> Writers<'a> {
        Writers {
            is_one_write: false,
            ..self
        }
    }

    /// The entries that wrote this version, the latest first.
    pub fn actors(&self) -> impl Iterator<Item = &ManagedFieldsEntry<'a>> {
        self.actors.iter().map(|&at| &self.new[at])
    }

    /// The time at which this version was written, by the server's clock, as far as the object contains it: that of the
    /// request to delete it, or the latest of an actor. A write that only removes fields changes no time. Neither does a
    /// write without a recorded manager, such as the binding of a Pod.
    pub fn moved(&self) -> Option<Timestamp> {
        let latest = || self.actors().filter_map(ManagedFieldsEntry::time).max();
        self.deletion.or_else(latest)
    }

    /// The newest time in the entries of the new version.
    pub fn newest(&self) -> Option<Timestamp> {
        self.new.iter().filter_map(ManagedFieldsEntry::time).max()
    }

    /// The newest time in the entries of the old version.
    pub fn newest_before(&self) -> Option<Timestamp> {
        self.old.iter().filter_map(ManagedFieldsEntry::time).max()
    }

    /// Who changed the field at `path`. `side` is the last version that has the field, and `path` belongs to that
    /// version.
    pub fn by(&self, side: Side, path: &[OwnerStep<'_>]) -> Option<By<'_, 'a>> {
        match side {
            Side::New => self.by_now(path),
            Side::Old => {
                let was = nearest(self.old.iter(), path);
                let actor = self.actors().next().filter(|_| self.is_one_write);
                match (actor, was) {
                    (Some(actor), Some(was)) if actor.same_identity(was) => Some(By::Actor(actor)),
                    (Some(actor), Some(was)) => Some(By::Took { actor, was }),
                    (Some(_), None) => None,
                    (None, was) => was.map(By::Was),
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

/// The name that the server gives to all unknown managers, when an object without entries is applied for the first time
/// (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply>).
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// How far the clocks of the API servers may differ.
const SKEW: SignedDuration = SignedDuration::from_secs(2);

/// The longest time between the entry of a creator and the creation: admission webhooks run in between
/// (<https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#timeouts>).
const ADMISSION: SignedDuration = SignedDuration::from_secs(30);

/// The entry of the manager that created an object. The server itself sets `creationTimestamp`.
fn creators(object: Value<'_>, entries: &[ManagedFieldsEntry<'_>]) -> Vec<usize> {
    let created = object.time_at(&["metadata", "creationTimestamp"]);
    let is_creation = |written: Timestamp| {
        created.is_none_or(|created| {
            let ahead = created.duration_since(written);
            (SignedDuration::from_secs(-1)..=ADMISSION).contains(&ahead)
        })
    };
    let of_object = (0..entries.len()).filter(|at| entries[*at].subresource.is_empty());
    let dated = of_object.filter_map(|at| Some((entries[at].time()?, at)));
    let creator = dated.filter(|(written, _)| is_creation(*written));
    creator.max().map(|(_, at)| at).into_iter().collect()
}

/// The first entry that names the most steps of a path. When other managers have taken over all of its fields
/// inside a map, an entry keeps the empty map.
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
