//! The store of a source: the last version of each object, by uid and by name. It does no IO: it takes versions
//! and returns changes.

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use rustc_hash::{FxHashMap, FxHashSet};

use super::envelope::WatchVerb;
use super::revision::Revision;
use crate::object::{NamespacedName, ObjectRef, ResourceVersion, Uid};
use crate::source::{Packer, Version, Why};

/// How many deletions are remembered, to recognise replayed events of deleted objects.
const TOMBSTONES: usize = 1024;

/// Objects are kept packed if there are more than these: kubectl's chunk size, from which on a listing has pages.
const MANY: usize = 500;

/// The objects of a source at a version. A source that starts with them does not list, but watches from that version. The
/// server then sends what happened since, or the source lists and reads back what it missed.
#[derive(Clone, Debug)]
pub struct KnownState {
    /// The version.
    pub version: ResourceVersion,
    /// The last time at which this was so.
    pub at: Timestamp,
    /// The objects, and when each arrived.
    pub objects: Vec<(Arc<Version>, Timestamp)>,
}

#[derive(Clone, Debug)]
pub(super) struct StoreChange {
    pub(super) why: Why,
    pub(super) now: Arc<Version>,
    pub(super) prev: Option<Arc<Version>>,
}

impl StoreChange {
    /// The change for an object that is missing from a listing.
    pub(super) fn vanished(had: Arc<Version>) -> StoreChange {
        StoreChange {
            why: Why::Vanished,
            now: had.clone(),
            prev: Some(had),
        }
    }
}

/// A version, and the time when it arrived.
#[derive(Clone, Debug)]
pub(super) struct HeldVersion {
    pub(super) version: Arc<Version>,
    pub(super) seen: Timestamp,
}

/// Whether a listing belongs to the same history as the versions in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continuity {
    Continued,
    /// The server was restored from a backup and has written other versions since. One resourceVersion may stand
    /// for two states of an object.
    Restored,
}

/// A complete listing, in the server's order.
#[derive(Debug)]
pub(super) struct FullListing {
    pub(super) version: ResourceVersion,
    pub(super) continuity: Continuity,
    pub(super) objects: Vec<Arc<Version>>,
    /// The packer of its objects, if the listing is so long that objects are kept packed.
    pub(super) packer: Option<Packer>,
}

/// An object, compared by namespace and name only.
#[derive(Debug)]
struct ByName(Arc<ObjectRef>);

impl Ord for ByName {
    fn cmp(&self, other: &ByName) -> Ordering {
        let by_namespace = self.0.namespace.cmp(&other.0.namespace);
        by_namespace.then_with(|| self.0.name.cmp(&other.0.name))
    }
}

impl PartialOrd for ByName {
    fn partial_cmp(&self, other: &ByName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &ByName) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByName {}

/// The last versions of a source's objects.
#[derive(Debug, Default)]
pub(super) struct ObjectStore {
    by_uid: FxHashMap<Uid, HeldVersion>,
    by_name: BTreeSet<ByName>,
    /// The version of the last listing. A watch from it sends nothing older.
    floor: Option<ResourceVersion>,
    gone: FxHashMap<Uid, ResourceVersion>,
    gone_order: VecDeque<Uid>,
    /// Packs the versions to keep, if the last listing was long. Changes carry the versions unpacked.
    packer: Option<Packer>,
}

impl ObjectStore {
    pub(super) fn get(&self, uid: &Uid) -> Option<&HeldVersion> {
        self.by_uid.get(uid)
    }

    pub(super) fn len(&self) -> usize {
        self.by_uid.len()
    }

    /// All objects, sorted by namespace and name.
    pub(super) fn iter(&self) -> impl Iterator<Item = &HeldVersion> {
        self.by_name
            .iter()
            .filter_map(|named| self.by_uid.get(&named.0.identity()))
    }

