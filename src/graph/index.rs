//! `Graph`: the objects by uid, with the indexes over them: which objects own others, name them and select them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::object::selector::LabelSelector;
use crate::object::{ObjectRef, Uid, Value};
use crate::source::Form;

use super::kind_index::KindIndex;
use super::labels::SERVICE_NAME;
use super::links::Links;
use super::node::{Facts, Node};
use super::reference::Reference;
use super::reference_target::ReferenceTarget;
use super::relations::RemoteMembers;

/// With how many siblings an object is compared to share their memory. Pods of one owner differ by their zone.
const COMPARED_SIBLINGS: usize = 8;

/// Objects by uid, and the relations between them.
///
/// An object without a uid, for example from a manifest, has the key `GROUP/KIND/NAMESPACE/NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// They are boxed: a tree is half empty.
    pub(super) nodes: BTreeMap<Uid, Box<Node>>,
    /// The dependents of each owner. The owner itself need not be in the graph.
    pub(super) dependents: BTreeMap<Uid, BTreeSet<Uid>>,
    /// The objects that other objects name.
    references: References,
    /// The objects of the kinds that others look up.
    pub(super) kinds: KindIndex,
}

impl Graph {
    /// Stores a version of an object in place of the version before; returns the object's key.
    pub fn apply(&mut self, object: Value<'_>) -> Uid {
        let node = Node::of(Form::Full, &Arc::new(ObjectRef::of(object)), object);
        let uid = node.uid.clone();
        self.put(node);
        uid
    }

    /// Stores a version of an object that was read in a form. Returns whether any fact about it is another one.
    pub fn apply_in(&mut self, form: Form, reference: &Arc<ObjectRef>, object: Value<'_>) -> bool {
        self.put(Node::of(form, reference, object))
    }

    fn put(&mut self, mut node: Node) -> bool {
        let uid = node.uid.clone();
        if self.node(&uid) == Some(&node) {
            return false;
        }
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
        self.nodes.insert(uid, Box::new(node));
        true
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
        if let Some(name) = self.references.name_of(&node.object) {
            name.bearers.remove(&node.uid);
        }
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
    pub fn of_kind<'g>(&'g self, kind: &'g str) -> impl Iterator<Item = &'g Node> {
        let indexed = self.kinds.of_kind(kind);
        let rest = indexed.is_none().then(|| self.nodes()).into_iter();
        let rest = rest
            .flatten()
            .filter(move |node| &*node.object.kind == kind);
        let indexed = indexed.into_iter().flatten();
        indexed.filter_map(|uid| self.node(uid)).chain(rest)
    }

    /// The objects of one kind in one namespace.
    pub fn of_kind_in<'g>(
        &'g self,
        kind: &'g str,
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

    /// The object of a name: a Service or a `PersistentVolume`. There are none of other kinds.
    pub fn of_name(
        &self,
        kind: &'static str,
        namespace: Option<&Arc<str>>,
        name: &str,
    ) -> impl Iterator<Item = &Node> + use<'_> {
        let found = self.kinds.of_name(kind, namespace, name);
        found.filter_map(|uid| self.node(uid))
    }

    /// The Pods in one namespace that a selector selects.
    pub fn pods_with(
        &self,
        namespace: Option<&Arc<str>>,
        selector: &LabelSelector,
    ) -> impl Iterator<Item = &Node> {
        let pods = self.kinds.pods_selected_by(namespace, selector);
        let pods = pods.filter_map(|uid| self.node(uid));
        pods.filter(|pod| matches!(pod.facts, Facts::Pod(_)))
    }

    /// The pods in the graph that a Service or a workload selects, whatever their owner, in the order of
    /// siblings in a tree.
    pub fn selected_pods(&self, uid: &Uid) -> Vec<&Node> {
        let Some((node, selector)) = self
            .node(uid)
            .and_then(|node| Some((node, node.selector()?)))
        else {
            return Vec::new();
        };
        let namespace = node.object.namespace.as_ref();
        let mut pods: Vec<&Node> = self.pods_with(namespace, selector).collect();
        pods.sort_by_cached_key(|pod| pod.place());
        pods
    }

