//! `Selection`: a selector of an object, and which objects it selects.

use std::sync::Arc;

use crate::object::GroupKind;
use crate::object::selector::LabelSelector;

use super::labels::Labels;
use super::node::Node;
use super::reference_target::ReferenceTarget;
use super::relations::Relation;

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
        self.labels.matches(|key| labels.get(key))
    }
}
