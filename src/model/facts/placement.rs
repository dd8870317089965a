//! Why a Pod has no node: the labels that it demands, and whether the nodes that have them take it.

use std::sync::Arc;

use crate::graph::{Node, well_known};
use crate::object::ObjectRef;
use crate::object::selector::LabelSelector;
use crate::source::{Form, Scope, Select, SourceKey};
use crate::status::{Cause, CauseRule};

use super::constraints::constraints;
use super::node_refusals::{closed_nodes, no_node_takes, nodes_that_have};
use crate::model::around::Around;
use crate::model::evidence::EvidenceObject;

/// The most nodes that are read whole. A Node has some 10 KB.
const MAX_WHOLE_NODES: usize = 16;

/// The words of the scheduler about nodes that are cordoned or tainted. It does not name them.
const REFUSED_BY_NODES: [&str; 2] = ["unschedulable", "untolerated taint"];

/// The demands of a Pod that has no node.
pub(in crate::model) fn placement_facts(around: Around<'_>, node: &Node) -> Vec<Cause> {
    let demands = demands(around, node);
    let demands = demands
        .iter()
        .map(|demand| demand_fact(around, node, demand));
    let demands = demands.flatten();
    demands.chain(constraints(around, node)).collect()
}

/// The sources of the nodes that a Pod without a node may use: their labels, and if they are few, all of them.
pub(in crate::model) fn node_sources(around: Around<'_>, node: &Node) -> Vec<SourceKey> {
    let demands = demands(around, node);
    let sources = demands.iter().flat_map(|demand| {
        let labels = nodes_source(around, node, demand);
        let whole = labels
            .clone()
            .and_then(|labels| whole_nodes(around, labels));
        labels.into_iter().chain(whole)
    });
    sources.collect()
}

/// The selectors of which a node must match one, for a Pod that cannot be scheduled. One without labels matches any
/// node: the Pod demands none, and the scheduler says that nodes refuse it.
fn demands(around: Around<'_>, node: &Node) -> Vec<LabelSelector> {
    let Some(pod) = node.pod().filter(|_| is_unschedulable(around, node)) else {
        return Vec::new();
    };
    if pod.placement.is_empty() && is_refused_by_nodes(around, node) {
        return vec![LabelSelector::default()];
    }
    pod.placement.to_vec()
}

/// Whether the scheduler finds no node for a Pod.
pub(in crate::model) fn is_unschedulable(around: Around<'_>, pod: &Node) -> bool {
    let object = around.object(&pod.uid);
    object.is_some_and(|object| object.own.has_cause(CauseRule::Unschedulable))
}

/// Whether the scheduler says that each of a few nodes refuses a Pod.
fn is_refused_by_nodes(around: Around<'_>, pod: &Node) -> bool {
    let causes = around.object(&pod.uid).map(|object| &object.own.causes);
    let mut causes = causes.into_iter().flatten();
    causes.any(|cause| {
        let count = cause.text.strip_prefix("0/");
        let count = count.and_then(|text| text.split(' ').next()?.parse().ok());
        let is_few = count.is_some_and(|count: usize| count <= MAX_WHOLE_NODES);
        is_few
            && REFUSED_BY_NODES
                .iter()
                .any(|words| cause.text.contains(words))
    })
}

/// What a Pod demands of its node. It explains why the Pod has no node only if no node with these labels takes it.
fn demand_fact(around: Around<'_>, node: &Node, demand: &LabelSelector) -> Option<Cause> {
    let labels = nodes_source(around, node, demand);
    let labels = labels.filter(|labels| around.coverage().is_read(labels));
    let whole = labels
        .clone()
        .and_then(|labels| whole_nodes(around, labels));
    let whole = whole.filter(|whole| around.coverage().is_read(whole));
    let nodes = whole
        .iter()
        .flat_map(|whole| around.evidence().objects(whole));
    let pod = around.doc(&node.uid)?;
    if demand.is_empty() {
        let text = no_node_takes(nodes, pod.root())?;
        return Some(Cause::new(CauseRule::Fact, text));
    }
    let count = labels.map(|labels| around.evidence().labels(&labels).count());
    let (rule, found) = match count {
        None => (CauseRule::Fact, String::new()),
        Some(1..) if whole.is_some() => nodes_that_have(nodes, pod.root()),
        Some(0) => (CauseRule::Fact, ", and no node has it".to_owned()),
        Some(1) => (CauseRule::Constraint, ", which 1 node has".to_owned()),
        Some(nodes) => (CauseRule::Constraint, format!(", which {nodes} nodes have")),
    };
    let text = format!("needs a node with {demand}{found}");
    Some(Cause::new(rule, text))
}

