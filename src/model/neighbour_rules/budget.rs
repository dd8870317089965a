//! Pods that cannot be evicted: a budget does not allow it, or they are under two budgets.

use crate::graph::Node;
use crate::object::is_cordoned;
use crate::status::{CauseRule, Finding, Status};

use super::super::Model;

/// How many budgets are named.
const MAX_BUDGETS: usize = 2;

impl Model {
    /// The notes of a cordoned node about the budgets that allow no eviction of its Pods. Only a trace reads these.
    pub(super) fn held_drain(&self, node: &Node) -> Vec<Finding> {
        let doc = self.doc(&node.uid);
        if !doc.is_some_and(|doc| is_cordoned(doc.root())) {
            return Vec::new();
        }
        let pods = self.graph.referrers(&node.object);
        let pods = pods.filter_map(|uid| self.graph.node(uid));
        let pods: Vec<&Node> = pods.filter(|pod| self.is_drained(pod)).collect();
        let budgets = self.graph.of_kind("PodDisruptionBudget");
        let held = budgets.filter_map(|budget| {
            let own = &self.objects.get(&budget.uid)?.own;
            let mut rules = [CauseRule::EvictionsBlocked, CauseRule::BudgetViolated].into_iter();
            let rule = rules.find(|rule| own.has_cause(*rule))?;
            let mut pods = pods.iter();
            let pod = pods.find(|pod| self.graph.selects_by_relations(&budget.uid, pod))?;
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
    fn is_drained(&self, pod: &Node) -> bool {
        let runs = pod.pod().is_some_and(|facts| !facts.has_ended) && !pod.deleting;
        let mut owners = pod.owners.iter();
        let is_of_daemon_set = owners.any(|owner| owner.controller && &*owner.kind == "DaemonSet");
        runs && !is_of_daemon_set && self.is_there(&pod.uid)
    }

    /// The note of a budget that shares a Pod with another one: the API server refuses to evict such a Pod.
    pub(super) fn shared_pod(&self, budget: &Node) -> Vec<Finding> {
        let others = self.graph.of_kind("PodDisruptionBudget");
        let others: Vec<&Node> = others
            .filter(|other| {
                let is_beside = other.object.namespace == budget.object.namespace;
                other.uid != budget.uid && is_beside && self.is_there(&other.uid)
            })
            .collect();
        if others.is_empty() {
            return Vec::new();
        }
        let mut pods = self.graph.selected_by_relations(&budget.uid);
        pods.retain(|pod| pod.pod().is_some_and(|facts| !facts.has_ended) && !pod.deleting);
        let is_shared = |other: &&Node| {
            let mut pods = pods.iter();
            pods.find(|pod| self.graph.selects_by_relations(&other.uid, pod))
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
}
