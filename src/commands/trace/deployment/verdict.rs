//! The headline of a Deployment: its state, as in `status`, and the stage of its rollout.

use crate::commands::trace::headline::Headline;
use crate::commands::trace::target::Presence;
use crate::render::count::counted;
use crate::status::{Assessment, Status};

use super::rollout::RolloutSnapshot;
use super::state::DeploymentState;

/// The headline of a Deployment, whether or not it exists.
pub(super) fn of(state: &DeploymentState, rollout: Option<&RolloutSnapshot<'_>>) -> Headline {
    match (&state.traced.presence, rollout) {
        (Presence::Unread, _) => Headline::new(Status::Unknown, "not read yet"),
        (Presence::Absent, _) => Headline::new(
            Status::NotFound,
            format!("waiting for {} to be created", state.traced.target.object()),
        ),
        (Presence::Deleted(uid), _) => {
            let words = match state.traced.graph().tree(uid).len() {
                0 => "deleted".to_owned(),
                1 => "deleted; 1 dependent still exists".to_owned(),
                left => format!("deleted; {left} dependents still exist"),
            };
            Headline::new(Status::NotFound, words)
        }
        (Presence::There(_), None) => Headline::new(Status::Unknown, "not readable"),
        (Presence::There(uid), Some(rollout)) => {
            let assessment = state.traced.assessment(uid);
            assessment.map_or(
                Headline::new(Status::Unknown, "not readable"),
                |assessment| there(rollout, assessment),
            )
        }
    }
}

fn there(rollout: &RolloutSnapshot<'_>, assessment: &Assessment) -> Headline {
    let status = assessment.status();
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
        .filter(|assessment| assessment.is_failing())
        .count();
    match failing {
        0 => String::new(),
        failing => format!(", {failing} failing"),
    }
}
