//! `Roots`: the requested objects, in which order they are shown, and whose dependents are followed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::object::{ObjectRef, Uid};
use crate::status::Status;

/// If sources without a name show more objects with dependents than this, only the dependents of the objects that are not
/// Current are followed, and in no more places than this. Each place costs a list and a watch for every kind of dependents.
const MAX_EXPANDED: usize = 8;

/// How long an object that has got better keeps its place and its dependents.
const SETTLING: SignedDuration = SignedDuration::from_secs(10);

/// The place of a requested object among the others, first to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// It was requested by name. Named objects keep the order of the request.
    Named,
    /// It is Failed.
    Failed,
    /// It is a Service that is Failed because its Pods are.
    Repeating,
    /// It is neither Failed nor Current.
    Moving,
    /// It is Current.
    Well,
}

impl Rank {
    /// The rank of an object that was not requested by name, and that may only repeat the problems of its Pods.
    pub fn of(status: Status, repeats: bool) -> Rank {
        match status {
            Status::Current => Rank::Well,
            Status::Failed if repeats => Rank::Repeating,
            Status::Failed => Rank::Failed,
            Status::InProgress | Status::Terminating | Status::NotFound | Status::Unknown => {
                Rank::Moving
            }
        }
    }
}

/// How fast ranks change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RankClock {
    /// At once: the sources are not read yet.
    Loading,
    /// It is this time. An object that gets worse moves up at once. One that gets better moves down after a while, so that
    /// rows do not jump.
    Live(Timestamp),
}

/// A requested object.
#[derive(Debug)]
pub struct Root {
    /// Its place among the requested objects.
    pub place: RootPlace,
    /// Where its dependents are.
    dependents: RootDependents,
    /// Since when it has been better than its rank.
    better_since: Option<Timestamp>,
    /// Whether its dependents are followed.
    is_expanded: bool,
}

/// Where the dependents of a requested object are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RootDependents {
    /// It has none, or requested sources show them.
    #[default]
    Requested,
    /// In lists that nobody requested.
    Listed,
    /// In kinds that are searched for them, which costs requests for each object.
    Searched,
}

/// Where dependents are read: in a namespace for all objects in it, or for one object.
type ReadPlace = (Option<Arc<str>>, Option<Arc<ObjectRef>>);

impl Root {
    fn is_owner(&self) -> bool {
        self.dependents != RootDependents::Requested && !self.is_named()
    }

    fn read_place(&self) -> ReadPlace {
        let object = &self.place.object;
        let is_alone = self.dependents == RootDependents::Searched || object.namespace.is_none();
        (object.namespace.clone(), is_alone.then(|| object.clone()))
    }

    /// Whether its dependents are hidden, because there are many objects like it.
    pub fn is_collapsed(&self) -> bool {
        self.is_owner() && !self.is_expanded
    }

    /// Whether it was requested by name.
    pub fn is_named(&self) -> bool {
        self.place.rank == Rank::Named
    }

    /// Moves the object towards a rank. Returns whether its rank has changed.
    fn move_to(&mut self, rank: Rank, clock: RankClock) -> bool {
        let before = self.place.rank;
        if self.is_named() {
            return false;
        }
        let is_settled = match clock {
            RankClock::Loading => true,
            RankClock::Live(now) => {
                let since = *self.better_since.get_or_insert(now);
                rank <= before || now.duration_since(since) >= SETTLING
            }
        };
        if is_settled {
            self.place.rank = rank;
            self.better_since = None;
        }
        self.place.rank != before
    }
}

/// The sort key of a requested object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RootPlace {
    /// What decides first.
    pub rank: Rank,
    /// Its namespace, if the objects of several kinds and namespaces are shown: those of one namespace stand together.
    pub namespace: Option<Arc<str>>,
    /// The index of the first requested source that showed it.
    pub requested: usize,
    /// The object. The objects of one source have one type, so their namespaces and names decide. An object that was
    /// requested by name and does not exist has no uid.
    pub object: Arc<ObjectRef>,
}

/// The objects whose dependents are hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collapsed {
    /// How many they are.
    pub all: usize,
    /// How many of them are not Current.
    pub unwell: usize,
}

/// The requested objects that have been there.
#[derive(Debug, Default)]
pub struct Roots {
    by_uid: BTreeMap<Uid, Root>,
    /// The objects in their order.
    order: BTreeSet<RootPlace>,
    /// The objects that come before the Current ones.
    unwell: BTreeSet<Uid>,
    /// The objects whose dependents are hidden.
    pub collapsed: Collapsed,
    groups_namespaces: bool,
    /// Whether other objects may have to be expanded.
    is_changed: bool,
    /// Whether the sources were read once. Until then objects move to their ranks at once.
    pub(super) has_loaded: bool,
}

impl Roots {
    /// No objects yet. `groups_namespaces`: whether the objects of one namespace stand together.
    pub(super) fn new(groups_namespaces: bool) -> Roots {
        Roots {
            groups_namespaces,
            ..Roots::default()
        }
    }

