//! `Lookup`: a source that is looked through for the objects that name, select or belong to others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::object::{ServedTypes, Uid, Value};
use crate::source::SourceKey;

use super::index::Graph;
use super::labels::Labels;
use super::links::Links;
use super::node::Node;
use super::reference_target::ReferenceTarget;
use super::relations::Tier;

/// A source of which only the objects around others count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The source.
    pub source: SourceKey,
    /// The objects whose neighbours it may have.
    pub(super) anchors: BTreeSet<Anchor>,
    /// The objects whose dependents it may have.
    pub(super) owners: BTreeSet<Uid>,
    /// The named objects that it may have, such as the members of inventories.
    pub(super) named: BTreeSet<ReferenceTarget>,
}

/// The owners of objects that are not in the graph, because nothing looks for them yet.
#[derive(Debug, Default)]
pub struct PassedOver {
    owners: BTreeMap<Uid, Vec<Uid>>,
    owned: BTreeMap<Uid, BTreeSet<Uid>>,
}

impl PassedOver {
    /// Stores the owners of an object in place of those before. Returns whether it has any.
    pub fn put(&mut self, uid: &Uid, object: Value<'_>) -> bool {
        self.remove(uid);
        let owners: Vec<Uid> = owner_uids(object).collect();
        for owner in &owners {
            let owned = self.owned.entry(owner.clone()).or_default();
            owned.insert(uid.clone());
        }
        let has_any = !owners.is_empty();
        if has_any {
            self.owners.insert(uid.clone(), owners);
        }
        has_any
    }

    /// Removes an object.
    pub fn remove(&mut self, uid: &Uid) {
        for owner in self.owners.remove(uid).into_iter().flatten() {
            if let Some(owned) = self.owned.get_mut(&owner) {
                owned.remove(uid);
                if owned.is_empty() {
                    self.owned.remove(&owner);
                }
            }
        }
    }

    /// What these objects own: directly, and through those of the found objects that count as owners.
    pub fn below(&self, owners: &BTreeSet<Uid>, is_owner: impl Fn(&Uid) -> bool) -> BTreeSet<Uid> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&Uid> = owners.iter().collect();
        while let Some(owner) = open.pop() {
            for owned in self.owned.get(owner).into_iter().flatten() {
                if found.insert(owned.clone()) && is_owner(owned) {
                    open.push(owned);
                }
            }
        }
        found
    }
}

/// The uids of the owners of an object.
fn owner_uids(object: Value<'_>) -> impl Iterator<Item = Uid> {
    let owners = object.items_at(&["metadata", "ownerReferences"]);
    owners.filter_map(|owner| Some(Uid::new(owner.text_at(&["uid"])?)))
}

/// An object whose neighbours are looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Anchor {
    node: ReferenceTarget,
    labels: Labels,
    /// The labels of the Pods that it creates.
    pub(super) template: Option<Labels>,
}

impl Lookup {
    /// A source in which nothing is looked for yet.
    pub(super) fn of(source: SourceKey) -> Lookup {
        Lookup {
            source,
            anchors: BTreeSet::new(),
            owners: BTreeSet::new(),
            named: BTreeSet::new(),
        }
    }

    /// A source that is looked through for named objects.
    pub fn for_named(source: SourceKey, named: BTreeSet<ReferenceTarget>) -> Lookup {
        Lookup {
            named,
            ..Lookup::of(source)
        }
    }

    /// Whether it looks for a named object.
    pub fn looks_for(&self, target: &ReferenceTarget) -> bool {
        self.named.contains(target)
    }

    /// The same lookup for what custom objects own that were passed over, if they turn out to belong to one of the owners.
    /// Without them, each level of owners would need a read of its own.
    #[must_use]
    pub fn with_passed(&self, passed: &PassedOver) -> Lookup {
        let mut lookup = self.clone();
        lookup.owners.extend(passed.below(&self.owners, |_| true));
        lookup
    }

    /// Whether it looks for the dependents of objects.
    pub fn has_owners(&self) -> bool {
        !self.owners.is_empty()
    }

    /// Whether it looks for the dependents of all these objects.
    pub fn looks_below(&self, owners: &BTreeSet<&Uid>) -> bool {
        owners.iter().all(|owner| self.owners.contains(*owner))
    }

    /// Whether an object names or selects one of the anchors, belongs to one of the owners, or is one of the named objects.
    pub fn keeps(&self, object: Value<'_>, types: &ServedTypes) -> bool {
        if self.is_named(object) {
            return true;
        }
        if self.has_owners() && owner_uids(object).any(|uid| self.owners.contains(&uid)) {
            return true;
        }
        if self.anchors.is_empty() {
            return false;
        }
        let links = Links::of(object, Tier::Trace, types);
        self.anchors.iter().any(|anchor| anchor.is_linked(&links))
    }

    /// Whether an object of the source is one of the named objects. Metadata alone does not name its kind.
    fn is_named(&self, object: Value<'_>) -> bool {
        let name = || {
            Some(ReferenceTarget {
                kind: self.source.resource.group_kind(),
                namespace: object.text_at(&["metadata", "namespace"]),
                name: object.text_at(&["metadata", "name"])?,
            })
        };
        !self.named.is_empty() && name().is_some_and(|name| self.named.contains(&name))
    }
}

/// The same lookups, one for each source.
pub fn one_per_source(lookups: Vec<Lookup>) -> Vec<Lookup> {
    let mut merged: Vec<Lookup> = Vec::new();
    let mut places: HashMap<SourceKey, usize> = HashMap::new();
    for lookup in lookups {
        let place = *places.entry(lookup.source.clone()).or_insert(merged.len());
        match merged.get_mut(place) {
            Some(known) => {
                known.anchors.extend(lookup.anchors);
                known.owners.extend(lookup.owners);
                known.named.extend(lookup.named);
            }
            None => merged.push(lookup),
        }
    }
    merged
}

impl Anchor {
    pub(super) fn of(node: &Node, graph: &Graph) -> Anchor {
        let links = graph.links_of(&node.uid);
        Anchor {
            node: ReferenceTarget::of(&node.object),
            labels: node.labels.clone(),
            template: links.and_then(|links| links.template.clone()),
        }
    }

    fn is_linked(&self, links: &Links) -> bool {
        let mut references = links.references.iter();
        references.any(|reference| reference.target == self.node)
            || links.selections.iter().any(|selection| {
                selection.selects_named(&self.node, &self.labels)
                    || self.template.as_ref().is_some_and(|labels| {
                        selection.selects_pods(self.node.namespace.as_ref(), labels)
                    })
            })
    }
}
