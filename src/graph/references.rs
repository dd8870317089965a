//! `References`: which objects name which others, in both directions.

use std::collections::{BTreeMap, BTreeSet};

use crate::object::{ObjectRef, Uid};

use super::reference::{NamedObject, Reference};
use super::{Graph, Node};

/// The references between objects. The referenced objects need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    /// The references of each object.
    of: BTreeMap<Uid, Vec<Reference>>,
    /// Each referenced name.
    names: BTreeMap<NamedObject, Name>,
}

/// A referenced name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Name {
    /// The objects that refer to it.
    referrers: BTreeSet<Uid>,
    /// The objects that bear it: at most one, but for a moment while an object is replaced.
    bearers: BTreeSet<Uid>,
}

impl References {
    pub(super) fn add_bearer(&mut self, node: &Node) {
        if let Some(name) = self.name_of(&node.object) {
            name.bearers.insert(node.uid.clone());
        }
    }

    pub(super) fn remove_bearer(&mut self, node: &Node) {
        if let Some(name) = self.name_of(&node.object) {
            name.bearers.remove(&node.uid);
        }
    }

    fn name_of(&mut self, object: &ObjectRef) -> Option<&mut Name> {
        if self.names.is_empty() {
            return None;
        }
        self.names.get_mut(&NamedObject::of(object))
    }

    /// Removes the references of an object.
    pub(super) fn forget(&mut self, uid: &Uid) {
        for reference in self.of.remove(uid).into_iter().flatten() {
            if let Some(name) = self.names.get_mut(&reference.target) {
                name.referrers.remove(uid);
                if name.referrers.is_empty() {
                    self.names.remove(&reference.target);
                }
            }
        }
    }
}

impl Graph {
    /// Replaces the references of an object.
    pub fn refer(&mut self, uid: &Uid, references: Vec<Reference>) {
        if self.references_of(uid) == references {
            return;
        }
        self.references.forget(uid);
        for reference in &references {
            if !self.references.names.contains_key(&reference.target) {
                let name = Name {
                    bearers: self.bearers(&reference.target),
                    referrers: BTreeSet::new(),
                };
                self.references.names.insert(reference.target.clone(), name);
            }
            if let Some(name) = self.references.names.get_mut(&reference.target) {
                name.referrers.insert(uid.clone());
            }
        }
        if !references.is_empty() {
            self.references.of.insert(uid.clone(), references);
        }
    }

    /// The objects that an object names, in the order of the relations.
    pub fn references_of(&self, uid: &Uid) -> &[Reference] {
        self.references.of.get(uid).map_or(&[], Vec::as_slice)
    }

    /// The object with a referenced name. While two objects bear the name, it is the newer one.
    pub fn referenced(&self, target: &NamedObject) -> Option<&Node> {
        let name = self.references.names.get(target)?;
        let bearers = name.bearers.iter().filter_map(|uid| self.node(uid));
        bearers.max_by_key(|node| node.created)
    }

    /// The objects that name this one.
    pub fn referrers(&self, object: &ObjectRef) -> impl Iterator<Item = &Uid> {
        let names = &self.references.names;
        let name = (!names.is_empty()).then(|| names.get(&NamedObject::of(object)));
        name.flatten().into_iter().flat_map(|name| &name.referrers)
    }

    /// The objects that name others.
    pub fn all_referrers(&self) -> impl Iterator<Item = &Uid> {
        self.references.of.keys()
    }

    fn bearers(&self, target: &NamedObject) -> BTreeSet<Uid> {
        let bears = |node: &&Node| {
            node.object.kind == target.kind.kind
                && node.object.name == target.name
                && NamedObject::of(&node.object) == *target
        };
        self.nodes()
            .filter(bears)
            .map(|node| node.uid.clone())
            .collect()
    }
}
