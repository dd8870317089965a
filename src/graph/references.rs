//! `References`: which objects name which others, in both directions, and which select others.

use super::links::Links;
use super::node::Node;
use super::reference::Reference;
use super::reference_target::ReferenceTarget;
use crate::object::{ObjectRef, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// The references between objects. The referenced objects need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    /// The links of each object.
    pub(super) of: BTreeMap<Uid, Links>,
    /// The objects that select others.
    pub(super) selectors: BTreeSet<Uid>,
    /// Each referenced name.
    pub(super) names: BTreeMap<ReferenceTarget, ReferencedName>,
}

/// A referenced name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReferencedName {
    /// The objects that refer to it.
    pub(super) referrers: BTreeSet<Uid>,
    /// The inventories that list it as a member. They are referrers, too.
    pub(super) inventories: BTreeSet<Uid>,
    /// The objects that bear it: at most one, but for a moment while an object is replaced.
    pub(super) bearers: BTreeSet<Uid>,
}

impl ReferencedName {
    /// Adds an object that refers to it.
    pub(super) fn add(&mut self, referrer: &Uid, reference: &Reference) {
        self.referrers.insert(referrer.clone());
        if reference.relation.lists_members() {
            self.inventories.insert(referrer.clone());
        }
    }
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

    fn name_of(&mut self, object: &ObjectRef) -> Option<&mut ReferencedName> {
        if self.names.is_empty() {
            return None;
        }
        self.names.get_mut(&ReferenceTarget::of(object))
    }

    /// Removes the references of an object.
    pub(super) fn forget(&mut self, uid: &Uid) {
        self.selectors.remove(uid);
        let links = self.of.remove(uid).unwrap_or_default();
        for reference in links.references {
            if let Some(name) = self.names.get_mut(&reference.target) {
                name.referrers.remove(uid);
                name.inventories.remove(uid);
                if name.referrers.is_empty() {
                    self.names.remove(&reference.target);
                }
            }
        }
    }
}
