//! The neighbours of an object: the objects that it names, and those that name it.

use std::collections::BTreeSet;

use crate::object::{ObjectRef, Uid};

use super::reference::{Reference, ReferenceTarget};
use super::references::Name;
use super::{Graph, Node};

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
    pub fn referenced(&self, target: &ReferenceTarget) -> Option<&Node> {
        let name = self.references.names.get(target)?;
        let bearers = name.bearers.iter().filter_map(|uid| self.node(uid));
        bearers.max_by_key(|node| node.created)
    }

    /// The objects that name this one.
    pub fn referrers(&self, object: &ObjectRef) -> impl Iterator<Item = &Uid> {
        let names = &self.references.names;
        let name = (!names.is_empty()).then(|| names.get(&ReferenceTarget::of(object)));
        name.flatten().into_iter().flat_map(|name| &name.referrers)
    }

    /// The objects that name others.
    pub fn all_referrers(&self) -> impl Iterator<Item = &Uid> {
        self.references.of.keys()
    }

    fn bearers(&self, target: &ReferenceTarget) -> BTreeSet<Uid> {
        let bears = |node: &&Node| {
            node.object.kind == target.kind.kind
                && node.object.name == target.name
                && ReferenceTarget::of(&node.object) == *target
        };
        self.nodes()
            .filter(bears)
            .map(|node| node.uid.clone())
            .collect()
    }
}
