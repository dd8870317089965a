//! Why a Pod has no node: the labels that it demands and whether the nodes that have them take it, the spread, other Pods, and the
//! places of its volumes.

use std::sync::Arc;

use crate::graph::{Node, Pod, well_known};
use crate::model::around::Around;
use crate::model::evidence::EvidenceObject;
use crate::object::selector::LabelSelector;
use crate::object::{Doc, ObjectRef, Value, label_selector, node_selector_term};
use crate::source::{Form, Scope, Select, SourceKey};
use crate::status::{Cause, CauseRule};

use super::nodes::{closed_nodes, no_node_takes, nodes_that_have};

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

/// The sources of the nodes that a Pod without a node may use: their labels, and if they are few, all of them. Also
/// those of its volumes, and of the nodes that reach them.
pub(in crate::model) fn placement_sources(around: Around<'_>, pod: &Node) -> Vec<SourceKey> {
    let mut sources = Vec::new();
    for demand in demands(around, pod) {
        let labels = nodes_source(around, pod, &demand);
        let whole = labels.clone();
        let whole = whole.and_then(|labels| whole_nodes(around, labels));
        sources.extend(labels.into_iter().chain(whole));
    }
    if is_unschedulable(around, pod) {
        sources.extend(volume_sources_of(around, pod));
        for (source, volume) in volumes_of(around, pod) {
            let nodes = terms(volume.root());
            sources.extend(nodes.iter().map(|term| nodes_of_term(&source, term)));
        }
    }
    sources
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
    let count = labels.map(|labels| around.evidence().label_count(&labels));
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
    let count = around.evidence().label_count(&labels);
    let is_few = around.coverage().is_read(&labels) && (1..=MAX_WHOLE_NODES).contains(&count);
    is_few.then_some(SourceKey {
        form: Form::Full,
        ..labels
    })
}

/// The terms of a rule about other Pods that must hold.
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// The access mode of a claim that only one Pod may use.
const ONE_POD: &str = "ReadWriteOncePod";

/// The constraints of a Pod that cannot be scheduled. They are facts: the scheduler does not say which one matters.
pub(in crate::model) fn constraints(around: Around<'_>, pod: &Node) -> Vec<Cause> {
    let is_without_node = is_unschedulable(around, pod);
    let doc = is_without_node.then(|| around.doc(&pod.uid)).flatten();
    let Some(doc) = doc else {
        return Vec::new();
    };
    let mut texts = spread(doc.root());
    texts.extend(neighbours(doc.root(), "podAffinity", "must run beside"));
    texts.extend(neighbours(
        doc.root(),
        "podAntiAffinity",
        "must not run beside",
    ));
    texts.extend(claim_holders(around, pod));
    let causes = texts.into_iter();
    let causes = causes.map(|text| Cause::new(CauseRule::Constraint, text));
    causes.chain(volume_places(around, pod)).collect()
}

/// The other Pods that have a claim of a Pod, if only one may have it.
fn claim_holders(around: Around<'_>, pod: &Node) -> Vec<String> {
    let claims = claims_of(around, pod).filter(|claim| {
        let doc = around.doc(&claim.uid);
        doc.is_some_and(|doc| {
            let mut modes = doc.root().items_at(&["spec", "accessModes"]);
            modes.any(|mode| mode.as_str().as_deref() == Some(ONE_POD))
        })
    });
    let holders = claims.flat_map(|claim| {
        let users = around.graph().referrers(&claim.object);
        let users = users.filter_map(|uid| around.graph().node(uid));
        // A Pod with a node holds its volumes until it ends.
        let is_holder = |pod: &Pod| pod.node.is_some() && !pod.has_ended;
        let holders = users.filter(move |user| user.pod().is_some_and(is_holder));
        holders.map(move |holder| {
            format!(
                "{} has {}, which is for one pod ({ONE_POD})",
                holder.object, claim.object
            )
        })
    });
    holders.collect()
}

pub(in crate::model) fn claims_of<'m>(
    around: Around<'m>,
    pod: &Node,
) -> impl Iterator<Item = &'m Node> {
    let found = around.graph().references_of(&pod.uid).iter();
    let found = found.filter_map(move |found| around.graph().referenced(&found.target));
    found.filter(|claim| &*claim.object.kind == "PersistentVolumeClaim")
}

