//! What keeps a rollout from its next step: budgets and limits.

use crate::graph::Node;
use crate::status::{Assessment, Cause, CauseRule};

use super::rollout::RolloutSnapshot;

/// The blockers of a rollout, one line each.
pub(super) fn of(rollout: &RolloutSnapshot<'_>) -> Vec<String> {
    let mut blockers: Vec<String> = rollout.kind.limits(rollout).into_iter().collect();
    blockers.extend(disruption_budgets(rollout));
    blockers
}

/// The `PodDisruptionBudgets` that allow no eviction of its Pods. They matter only while it is not Current.
fn disruption_budgets(rollout: &RolloutSnapshot<'_>) -> Vec<String> {
    if rollout.assessment().is_none_or(Assessment::is_well) {
        return Vec::new();
    }
    let budgets = rollout.traced.graph().of_kind("PodDisruptionBudget");
    let budgets = budgets.filter(|budget| covers(budget, rollout));
    let lines = budgets.filter_map(|budget| {
        let mut causes = rollout.traced.assessment(&budget.uid)?.causes.iter();
        let cause = causes.find(|cause| forbids(cause))?;
        Some(format!("{}: {}", budget.object, cause.text))
    });
    lines.collect()
}

/// Whether a budget selects any Pod of the rollout.
fn covers(budget: &Node, rollout: &RolloutSnapshot<'_>) -> bool {
    let graph = rollout.traced.graph();
    let mut pods = rollout.groups.iter().flat_map(|group| &group.pods);
    pods.any(|pod| graph.selects_by_relations(&budget.uid, pod))
}

fn forbids(cause: &Cause) -> bool {
    matches!(
        cause.rule,
        CauseRule::BudgetViolated | CauseRule::EvictionsBlocked
    )
}
