//! Pods that cannot be evicted: a budget does not allow it, or they are under two budgets.

use crate::graph::Node;
use crate::object::is_cordoned;
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;

/// How many budgets are named.
const MAX_BUDGETS: usize = 2;

/// The notes of a cordoned node about the budgets that allow no eviction of its Pods. Only a trace reads these.
pub(in crate::model) fn held_drain(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let doc = around.doc(&node.uid);
    if !doc.is_some_and(|doc| is_cordoned(doc.root())) {
        return Vec::new();
    }
    let pods = around.graph().referrers(&node.object);
    let pods = pods.filter_map(|uid| around.graph().node(uid));
    let pods: Vec<&Node> = pods.filter(|pod| is_drained(around, pod)).collect();
    let budgets = around.graph().of_kind("PodDisruptionBudget");
    let held = budgets.filter_map(|budget| {
        let own = &around.object(&budget.uid)?.own;
        let mut rules = [CauseRule::EvictionsBlocked, CauseRule::BudgetViolated].into_iter();
        let rule = rules.find(|rule| own.has_cause(*rule))?;
        let mut pods = pods.iter();
        let pod = pods.find(|pod| around.graph().selects_by_relations(&budget.uid, pod))?;
        let (namespace, budget) = (pod.object.namespace.as_deref()?, &budget.object);
        let pod = &pod.object;
        let text =
            format!("a drain would wait: {budget} -n {namespace} allows no eviction of {pod}");
        Some(Finding::new(rule, Status::Current, text))
    });
    held.take(MAX_BUDGETS).collect()
}

/// Whether a drain of the node evicts a Pod, so that a budget can hold it up. It leaves those of a `DaemonSet` alone. A Pod
/// that has ended or is being deleted needs no permission.
fn is_drained(around: Around<'_>, pod: &Node) -> bool {
    let runs = pod.pod().is_some_and(|facts| !facts.has_ended) && !pod.deleting;
    let mut owners = pod.owners.iter();
    let is_of_daemon_set = owners.any(|owner| owner.controller && &*owner.kind == "DaemonSet");
    runs && !is_of_daemon_set && around.is_there(&pod.uid)
}

/// The note of a budget that shares a Pod with another one: the API server refuses to evict such a Pod.
pub(in crate::model) fn shared_pod(around: Around<'_>, budget: &Node) -> Vec<Finding> {
    let others = around.graph().of_kind("PodDisruptionBudget");
    let others: Vec<&Node> = others
        .filter(|other| {
            let is_beside = other.object.namespace == budget.object.namespace;
            other.uid != budget.uid && is_beside && around.is_there(&other.uid)
        })
        .collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut pods = around.graph().selected_by_relations(&budget.uid);
    pods.retain(|pod| pod.pod().is_some_and(|facts| !facts.has_ended) && !pod.deleting);
    let is_shared = |other: &&Node| {
        let mut pods = pods.iter();
        pods.find(|pod| around.graph().selects_by_relations(&other.uid, pod))
            .copied()
    };
    let shared = others
        .iter()
        .find_map(|other| Some((*other, is_shared(other)?)));
    let note = shared.map(|(other, pod)| {
        let text = format!(
            "{} is also under {}: evictions will fail",
            pod.object, other.object
        );
        Finding::new(CauseRule::BudgetsOverlap, Status::Current, text)
    });
    Vec::from_iter(note)
}
