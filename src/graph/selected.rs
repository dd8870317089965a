//! Which objects another one selects by their labels.

use crate::object::Uid;

use super::{Graph, Node};

impl Graph {
    /// The objects that an object selects by their labels.
    pub fn selected(&self, uid: &Uid) -> Vec<&Node> {
        let nodes = self.nodes();
        nodes.filter(|node| self.selects(uid, node)).collect()
    }

    /// Whether an object selects another one by its labels.
    pub fn selects(&self, uid: &Uid, other: &Node) -> bool {
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
