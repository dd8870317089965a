//! Which Pods a Service or a workload selects: those that its own `spec.selector` matches.

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
}
