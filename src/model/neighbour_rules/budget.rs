//! A Pod under more than one budget.

use crate::graph::Node;
use crate::status::{CauseRule, Finding, Status};

use super::super::Model;

impl Model {
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
        let pods = self.graph.selected_by_relations(&budget.uid);
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
