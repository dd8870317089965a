//! The headline of a Deployment: its state, as in `status`, and the stage of its rollout.

use crate::commands::trace::headline::Headline;
use crate::render::count::counted;
use crate::status::Status;

use super::rollout::RolloutSnapshot;

/// The headline of a Deployment that exists; `None` if it is not assessed.
pub(super) fn of(rollout: &RolloutSnapshot<'_>) -> Option<Headline> {
    let assessment = rollout.traced.assessment(rollout.traced.uid()?)?;
    Some(there(rollout, assessment.status()))
}

fn there(rollout: &RolloutSnapshot<'_>, status: Status) -> Headline {
    let wanted = rollout.wanted();
    let available = rollout.count("availableReplicas");
    let headline = |stage: &str| Headline::new(status, stage);
    if rollout.is_deleting() {
        return headline("being deleted");
    }
    if !rollout.is_observed() {
        let (generation, observed) = rollout.generations();
        return headline(&format!(
            "not yet observed by the controller (generation {generation}, observed {observed})"
        ));
    }
    if rollout.deadline_exceeded().is_some() {
        return headline("the rollout has failed").at(counts(rollout));
    }
    if let Some(failure) = rollout.replica_failure() {
        return headline(&failure.reason).at(counts(rollout));
    }
    if rollout.is_complete() {
        return match wanted {
            0 => headline("scaled to 0"),
            _ => headline("complete").at(format!("{available}/{wanted} available")),
        };
    }
    if rollout.is_paused() {
        return headline("paused").at(counts(rollout));
    }
    let is_rolled = rollout
        .condition("Progressing")
        .is_some_and(|condition| condition.reason == "NewReplicaSetAvailable");
    match (wanted, is_rolled) {
        (0, _) => {
            let left = counted(rollout.count("replicas"), "pod", "pods");
            headline("scaling to 0").at(format!("{left} left"))
        }
        (_, true) => {
            let failing = failing(rollout);
            headline(&format!(
                "rolled out, but {available}/{wanted} available{failing}"
            ))
        }
        (_, false) => headline("rolling out").at(counts(rollout)),
    }
}

/// `1/3 updated, 3 available, 1 failing`.
fn counts(rollout: &RolloutSnapshot<'_>) -> String {
    format!(
        "{}/{} updated, {} available{}",
        rollout.count("updatedReplicas"),
        rollout.wanted(),
        rollout.count("availableReplicas"),
        failing(rollout)
    )
}

/// How many objects of the rollout are failing, counted as in `status`.
fn failing(rollout: &RolloutSnapshot<'_>) -> String {
    let nodes = [&rollout.sets, &rollout.new_pods, &rollout.old_pods];
    let failing = nodes
        .into_iter()
        .flatten()
        .filter_map(|node| rollout.traced.assessment(&node.uid))
        .filter(|assessment| assessment.is_failing_itself())
        .count();
    match failing {
        0 => String::new(),
        failing => format!(", {failing} failing"),
    }
}
