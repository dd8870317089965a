//! Why nodes take no more Pods, or do not take one Pod.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::object::{ObjectRef, Value, condition, is_closed, is_cordoned, untolerated_taints};
use crate::status::CauseRule;

use crate::model::evidence::EvidenceObject;

/// The most nodes that are named.
const MAX_NAMES: usize = 3;

/// What keeps a Pod from the nodes that have what it demands: `, which only node n1 has (cordoned)`. They explain why
/// the Pod has no node only if each of them refuses it.
pub(super) fn nodes_that_have<'a>(
    nodes: impl Iterator<Item = &'a EvidenceObject>,
    pod: Value<'_>,
) -> (CauseRule, String) {
    let nodes = Refusals::of(nodes, pod);
    let names = nodes.names();
    let text = match nodes.0.len() {
        0 => ", and no node has it".to_owned(),
        1 => format!(", which only node {names} has"),
        2..=MAX_NAMES => format!(", which only the nodes {names} have"),
        more => format!(", which {more} nodes have{}", nodes.reasons_of_all()),
    };
    let rule = if nodes.is_all() {
        CauseRule::Fact
    } else {
        CauseRule::Constraint
    };
    (rule, text)
}

/// Why no node at all takes a Pod: `no node takes it: n1 (cordoned), n2 (not ready)`; `None` if a node may take it.
pub(super) fn no_node_takes<'a>(
    nodes: impl Iterator<Item = &'a EvidenceObject>,
    pod: Value<'_>,
) -> Option<String> {
    let nodes = Refusals::of(nodes, pod);
    let is_refused = nodes.is_all() && !nodes.0.is_empty();
    is_refused.then(|| match nodes.0.len() {
        ..=MAX_NAMES => format!("no node takes it: {}", nodes.names()),
        more => format!(
            "none of the {more} nodes takes it{}",
            nodes.reasons_of_all()
        ),
    })
}

/// The nodes that somebody has closed to a Pod, by a cordon or a taint; empty if one of the nodes may take the Pod.
pub(super) fn closed_nodes(nodes: &[&EvidenceObject], pod: Value<'_>) -> Vec<Arc<ObjectRef>> {
    let mut all = nodes.iter();
    if !all.all(|(_, node)| refusal(node.root(), pod).is_some()) {
        return Vec::new();
    }
    let closed = nodes.iter().filter(|(_, node)| is_closed(node.root(), pod));
    closed.map(|(node, _)| node.clone()).collect()
}

/// The names of nodes, each with the reason why it does not take a Pod.
struct Refusals<'a>(Vec<(&'a str, Option<String>)>);

impl<'a> Refusals<'a> {
    fn of(nodes: impl Iterator<Item = &'a EvidenceObject>, pod: Value<'_>) -> Refusals<'a> {
        let reason = |node: &'a EvidenceObject| (&*node.0.name, refusal(node.1.root(), pod));
        let mut nodes: Vec<_> = nodes.map(reason).collect();
        nodes.sort();
        Refusals(nodes)
    }

    /// Whether each node refuses the Pod.
    fn is_all(&self) -> bool {
        self.0.iter().all(|(_, reason)| reason.is_some())
    }

    /// `n1 (cordoned), n2`.
    fn names(&self) -> String {
        let nodes = self.0.iter().map(|(name, reason)| match reason {
            Some(reason) => format!("{name} ({reason})"),
            None => (*name).to_owned(),
        });
        nodes.collect::<Vec<_>>().join(", ")
    }

    /// The reasons without the names, if each node has one: ` (cordoned, not ready)`.
    fn reasons_of_all(&self) -> String {
        let reasons = self.0.iter().map(|(_, reason)| reason.as_deref());
        let reasons: Option<BTreeSet<&str>> = reasons.collect();
        let reasons = reasons.map(|reasons| Vec::from_iter(reasons).join(", "));
        reasons.map_or(String::new(), |reasons| format!(" ({reasons})"))
    }
}

/// Why a node does not take a Pod; `None` if it may take it.
fn refusal(node: Value<'_>, pod: Value<'_>) -> Option<String> {
    if is_cordoned(node) {
        return Some("cordoned".to_owned());
    }
    if condition(node, "Ready").is_some_and(|ready| ready.status != "True") {
        return Some("not ready".to_owned());
    }
    let mut taints = untolerated_taints(node, pod);
    taints
        .next()
        .map(|taint| format!("untolerated taint {taint}"))
}
