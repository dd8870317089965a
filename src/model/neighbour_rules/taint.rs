//! A Pod whose node has a taint that evicts it.

use crate::graph::Node;
use crate::object::{CONDITION_TAINTS, evicting_taints};
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;

/// The taints of a Pod's node that evict the Pod. Others keep only new Pods away. A Pod that is well has been placed
/// before, so nothing looks at its node. The conditions of a node have rules of their own.
pub(in crate::model) fn untolerated_taints(around: Around<'_>, pod: &Node) -> Vec<Finding> {
    let judged = around.object(&pod.uid);
    if judged.is_some_and(|object| object.own.is_well()) {
        return Vec::new();
    }
    let references = around.graph().references_of(&pod.uid).iter();
    let mut nodes = references.filter(|found| found.relation.name == "node");
    let node = nodes.find_map(|found| around.graph().referenced(&found.target));
    let docs = node.and_then(|node| Some((node, around.doc(&node.uid)?, around.doc(&pod.uid)?)));
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
