//! A Pod whose node has a taint that evicts it.

use crate::graph::Node;
use crate::object::{CONDITION_TAINTS, evicting_taints};
use crate::status::{CauseRule, Finding, Status};

use super::super::Model;

impl Model {
    /// The taints of a Pod's node that evict the Pod. Others keep only new Pods away. A Pod that is well has been placed
    /// before, so nothing looks at its node. The conditions of a node have rules of their own.
    pub(super) fn untolerated_taints(&self, pod: &Node) -> Vec<Finding> {
        let judged = self.objects.get(&pod.uid);
        if judged.is_some_and(|object| object.own.is_well()) {
            return Vec::new();
        }
        let references = self.graph.references_of(&pod.uid).iter();
        let mut nodes = references.filter(|found| found.relation.name == "node");
        let node = nodes.find_map(|found| self.graph.referenced(&found.target));
        let docs = node.and_then(|node| Some((node, self.doc(&node.uid)?, self.doc(&pod.uid)?)));
        let Some((node, tainted, pod)) = docs else {
            return Vec::new();
        };
        let taints = evicting_taints(tainted.root(), pod.root());
        let untolerated = taints.filter(|taint| !taint.starts_with(CONDITION_TAINTS));
        let findings = untolerated.map(|taint| {
            let text = format!("untolerated taint {taint} of node {}", node.object.name);
            Finding::new(CauseRule::Untolerated, Status::Current, text)
        });
        findings.collect()
    }
}
