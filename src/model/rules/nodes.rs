//! Rules about nodes: too many Pods, limits that are too high, taints that evict a Pod, and why nodes take no more Pods.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::{KnownRelation, Node, well_known};
use crate::model::around::Around;
use crate::model::evidence::EvidenceObject;
use crate::object::{
    CONDITION_TAINTS, Doc, ObjectRef, Quantity, Value, condition, evicting_taints, is_closed,
    is_cordoned, is_sidecar, untolerated_taints,
};
use crate::source::{Select, SourceKey};
use crate::status::{CauseRule, Finding, Status};

/// The resources that a node can promise more of than it has.
const RESOURCES: [NodeResource; 2] = [
    NodeResource {
        key: "cpu",
        word: "CPU",
    },
    NodeResource {
        key: "memory",
        word: "memory",
    },
];

/// A resource of a node.
struct NodeResource {
    /// The name in the API.
    key: &'static str,
    /// The word for people.
    word: &'static str,
}

/// The notes of a node that has no room for more Pods, or whose Pods may use more than it has. They need all Pods of
/// the node, which only the trace of the node reads.
pub(in crate::model) fn crowded_node(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let (Some(doc), Some(pods)) = (around.doc(&node.uid), pods_on(around, node)) else {
        return Vec::new();
    };
    let allocatable = |key| {
        let text = doc.root().text_at(&["status", "allocatable", key])?;
        Some((Quantity::parse(&text)?.approximate(), text))
    };
    let mut notes = Vec::new();
    if let Some((most, text)) = allocatable("pods")
        && count(pods.len()) >= most
    {
        let text = format!("reached max Pods: {} of {text}", pods.len());
        notes.push(Finding::new(CauseRule::MaxPods, Status::Current, text));
    }
    for resource in &RESOURCES {
        let limits: f64 = pods
            .iter()
            .map(|pod| limits(pod.root(), resource.key))
            .sum();
        if let Some((most, text)) = allocatable(resource.key)
            && most > 0.0
            && limits >= most
        {
            let share = (limits / most * 100.0).floor();
            let word = resource.word;
            let text = format!("{word} overcommitted: the limits are {share}% of {text}");
            notes.push(Finding::new(
                CauseRule::Overcommitted,
                Status::Current,
                text,
            ));
        }
    }
    notes
}

/// The Pods on a node that have not ended; `None` if they were not all read.
fn pods_on(around: Around<'_>, node: &Node) -> Option<Vec<Doc>> {
    let select = Select::matching(None, Some(&format!("spec.nodeName={}", node.object.name)));
    let cluster = around.cluster_of(&node.uid)?;
    let source = SourceKey::of(cluster, well_known("", "Pod"), None, select);
    if !around.coverage().is_read(&source) {
        return None;
    }
    let pods = around.graph().referrers(&node.object);
    let pods = pods.filter(|uid| {
        let pod = around.graph().node(uid).and_then(Node::pod);
        pod.is_some_and(|pod| !pod.has_ended) && around.is_there(uid)
    });
    Some(pods.filter_map(|uid| around.doc(uid)).collect())
}

/// The note of a Pod that its node evicts first, because the node has too little memory and the Pod requests nothing.
pub(in crate::model) fn eviction_risk(around: Around<'_>, pod: &Node) -> Vec<Finding> {
    let references = around.graph().references_of(&pod.uid).iter();
    let mut nodes = references.filter(|found| found.relation.is(KnownRelation::Node));
    let node = nodes.find_map(|found| around.graph().referenced(&found.target));
    let has_pressure = |node: &&Node| {
        let object = around.object(&node.uid);
        object.is_some_and(|object| object.own.has_cause(CauseRule::MemoryPressure))
    };
    let has_ended = pod.pod().is_some_and(|pod| pod.has_ended);
    let Some(node) = node.filter(has_pressure).filter(|_| !has_ended) else {
        return Vec::new();
    };
    let doc = around.doc(&pod.uid);
    let class = doc
        .as_ref()
        .and_then(|doc| doc.root().str_at(&["status", "qosClass"]));
    if class.as_deref() != Some("BestEffort") {
        return Vec::new();
    }
    let name = &node.object.name;
    let text =
        format!("eviction risk: node {name} has too little memory, and the pod is BestEffort");
    vec![Finding::new(CauseRule::EvictionRisk, Status::Current, text)]
}

/// The sum of the limits of a Pod's containers. An init container ends before the others start, unless it is a sidecar.
fn limits(pod: Value<'_>, key: &str) -> f64 {
    let sidecars = pod.items_at(&["spec", "initContainers"]);
    let sidecars = sidecars.filter(|container| is_sidecar(*container));
    let containers = pod.items_at(&["spec", "containers"]).chain(sidecars);
    let limits = containers.filter_map(|container| {
        let limit = container.text_at(&["resources", "limits", key])?;
        Some(Quantity::parse(&limit)?.approximate())
    });
    limits.sum()
}

fn count(pods: usize) -> f64 {
    f64::from(u32::try_from(pods).unwrap_or(u32::MAX))
}

/// The taints of a Pod's node that evict the Pod. Others keep only new Pods away. A Pod that is well has been placed
/// before, so nothing looks at its node. The conditions of a node have rules of their own.
pub(in crate::model) fn evicted_by_taints(around: Around<'_>, pod: &Node) -> Vec<Finding> {
    let judged = around.object(&pod.uid);
    if judged.is_some_and(|object| object.own.is_well()) {
        return Vec::new();
    }
    let references = around.graph().references_of(&pod.uid).iter();
    let mut nodes = references.filter(|found| found.relation.is(KnownRelation::Node));
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
