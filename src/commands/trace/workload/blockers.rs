//! What keeps a rollout from its next step: budgets and limits.

use crate::object::{Value, label_selector};
use crate::status::Assessment;

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
    let mut lines = Vec::new();
    for node in budgets {
        let Some(doc) = rollout.traced.model.doc(&node.uid) else {
            continue;
        };
        if covers(doc.root(), rollout)
            && let Some(text) = forbids(doc.root())
        {
            lines.push(format!("{} {text}", node.object));
        }
    }
    lines
}

/// Whether a budget selects any Pod of the rollout.
fn covers(budget: Value<'_>, rollout: &RolloutSnapshot<'_>) -> bool {
    let selector = budget.at(&["spec", "selector"]).and_then(label_selector);
    let mut pods = rollout.groups.iter().flat_map(|group| &group.pods);
    selector.is_some_and(|selector| pods.any(|pod| selector.matches(|key| pod.label(key))))
}

/// Why a budget allows no eviction; `None` if it allows one.
fn forbids(budget: Value<'_>) -> Option<String> {
    let count = |key: &str| budget.i64_at(&["status", key]).unwrap_or(0);
    let is_read = budget.at(&["status", "disruptionsAllowed"]).is_some();
    (is_read && count("disruptionsAllowed") == 0).then(|| {
        format!(
            "allows no eviction: {} of {} pods healthy, {} must be",
            count("currentHealthy"),
            count("expectedPods"),
            count("desiredHealthy")
        )
    })
}