    /// The object with this namespace and name.
    pub(super) fn named(&self, object: ObjectRef) -> Option<&HeldVersion> {
        let named = self.by_name.get(&ByName(Arc::new(object)))?;
        self.by_uid.get(&named.0.identity())
    }

    pub(super) fn same(&self, version: &Version, continuity: Continuity) -> Option<&Arc<Version>> {
        let held = &self.by_uid.get(&version.object.identity())?.version;
        let is_same = match continuity {
            // Without resourceVersions, the texts decide.
            Continuity::Continued => {
                held.version == version.version
                    && (!version.version.as_str().is_empty() || held.body == version.body)
            }
            Continuity::Restored => held.version == version.version && held.body == version.body,
        };
        is_same.then_some(held)
    }

    /// Whether an event arrived before: servers may send events again when a watch resumes.
    pub(super) fn was_seen(&self, verb: WatchVerb, version: &Version) -> bool {
        let uid = version.object.identity();
        let new = &version.version;
        match (self.by_uid.get(&uid), verb) {
            (Some(held), WatchVerb::Deleted) => is_older(new, &held.version.version),
            (Some(held), WatchVerb::Added | WatchVerb::Modified) => {
                reached(&held.version.version, new)
            }
            (None, _) => [self.gone.get(&uid), self.floor.as_ref()]
                .into_iter()
                .flatten()
                .any(|known| reached(known, new)),
        }
    }

    /// Takes in the version of an `ADDED` or `MODIFIED` event.
    pub(super) fn put(
        &mut self,
        verb: WatchVerb,
        now: Arc<Version>,
        seen: Timestamp,
    ) -> Vec<StoreChange> {
        let now = self.with_shared_name(now);
        let uid = now.object.identity();
        let mut changes = Vec::with_capacity(1);
        if let Some(ByName(old)) = self.by_name.get(&ByName(now.object.clone()))
            && old.identity() != uid
        {
            let old = old.identity();
            changes.extend(self.vanish(&old, now.version.clone()));
        }
        let kept = self.kept(&uid, &now);
        let now = now.with_packed(&kept);
        let prev = self.insert(uid, kept, seen);
        let why = match (&prev, verb) {
            (None, _) => Why::Added,
            (Some(_), WatchVerb::Modified) => Why::Modified,
            // The object must have been deleted or have left the selector in between, unseen.
            (Some(_), WatchVerb::Added | WatchVerb::Deleted) => Why::Skipped,
        };
        changes.push(StoreChange { why, now, prev });
        changes
    }

    /// Takes in the last state of an object that was deleted or no longer matches.
    pub(super) fn remove(&mut self, why: Why, now: Arc<Version>) -> StoreChange {
        let uid = now.object.identity();
        let prev = self.drop_uid(&uid, now.version.clone());
        StoreChange { why, now, prev }
    }

    /// Replaces all objects by a listing, and returns the changes. Vanished objects come first.
    pub(super) fn swap(&mut self, listing: FullListing, seen: Timestamp) -> Vec<StoreChange> {
        let continuity = listing.continuity;
        if continuity == Continuity::Restored {
            // The tombstones carry versions of the lost history: they would hide new events.
            self.gone.clear();
            self.gone_order.clear();
        }
        let listed = last_of_each(listing.objects);
        let uids: FxHashSet<Uid> = listed.iter().map(|now| now.object.identity()).collect();
        let known = self.by_name.iter().map(|named| named.0.identity());
        let absent: Vec<Uid> = known.filter(|uid| !uids.contains(uid)).collect();
        let mut changes: Vec<StoreChange> = absent
            .iter()
            .filter_map(|uid| self.vanish(uid, listing.version.clone()))
            .collect();
        for now in listed {
            if self.same(&now, continuity).is_some() {
                continue;
            }
            let now = self.with_shared_name(now);
            let prev = self.insert(now.object.identity(), now.clone(), seen);
            let why = if prev.is_some() {
                Why::Skipped
            } else {
                Why::Listed
            };
            changes.push(StoreChange { why, now, prev });
        }
        self.floor = Some(listing.version);
        self.packer = listing.packer;
        changes
    }

