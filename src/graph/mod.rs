//! The live graph of objects: owners, selectors and endpoints.
//!
//! [`Graph::apply`] and [`Graph::delete`] keep it up to date, in any order and from any source. `tree` finds
//! owners and dependents, `order` sorts objects from below to above, and `revision` finds the current revision. `selector` and `endpoints` find the pods
//! of a Service. `relations` says which fields name other objects, `members` finds what inventories list, and `walk`
//! follows the relations. `plan` and `trace_plan` name
//! the sources that show related objects. `node` holds the facts of one object,
//! which `owner`, `pod`, `slice` and `workload` read.

mod field_path;
mod kind_index;
mod links;
mod lookup;
mod members;
mod neighbours;
mod node;
mod plan;
mod pod;
mod reference;
mod relations;
mod selector;
mod services;
mod trace_plan;
mod tree;
mod walk;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::{ObjectRef, Uid, Value};
use crate::source::Form;
use kind_index::KindIndex;
use reference::References;

pub use links::Links;
pub use lookup::{Lookup, PassedOver, one_per_source};
pub use members::{MAX_MEMBER_LISTS, MemberPlan};
pub use neighbours::{End, Neighbour};
pub use node::Owner;
pub use node::node_selectors;
pub use node::{Facts, Node};
pub use plan::{slices_source, well_known};
pub use pod::{ContainerPort, Images, Pod};
pub use reference::ReferenceTarget;
pub use reference::{Port, Reference};
pub use relations::{
    IfAbsent, Relation, RemoteMembers, Tier, istio_destinations, may_list_members, relation_names,
    service_of_host,
};
pub use selector::Labels;
pub use selector::{Nearest, nearest};
pub use services::Backend;
pub use services::{
    AddressGroup, Behind, EndpointCounts, PodCoverage, ServedEndpoint, address_groups,
    count_backends,
};
pub use services::{Endpoint, EndpointState, Slice, SlicePort, Target};
pub use services::{Service, ServicePort};
pub use trace_plan::{TracePlan, TraceScope};
pub use tree::{Standing, Standings};
pub use walk::TraceSide;
pub use walk::{Step, TraceReach, Way};
pub use workload::Workload;

/// With how many siblings an object is compared to share their memory. Pods of one owner differ by their zone.
const COMPARED_SIBLINGS: usize = 8;

/// Objects by uid, and the relations between them.
///
/// An object without a uid, for example from a manifest, has the key `GROUP/KIND/NAMESPACE/NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// They are boxed: a tree is half empty.
    nodes: BTreeMap<Uid, Box<Node>>,
    /// The dependents of each owner. The owner itself need not be in the graph.
    dependents: BTreeMap<Uid, BTreeSet<Uid>>,
    /// The objects that other objects name.
    references: References,
    /// The objects of the kinds that others look up.
    kinds: KindIndex,
}

impl Graph {
    /// Stores a version of an object in place of the version before; returns the object's key.
    pub fn apply(&mut self, object: Value<'_>) -> Uid {
        self.apply_in(Form::Full, &Arc::new(ObjectRef::of(object)), object)
    }

    /// The same for an object that was read in a form.
    pub fn apply_in(&mut self, form: Form, reference: &Arc<ObjectRef>, object: Value<'_>) -> Uid {
        let mut node = Node::of(form, reference, object);
        let uid = node.uid.clone();
        self.take(&uid);
        let siblings: Vec<&Node> = self.siblings(&node).collect();
        for sibling in siblings {
            node.share_with(sibling);
        }
        self.references.add_bearer(&node);
        self.kinds.add(&node);
        for owner in node.owners.iter() {
            self.dependents
                .entry(owner.uid.clone())
                .or_default()
                .insert(uid.clone());
        }
        self.nodes.insert(uid.clone(), Box::new(node));
        uid
    }

    /// Some of the other dependents of an object's first owner. One of them is often like the object.
    pub fn siblings(&self, node: &Node) -> impl Iterator<Item = &Node> {
        let owner = node.owners.first();
        let siblings = owner.and_then(|owner| self.dependents.get(&owner.uid));
        let siblings = siblings.into_iter().flatten();
        let others = siblings.filter(|uid| **uid != node.uid);
        others
            .take(COMPARED_SIBLINGS)
            .filter_map(|uid| self.node(uid))
    }

    /// Removes an object. Its dependents, and the objects that name it, stay.
    pub fn delete(&mut self, uid: &Uid) {
        self.take(uid);
        self.references.forget(uid);
    }

    fn take(&mut self, uid: &Uid) {
        let Some(node) = self.nodes.remove(uid) else {
            return;
        };
        self.references.remove_bearer(&node);
        self.kinds.remove(&node);
        for owner in node.owners.iter() {
            if let Some(dependents) = self.dependents.get_mut(&owner.uid) {
                dependents.remove(uid);
                if dependents.is_empty() {
                    self.dependents.remove(&owner.uid);
                }
            }
        }
    }

    /// The object of this uid.
    pub fn node(&self, uid: &Uid) -> Option<&Node> {
        self.nodes.get(uid).map(|node| &**node)
    }

    /// Every object, by uid.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values().map(|node| &**node)
    }

    /// The objects of one kind, in a stable order.
    pub fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Node> {
        let indexed = self.kinds.of_kind(kind);
        let rest = indexed.is_none().then(|| self.nodes()).into_iter();
        let rest = rest
            .flatten()
            .filter(move |node| &*node.object.kind == kind);
        let indexed = indexed.into_iter().flatten();
        indexed.filter_map(|uid| self.node(uid)).chain(rest)
    }

    /// The objects of one kind in one namespace.
    fn of_kind_in<'g>(
        &'g self,
        kind: &'static str,
        namespace: Option<&Arc<str>>,
    ) -> impl Iterator<Item = &'g Node> + use<'g> {
        let indexed = self.kinds.of_kind_in(kind, namespace);
        let rest = indexed.is_none().then(|| self.of_kind(kind)).into_iter();
        let namespace = namespace.cloned();
        let is_there = move |node: &&Node| node.object.namespace == namespace;
        let rest = rest.flatten().filter(is_there);
        let indexed = indexed.into_iter().flatten();
        indexed.filter_map(|uid| self.node(uid)).chain(rest)
    }
}

#[cfg(test)]
mod tests;
