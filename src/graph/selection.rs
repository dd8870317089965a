//! `Selection`: a selector of an object, and which objects it selects.

use std::sync::Arc;

use crate::object::selector::LabelSelector;
use crate::object::{GroupKind, Uid};

use super::labels::Labels;
use super::reference_target::ReferenceTarget;
use super::relations::Relation;
use super::{Graph, Node};

/// A selector of an object, and what it selects from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// What the selected objects are for this one.
    pub relation: &'static Relation,
    /// The type of the selected objects.
    pub kind: GroupKind,
    /// Their namespace; `None` for all namespaces.
    pub namespace: Option<Arc<str>>,
    /// Their labels.
    pub labels: LabelSelector,
}

impl Selection {
    /// Whether it selects an object.
    pub(super) fn selects(&self, node: &Node) -> bool {
        let object = &node.object;
        *object.kind == *self.kind.kind
            && *object.group() == *self.kind.group
            && self.is_of(object.namespace.as_ref())
            && self.matches(&node.labels)
    }

    /// Whether it selects an object with this name and these labels.
    pub(super) fn selects_named(&self, object: &ReferenceTarget, labels: &Labels) -> bool {
        object.kind == self.kind && self.is_of(object.namespace.as_ref()) && self.matches(labels)
    }

    /// Whether it selects Pods in this namespace with these labels.
    pub(super) fn selects_pods(&self, namespace: Option<&Arc<str>>, labels: &Labels) -> bool {
        &*self.kind.kind == "Pod" && self.is_of(namespace) && self.matches(labels)
    }

    fn is_of(&self, namespace: Option<&Arc<str>>) -> bool {
        self.namespace.is_none() || self.namespace.as_ref() == namespace
    }

    fn matches(&self, labels: &Labels) -> bool {
        self.labels
            .matches(|key| labels.get(key).map(|value| &**value))
    }
}

impl Graph {
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
}
