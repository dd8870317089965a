//! Which objects another one selects: a Service or a workload by its own `spec.selector`, any object by its relations.

use crate::object::Uid;
use crate::object::selector::LabelSelector;

use super::{Facts, Graph, Node};

impl Node {
    /// The selector of a Service or a workload; `None` selects nothing.
    pub fn selector(&self) -> Option<&LabelSelector> {
        match &self.facts {
            Facts::Service(service) => service.selector.as_ref(),
            Facts::Workload(workload) => workload.selector.as_ref(),
            Facts::Pod(_) | Facts::Slice(_) | Facts::Data(_) | Facts::Other => None,
        }
    }

    /// Whether it is a Pod that is ready and not being deleted.
    pub fn is_ready_pod(&self) -> bool {
        self.pod().is_some_and(|pod| pod.ready) && !self.deleting
    }
}

impl Graph {
    /// The pods in the graph that a Service or a workload selects, whatever their owner, in the order of
    /// siblings in a tree.
    pub fn selected_pods(&self, uid: &Uid) -> Vec<&Node> {
        let Some((node, selector)) = self
            .node(uid)
            .and_then(|node| Some((node, node.selector()?)))
        else {
            return Vec::new();
        };
        let mut pods: Vec<_> = self
            .of_kind_in("Pod", node.object.namespace.as_ref())
            .filter(|pod| matches!(pod.facts, Facts::Pod(_)))
            .filter(|pod| selector.matches(|key| pod.label(key)))
            .collect();
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
}