    /// Adds an object that a requested source shows. Returns whether it is new.
    pub(super) fn add(&mut self, object: &Arc<ObjectRef>, requested: usize, rank: Rank) -> bool {
        let namespace = object.namespace.clone();
        let Entry::Vacant(entry) = self.by_uid.entry(object.identity()) else {
            return false;
        };
        let place = RootPlace {
            rank,
            namespace: namespace.filter(|_| self.groups_namespaces),
            requested,
            object: object.clone(),
        };
        entry.insert(Root {
            place: place.clone(),
            dependents: RootDependents::default(),
            better_since: None,
            is_expanded: false,
        });
        self.order.insert(place);
        self.is_changed = true;
        true
    }

    pub(super) fn remove(&mut self, uid: &Uid) {
        if let Some(root) = self.by_uid.remove(uid) {
            self.order.remove(&root.place);
            self.is_changed = true;
        }
    }

    /// The objects in their order.
    pub fn in_order(&self) -> impl Iterator<Item = &RootPlace> {
        self.order.iter()
    }

    /// The number of objects.
    pub fn count(&self) -> usize {
        self.by_uid.len()
    }

    /// The place of an object.
    pub fn place(&self, uid: &Uid) -> Option<&RootPlace> {
        Some(&self.by_uid.get(uid)?.place)
    }

    /// The requested object with this uid; `None` if the object was not requested.
    pub fn get(&self, uid: &Uid) -> Option<&Root> {
        self.by_uid.get(uid)
    }

    /// The objects that were requested by name. They come first.
    pub fn named(&self) -> impl Iterator<Item = (&Uid, &Root)> {
        let named = self.order.iter();
        let named = named.take_while(|place| place.rank == Rank::Named);
        named.filter_map(|place| self.by_uid.get_key_value(&place.object.identity()))
    }

    /// The objects that were requested by name, and the others that are not Current.
    pub fn named_or_unwell(&self) -> impl Iterator<Item = Uid> {
        let first = self.order.iter();
        let first = first.take_while(|place| place.rank <= Rank::Moving);
        first.map(|place| place.object.identity())
    }

    /// All objects, by uid.
    pub fn iter(&self) -> impl Iterator<Item = (&Uid, &Root)> {
        self.by_uid.iter()
    }

    /// Notes where these objects have their dependents.
    pub(super) fn note_dependents(&mut self, found: impl Iterator<Item = (Uid, RootDependents)>) {
        for (uid, dependents) in found {
            if let Some(root) = self.by_uid.get_mut(&uid) {
                self.is_changed |= root.dependents != dependents;
                root.dependents = dependents;
            }
        }
    }

    /// Moves objects towards the ranks of their states: the changed ones, and those that are not at the end of the order.
    pub(super) fn rank(
        &mut self,
        changed: &BTreeSet<Uid>,
        rank: impl Fn(&Uid) -> Option<Rank>,
        now: Timestamp,
    ) {
        let clock = if self.has_loaded {
            RankClock::Live(now)
        } else {
            RankClock::Loading
        };
        let due: Vec<Uid> = self.unwell.union(changed).cloned().collect();
        for uid in due {
            let (Some(root), Some(rank)) = (self.by_uid.get_mut(&uid), rank(&uid)) else {
                self.unwell.remove(&uid);
                continue;
            };
            let place = root.place.clone();
            if root.move_to(rank, clock) {
                self.order.remove(&place);
                self.order.insert(root.place.clone());
                self.is_changed |= root.is_owner();
            }
            if matches!(
                root.place.rank,
                Rank::Failed | Rank::Repeating | Rank::Moving
            ) {
                self.unwell.insert(uid);
            } else {
                self.unwell.remove(&uid);
            }
        }
    }

    /// Chooses the objects whose dependents are followed, among those without a name. Of several equally bad objects, one that is
    /// followed already stays.
    pub(super) fn expand(&mut self) {
        if !std::mem::take(&mut self.is_changed) {
            return;
        }
        let roots = self.by_uid.values_mut();
        let mut owners: Vec<&mut Root> = roots.filter(|root| root.is_owner()).collect();
        owners.sort_by_key(|root| (root.place.rank, !root.is_expanded));
        self.collapsed = Collapsed::default();
        let is_few = owners.len() <= MAX_EXPANDED;
        let mut places: BTreeSet<ReadPlace> = BTreeSet::new();
        for root in owners {
            let is_well = root.place.rank == Rank::Well;
            let place = root.read_place();
            let has_room = places.len() < MAX_EXPANDED || places.contains(&place);
            root.is_expanded = has_room && (is_few || !is_well);
            if root.is_expanded {
                places.insert(place);
            } else {
                self.collapsed.all += 1;
                self.collapsed.unwell += usize::from(!is_well);
            }
        }
    }

    /// The objects whose dependents are followed.
    pub(super) fn followed(&self) -> impl Iterator<Item = (&Uid, &Root)> {
        let roots = self.by_uid.iter();
        roots.filter(|(_, root)| root.is_expanded || root.is_named())
    }
}