    /// The objects that an object selects by any of its relations. [`Graph::selected_pods`] has the Pods of a Service or of
    /// a workload alone, and needs no links.
    pub fn selected_by_relations(&self, uid: &Uid) -> Vec<&Node> {
        let nodes = self.nodes();
        nodes
            .filter(|node| self.selects_by_relations(uid, node))
            .collect()
    }

    /// Whether an object selects another one by any of its relations.
    pub fn selects_by_relations(&self, uid: &Uid, other: &Node) -> bool {
        let links = self.links_of(uid).into_iter();
        let mut selections = links.flat_map(|links| &links.selections);
        selections.any(|selection| selection.selects(other))
    }

    /// Whether a Service selects the Pods that a workload creates; `None` if their labels are not known.
    pub fn is_served(&self, workload: &Uid) -> Option<bool> {
        let namespace = self.node(workload)?.object.namespace.as_ref();
        let labels = self.links_of(workload)?.template.as_ref()?;
        let links = self
            .services()
            .filter_map(|service| self.links_of(&service.uid));
        let mut selections = links.flat_map(|links| &links.selections);
        Some(selections.any(|selection| selection.selects_pods(namespace, labels)))
    }

    /// The slices of a Service, in the order of siblings in a tree.
    pub fn slices(&self, service: &Uid) -> Vec<&Node> {
        let service = self.node(service);
        service.map_or_else(Vec::new, |service| self.slices_named_for(&service.object))
    }

    /// The slices of a Service of this name, in the order of siblings in a tree. The Service itself may be gone.
    pub fn slices_named_for(&self, service: &ObjectRef) -> Vec<&Node> {
        let namespace = service.namespace.as_ref();
        let slices = self
            .kinds
            .of_name("EndpointSlice", namespace, &service.name);
        let mut slices: Vec<&Node> = slices.filter_map(|uid| self.node(uid)).collect();
        slices.sort_by_cached_key(|slice| slice.place());
        slices
    }

    /// All Services, by namespace and name.
    pub fn services(&self) -> impl Iterator<Item = &Node> {
        let services = self.of_kind("Service");
        services.filter(|service| service.service().is_some())
    }

    /// The Services that a slice or a Pod belongs to.
    pub fn services_of(&self, uid: &Uid) -> Vec<&Node> {
        let Some(node) = self.node(uid) else {
            return Vec::new();
        };
        let namespace = node.object.namespace.as_ref();
        match &node.facts {
            Facts::Slice(_) => {
                let name = node.label(SERVICE_NAME).into_iter();
                name.flat_map(|name| self.of_name("Service", namespace, name))
                    .collect()
            }
            Facts::Pod(_) => {
                let selects = |service: &&Node| {
                    let selector = service.service().and_then(|_| service.selector());
                    selector.is_some_and(|selector| selector.matches(|key| node.label(key)))
                };
                let services = self.of_kind_in("Service", namespace);
                services.filter(selects).collect()
            }
            Facts::Workload(_)
            | Facts::Service(_)
            | Facts::Ingress { .. }
            | Facts::Data(_)
            | Facts::Other => Vec::new(),
        }
    }

    /// Replaces the links of objects. Returns whether any of them is another one.
    pub fn link(&mut self, links: impl IntoIterator<Item = (Uid, Links)>) -> bool {
        let (mut new, mut is_other) = (Vec::new(), false);
        let none = Links::default();
        for (uid, links) in links {
            if *self.links_of(&uid).unwrap_or(&none) == links {
                continue;
            }
            is_other = true;
            self.references.forget(&uid);
            for reference in &links.references {
                let name = self.references.names.entry(reference.target.clone());
                if let Entry::Vacant(_) = name {
                    new.push(reference.target.clone());
                }
                name.or_default().add(&uid, reference);
            }
            if !links.selections.is_empty() {
                self.references.selectors.insert(uid.clone());
            }
            if links != none {
                self.references.of.insert(uid, links);
            }
        }
        self.find_bearers(&new);
        is_other
    }

