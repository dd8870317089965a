//! A node with too many Pods or too high limits, and a Pod that a node may evict.

use crate::graph::{Node, well_known};
use crate::object::{Doc, Quantity, Value, is_sidecar};
use crate::source::{Select, SourceKey};
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;

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
    let mut nodes = references.filter(|found| found.relation.name == "node");
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