    /// Starts with these objects, in any order, and the times at which they arrived. Many are kept packed.
    pub(super) fn restore(&mut self, objects: Vec<(Arc<Version>, Timestamp)>) {
        self.packer = (objects.len() > MANY).then(Packer::new);
        for (now, seen) in objects {
            let uid = now.object.identity();
            let kept = self.kept(&uid, &now);
            self.insert(uid, kept, seen);
        }
    }

    /// The same version. It shares its name with the version before it, because readers keep both for long.
    fn with_shared_name(&self, now: Arc<Version>) -> Arc<Version> {
        match self.by_uid.get(&now.object.identity()) {
            Some(held) if held.version.object == now.object => Arc::new(Version {
                object: held.version.object.clone(),
                ..Version::clone(&now)
            }),
            Some(_) | None => now,
        }
    }

    /// The form of a version in the store: packed, or its text without the tape.
    fn kept(&mut self, uid: &Uid, now: &Arc<Version>) -> Arc<Version> {
        let before = self.by_uid.get(uid).map(|held| &held.version.body);
        match &mut self.packer {
            Some(packer) => Arc::new(now.packed(packer, before)),
            None if now.body.read().is_some() => Arc::new(now.without_tape()),
            None => now.clone(),
        }
    }

    fn insert(&mut self, uid: Uid, now: Arc<Version>, seen: Timestamp) -> Option<Arc<Version>> {
        if !self.by_uid.contains_key(&uid) {
            self.by_name.replace(ByName(now.object.clone()));
        }
        let entry = HeldVersion { version: now, seen };
        Some(self.by_uid.insert(uid, entry)?.version)
    }

    fn vanish(&mut self, uid: &Uid, at: ResourceVersion) -> Option<StoreChange> {
        self.drop_uid(uid, at).map(StoreChange::vanished)
    }

    fn drop_uid(&mut self, uid: &Uid, at: ResourceVersion) -> Option<Arc<Version>> {
        if self.gone.insert(uid.clone(), at).is_none() {
            self.gone_order.push_back(uid.clone());
            if self.gone_order.len() > TOMBSTONES
                && let Some(oldest) = self.gone_order.pop_front()
            {
                self.gone.remove(&oldest);
            }
        }
        let version = self.by_uid.remove(uid)?.version;
        let named = ByName(version.object.clone());
        let bearer = self.by_name.get(&named);
        if bearer.is_some_and(|bearer| bearer.0.identity() == *uid) {
            self.by_name.remove(&named);
        }
        Some(version)
    }
}

/// A listing without duplicates. Pages that are not of one moment can hold an object twice, or two objects with
/// one name. The later one is newer.
fn last_of_each(mut objects: Vec<Arc<Version>>) -> Vec<Arc<Version>> {
    let mut uids: FxHashMap<Uid, usize> = FxHashMap::default();
    let mut names: FxHashMap<NamespacedName, usize> = FxHashMap::default();
    for (at, now) in objects.iter().enumerate() {
        uids.insert(now.object.identity(), at);
        names.insert(now.object.namespaced_name(), at);
    }
    let mut at = 0..;
    objects.retain(|now| {
        let at = at.next();
        uids.get(&now.object.identity()).copied() == at
            && names.get(&now.object.namespaced_name()).copied() == at
    });
    objects
}

/// Whether a source that knows `known` also knows `new`. Versions are compared for equality, and as numbers where
/// both are decimal, as those of kube-apiserver are. A server may send several versions again, and the second
/// last is not equal to the last.
pub(super) fn reached(known: &ResourceVersion, new: &ResourceVersion) -> bool {
    (known == new && !new.as_str().is_empty()) || is_older(new, known)
}

pub(super) fn is_older(new: &ResourceVersion, known: &ResourceVersion) -> bool {
    let both = (Revision::parse(new), Revision::parse(known));
    matches!(both, (Some(new), Some(known)) if new < known)
}