    /// Finds the objects that bear new names, in one pass over the objects.
    fn find_bearers(&mut self, new: &[ReferenceTarget]) {
        if new.is_empty() {
            return;
        }
        let names = new.iter().map(|target| (&*target.kind.kind, &*target.name));
        let names: FxHashSet<(&str, &str)> = names.collect();
        for node in self.nodes.values() {
            if names.contains(&(&*node.object.kind, &*node.object.name)) {
                self.references.add_bearer(node);
            }
        }
    }

    pub(super) fn links_of(&self, uid: &Uid) -> Option<&Links> {
        self.references.of.get(uid)
    }

    /// The objects that an object names, in the order of the relations.
    pub fn references_of(&self, uid: &Uid) -> &[Reference] {
        self.links_of(uid).map_or(&[], |links| &links.references)
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

    /// The objects that select others.
    pub(super) fn selecting(&self) -> impl Iterator<Item = &Node> {
        let selecting = self.references.selectors.iter();
        selecting.filter_map(|uid| self.node(uid))
    }

    /// The objects that name others.
    pub fn all_referrers(&self) -> impl Iterator<Item = &Uid> {
        let linked = self.references.of.iter();
        linked.filter_map(|(uid, links)| (!links.references.is_empty()).then_some(uid))
    }

    /// Whether an object in the graph has dependents or members there.
    pub fn has_dependents(&self) -> bool {
        let owners = self.dependents.keys();
        let names = self.references.names.values();
        let mut above = owners.chain(names.flat_map(|name| &name.inventories));
        above.any(|uid| self.nodes.contains_key(uid))
    }

    /// The members that an inventory lists, in its order. Empty for other objects.
    pub fn member_references(&self, uid: &Uid) -> impl Iterator<Item = &Reference> {
        let references = self.references_of(uid).iter();
        references.filter(|reference| reference.relation.lists_members())
    }

    /// Whether an object lists members.
    pub fn is_inventory(&self, uid: &Uid) -> bool {
        self.member_references(uid).next().is_some()
    }

    /// The members of an inventory that are in the graph, in its order.
    pub fn members(&self, uid: &Uid) -> impl Iterator<Item = &Node> {
        let members = self.member_references(uid);
        members.filter_map(|member| self.referenced(&member.target))
    }

    /// The members of an inventory in another cluster; `None` for other objects.
    pub fn remote_members(&self, uid: &Uid) -> Option<&RemoteMembers> {
        self.links_of(uid)?.remote.as_ref()
    }

    /// The inventories in the graph that list an object.
    pub(super) fn inventories_of(&self, node: &Node) -> impl Iterator<Item = &Node> {
        let names = &self.references.names;
        let name = (!names.is_empty()).then(|| names.get(&ReferenceTarget::of(&node.object)));
        let inventories = name
            .flatten()
            .into_iter()
            .flat_map(|name| &name.inventories);
        inventories.filter_map(|uid| self.node(uid))
    }
}

/// The references between objects. The referenced objects need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct References {
    /// The links of each object.
    of: BTreeMap<Uid, Links>,
    /// The objects that select others.
    selectors: BTreeSet<Uid>,
    /// Each referenced name.
    names: BTreeMap<ReferenceTarget, ReferencedName>,
}

/// A referenced name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ReferencedName {
    /// The objects that refer to it.
    referrers: BTreeSet<Uid>,
    /// The inventories that list it as a member. They are referrers, too.
    inventories: BTreeSet<Uid>,
    /// The objects that bear it: at most one, but for a moment while an object is replaced.
    bearers: BTreeSet<Uid>,
}

impl ReferencedName {
    /// Adds an object that refers to it.
    fn add(&mut self, referrer: &Uid, reference: &Reference) {
        self.referrers.insert(referrer.clone());
        if reference.relation.lists_members() {
            self.inventories.insert(referrer.clone());
        }
    }
}

impl References {
    fn add_bearer(&mut self, node: &Node) {
        if let Some(name) = self.name_of(&node.object) {
            name.bearers.insert(node.uid.clone());
        }
    }

    fn name_of(&mut self, object: &ObjectRef) -> Option<&mut ReferencedName> {
        if self.names.is_empty() {
            return None;
        }
        self.names.get_mut(&ReferenceTarget::of(object))
    }

    /// Removes the references of an object.
    fn forget(&mut self, uid: &Uid) {
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