/// The nodes that somebody has closed to a Pod, by a cordon or a taint; empty if a node may take the Pod.
pub fn nodes_closed_to(around: Around<'_>, pod: &Node) -> Vec<Arc<ObjectRef>> {
    let demands = demands(around, pod);
    let labels = demands
        .iter()
        .filter_map(|it| nodes_source(around, pod, it));
    let whole: Vec<_> = labels.filter_map(|it| whole_nodes(around, it)).collect();
    let nodes = whole
        .iter()
        .flat_map(|whole| around.evidence().objects(whole));
    let nodes: Vec<&EvidenceObject> = nodes.collect();
    let doc = around.doc(&pod.uid);
    doc.map_or_else(Vec::new, |pod| closed_nodes(&nodes, pod.root()))
}

/// The source of the labels of all nodes that an object may use.
pub(in crate::model) fn nodes_source(
    around: Around<'_>,
    pod: &Node,
    demand: &LabelSelector,
) -> Option<SourceKey> {
    let select = if demand.is_empty() {
        Select::All
    } else {
        Select::labelled(&demand.to_string())
    };
    Some(SourceKey {
        cluster: around.cluster_of(&pod.uid)?.clone(),
        resource: well_known("", "Node"),
        scope: Scope::Cluster,
        select,
        form: Form::Metadata,
    })
}

/// The source of whole nodes, if a source of their labels has a few.
pub(in crate::model) fn whole_nodes(around: Around<'_>, labels: SourceKey) -> Option<SourceKey> {
    let count = around.evidence().labels(&labels).count();
    let is_few = around.coverage().is_read(&labels) && (1..=MAX_WHOLE_NODES).contains(&count);
    is_few.then_some(SourceKey {
        form: Form::Full,
        ..labels
    })
}

#[cfg(test)]
mod tests {
    use crate::model::neighbour_rules::tests::Read;

    const TAINTED: &str = "spec: {taints: [{key: dedicated, value: ml, effect: NoSchedule}]}";

    fn pod(spec: &str, message: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a, namespace: shop}}, spec: {{{spec}}}, status: {{phase: Pending, conditions: [{{type: PodScheduled, status: 'False', reason: Unschedulable, message: '{message}'}}]}}}}"
        )
    }

    fn node(name: &str, fields: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{gpu: large}}}}, {fields}}}"
        )
    }

    /// The facts about a Pod without a node beside these nodes.
    fn facts(pod: &str, nodes: &[String]) -> String {
        let mut read = Read::for_status(pod);
        let state = read.explain(nodes).explain(nodes).state("a");
        let lines = state.lines();
        let is_fact = |line: &&str| line.starts_with("Fact: ") || line.starts_with("Constraint: ");
        lines.filter(is_fact).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_pod_names_the_nodes_that_have_what_it_demands_and_do_not_take_it() {
        let needs_gpu = "nodeSelector: {gpu: large}";
        let tolerates =
            "nodeSelector: {gpu: large}, tolerations: [{key: dedicated, operator: Exists}]";
        let tainted = node("n1", TAINTED);
        for (spec, nodes, expected) in [
            (
                needs_gpu,
                vec![],
                "Fact: needs a node with gpu=large, and no node has it",
            ),
            (
                needs_gpu,
                vec![tainted.clone()],
                "Fact: needs a node with gpu=large, which only node n1 (untolerated taint dedicated=ml:NoSchedule) has",
            ),
            (
                tolerates,
                vec![tainted.clone()],
                "Constraint: needs a node with gpu=large, which only node n1 has",
            ),
            (
                needs_gpu,
                (0..17).map(|n| node(&format!("n{n}"), TAINTED)).collect(),
                "Constraint: needs a node with gpu=large, which 17 nodes have",
            ),
        ] {
            assert_eq!(
                facts(&pod(spec, "0/9 nodes are available"), &nodes),
                expected
            );
        }
    }

    #[test]
    fn a_pod_without_demands_says_why_no_node_takes_it() {
        let refused = "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable.";
        let nodes = [
            node("n1", TAINTED),
            node("n2", "spec: {unschedulable: true}"),
        ];
        let named =
            "Fact: no node takes it: n1 (untolerated taint dedicated=ml:NoSchedule), n2 (cordoned)";
        assert_eq!(facts(&pod("", refused), &nodes), named);
        let with_room = [nodes[0].clone(), node("n3", "spec: {}")];
        assert_eq!(facts(&pod("", refused), &with_room), "");
        // It speaks of other reasons, or of many nodes.
        for message in [
            "0/2 nodes are available: 2 Insufficient cpu.",
            "0/900 nodes are available: 900 node(s) were unschedulable.",
        ] {
            assert_eq!(facts(&pod("", message), &nodes), "", "{message}");
        }
    }
}
