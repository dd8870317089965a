//! The headline of a workload: its state, as in `status`, and the stage of its rollout.

use crate::commands::trace::headline::Headline;
use crate::render::count::counted;
use crate::status::Status;

use super::rollout::RolloutSnapshot;

/// The headline of a workload that exists; `None` if it is not assessed.
pub(super) fn of(rollout: &RolloutSnapshot<'_>) -> Option<Headline> {
    let assessment = rollout.assessment()?;
    let headline = |stage: &str| Headline::new(assessment.status(), stage);
    if rollout.is_deleting() {
        return Some(headline("being deleted"));
    }
    if !rollout.is_observed() {
        let (generation, observed) = rollout.generations();
        return Some(headline(&format!(
            "not yet observed by the controller (generation {generation}, observed {observed})"
        )));
    }
    if rollout.is_complete() && assessment.status() == Status::Failed {
        return Some(headline(&assessment.verdict.message));
    }
    Some(rollout.kind.headline(rollout, assessment.status()))
}

/// The headline of a rollout that its controller has observed.
pub(super) fn rollout(rollout: &RolloutSnapshot<'_>, status: Status) -> Headline {
    let headline = |stage: &str| Headline::new(status, stage);
    let counts = rollout.counts;
    let (wanted, available) = (counts.wanted, counts.available);
    if rollout.deadline_exceeded().is_some() {
        return headline("the rollout has failed").at(progress(rollout));
    }
    if let Some(failure) = rollout.replica_failure() {
        return headline(&failure.reason).at(progress(rollout));
    }
    if rollout.is_complete() {
        return match wanted {
            0 => headline("scaled to 0"),
            _ if counts.goal < wanted => {
                headline("complete up to the partition").at(progress(rollout))
            }
            _ => headline("complete").at(format!("{available}/{wanted} available")),
        };
    }
    if rollout.is_paused() {
        return headline("paused").at(progress(rollout));
    }
    if wanted == 0 {
        let left = counted(counts.there, "pod", "pods");
        return headline("scaling to 0").at(format!("{left} left"));
    }
    if rollout.is_on_delete() && counts.updated < counts.goal {
        return headline("waiting for someone to delete the old pods").at(progress(rollout));
    }
    if is_rolled_out(rollout) {
        let failing = failing(rollout);
        return headline(&format!(
            "rolled out, but {available}/{wanted} available{failing}"
        ));
    }
    headline("rolling out").at(progress(rollout))
}

/// Whether only the availability of the Pods is missing.
fn is_rolled_out(rollout: &RolloutSnapshot<'_>) -> bool {
    // The condition stays until the controller has created the next ReplicaSet.
    let has_newest = rollout.current().is_some() || !rollout.knows_owners();
    match rollout.condition("Progressing") {
        Some(condition) => condition.reason == "NewReplicaSetAvailable" && has_newest,
        None => false,
    }
}

/// `1/3 updated, 3 available, 1 failing`.
fn progress(rollout: &RolloutSnapshot<'_>) -> String {
    let counts = rollout.counts;
    format!(
        "{}/{} updated, {} available{}",
        counts.updated,
        counts.goal,
        counts.available,
        failing(rollout)
    )
}

/// How many objects of the rollout are failing, counted as in `status`.
pub(super) fn failing(rollout: &RolloutSnapshot<'_>) -> String {
    let groups = rollout.groups.iter();
    let nodes = groups.flat_map(|group| group.object.into_iter().chain(group.pods.iter().copied()));
    let failing = nodes
        .filter_map(|node| rollout.traced.assessment(&node.uid))
        .filter(|assessment| assessment.is_failing_itself())
        .count();
    match failing {
        0 => String::new(),
        failing => format!(", {failing} failing"),
    }
}