/// The constraints on the spread of Pods that must hold.
fn spread(pod: Value<'_>) -> Vec<String> {
    let constraints = pod.items_at(&["spec", "topologySpreadConstraints"]);
    let texts = constraints.filter_map(|constraint| {
        let must_hold =
            constraint.str_at(&["whenUnsatisfiable"]).as_deref() != Some("ScheduleAnyway");
        let key = constraint.str_at(&["topologyKey"]).filter(|_| must_hold)?;
        let skew = constraint.i64_at(&["maxSkew"]).unwrap_or(1);
        Some(format!("must spread over {key}, maxSkew {skew}"))
    });
    texts.collect()
}

/// The Pods beside which a Pod must or must not run.
fn neighbours(pod: Value<'_>, kind: &str, words: &str) -> Vec<String> {
    let terms = pod.items_at(&["spec", "affinity", kind, REQUIRED]);
    let texts = terms.filter_map(|term| {
        let labels = term.at(&["labelSelector"]).and_then(label_selector)?;
        let key = term.str_at(&["topologyKey"])?;
        Some(format!("{words} pods with {labels}, by {key}"))
    });
    texts.collect()
}

/// Where the nodes are that reach a volume.
const TERMS: [&str; 4] = ["spec", "nodeAffinity", "required", "nodeSelectorTerms"];

/// Where the volumes of a Pod are. That explains why it has no node if no node there takes new Pods.
pub(in crate::model) fn volume_places(around: Around<'_>, pod: &Node) -> Vec<Cause> {
    let Some(doc) = around.doc(&pod.uid) else {
        return Vec::new();
    };
    let volumes = volumes_of(around, pod).into_iter();
    let places = volumes.filter_map(|(source, volume)| {
        let terms = terms(volume.root());
        let places: Vec<String> = terms.iter().map(ToString::to_string).collect();
        let sources = terms.iter().map(|term| nodes_of_term(&source, term));
        let sources: Vec<SourceKey> = sources.collect();
        let is_read = sources
            .iter()
            .all(|source| around.coverage().is_read(source));
        let (rule, nodes) = if is_read {
            let nodes = sources.iter();
            let nodes = nodes.flat_map(|source| around.evidence().objects(source));
            nodes_that_have(nodes, doc.root())
        } else {
            (CauseRule::Constraint, String::new())
        };
        let name = source.select.name()?;
        let places = places.join(" or ");
        let text = format!("persistentvolume/{name} is only on nodes with {places}{nodes}");
        (!places.is_empty()).then(|| Cause::new(rule, text))
    });
    places.collect()
}

/// The volumes of a Pod that are read, each with the source that has it alone.
fn volumes_of(around: Around<'_>, pod: &Node) -> Vec<(SourceKey, Doc)> {
    let sources = volume_sources_of(around, pod).into_iter();
    let volumes = sources.filter_map(|source| {
        let evidence = around.evidence().objects(&source).next();
        let evidence = evidence.map(|(_, volume)| volume.clone());
        let shown = || {
            let name = source.select.name()?;
            let mut volumes = around.graph().of_name("PersistentVolume", None, name);
            around.doc(&volumes.next()?.uid)
        };
        let volume = evidence.or_else(shown)?;
        Some((source, volume))
    });
    volumes.collect()
}

/// The sources of the volumes that the claims of a Pod are bound to, each by its name.
fn volume_sources_of(around: Around<'_>, pod: &Node) -> Vec<SourceKey> {
    let volumes = claims_of(around, pod).filter_map(|claim| {
        let volume = around.doc(&claim.uid)?;
        let name = volume.root().text_at(&["spec", "volumeName"])?;
        let cluster = around.cluster_of(&pod.uid)?;
        let volumes = well_known("", "PersistentVolume");
        Some(SourceKey::of(cluster, volumes, None, Select::Name(name)))
    });
    volumes.collect()
}

/// The labels of the nodes that reach a volume: a node must match one of the terms.
fn terms(volume: Value<'_>) -> Vec<LabelSelector> {
    let terms = volume.items_at(&TERMS).filter_map(node_selector_term);
    terms.filter(|term| !term.is_empty()).collect()
}

fn nodes_of_term(volume: &SourceKey, term: &LabelSelector) -> SourceKey {
    SourceKey {
        resource: well_known("", "Node"),
        select: Select::labelled(&term.to_string()),
        ..volume.clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rules::tests::Read;

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
