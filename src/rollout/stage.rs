//! How far a workload has come, in words.

use jiff::Timestamp;

use super::snapshot::RolloutSnapshot;
use crate::object::{StatusCondition, counted};
use crate::status::{Assessment, Status};

/// How far a workload has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutStage {
    /// The stage: `rolling out`.
    pub name: String,
    /// The progress: `1/3 updated`.
    pub progress: Option<String>,
}

impl RolloutStage {
    /// A stage without progress.
    pub(super) fn new(name: impl Into<String>) -> RolloutStage {
        RolloutStage {
            name: name.into(),
            progress: None,
        }
    }

    /// The stage with this progress.
    pub(super) fn at(self, progress: impl Into<String>) -> RolloutStage {
        RolloutStage {
            progress: Some(progress.into()),
            ..self
        }
    }
}

/// The stage of a workload with this assessment.
pub fn stage(rollout: &RolloutSnapshot<'_>, assessment: &Assessment) -> RolloutStage {
    let deleted = rollout.object().str_at(&["metadata", "deletionTimestamp"]);
    if deleted.is_some() {
        return RolloutStage::new("being deleted");
    }
    if !rollout.is_observed() {
        let (generation, observed) = rollout.generations();
        return RolloutStage::new(format!(
            "not yet observed by the controller (generation {generation}, observed {observed})"
        ));
    }
    if rollout.is_complete() && assessment.status() == Status::Failed {
        return RolloutStage::new(&*assessment.verdict.message);
    }
    rollout.kind.stage(rollout)
}

/// The stage of a rollout that its controller has observed.
pub(super) fn stage_of_rollout(rollout: &RolloutSnapshot<'_>) -> RolloutStage {
    let counts = rollout.counts;
    let (wanted, available) = (counts.wanted, counts.available);
    if rollout.deadline_exceeded().is_some() {
        return RolloutStage::new("the rollout has failed").at(progress(rollout));
    }
    if let Some(failure) = rollout.replica_failure() {
        return RolloutStage::new(&*failure.reason).at(progress(rollout));
    }
    if rollout.is_complete() {
        return match wanted {
            0 => RolloutStage::new("scaled to 0"),
            _ if counts.goal < wanted => {
                RolloutStage::new("complete up to the partition").at(progress(rollout))
            }
            _ => RolloutStage::new("complete").at(format!("{available}/{wanted} available")),
        };
    }
    if rollout.is_paused() {
        return RolloutStage::new("paused").at(progress(rollout));
    }
    if wanted == 0 {
        let left = counted(counts.there, "pod", "pods");
        return RolloutStage::new("scaling to 0").at(format!("{left} left"));
    }
    let strategy = rollout.object().str_at(&["spec", "updateStrategy", "type"]);
    if strategy.as_deref() == Some("OnDelete") && has_old_pods(rollout) {
        return RolloutStage::new("waiting for someone to delete the old pods")
            .at(progress(rollout));
    }
    // The condition stays until the controller has created the next ReplicaSet.
    let has_newest = rollout.current().is_some() || !rollout.knows_owners();
    if has_newest && rollout.reported_complete().is_some() {
        let failing = failing(rollout);
        return RolloutStage::new(format!(
            "rolled out, but {available}/{wanted} available{failing}"
        ));
    }
    RolloutStage::new("rolling out").at(progress(rollout))
}

/// Whether Pods of an older revision stay, by the Pods if they have been read, else by the controller's counts.
fn has_old_pods(rollout: &RolloutSnapshot<'_>) -> bool {
    let counts = rollout.counts;
    match rollout.pods_unread() {
        None => rollout.old_pods().any(|pod| !pod.deleting),
        Some(_) => counts.updated < counts.goal.min(counts.there),
    }
}

/// `1/3 updated, 3 available, 1 failing`.
fn progress(rollout: &RolloutSnapshot<'_>) -> String {
    let counts = rollout.counts;
    format!(
        "{} updated, {} available{}",
        counts.of_goal(counts.updated),
        counts.available,
        failing(rollout)
    )
}

/// How many objects of the rollout are failing, counted as in `status`.
pub(super) fn failing(rollout: &RolloutSnapshot<'_>) -> String {
    let groups = rollout.groups.iter();
    let nodes = groups.flat_map(|group| group.object.into_iter().chain(group.pods.iter().copied()));
    let failing = nodes
        .filter_map(|node| rollout.model.assessment(&node.uid))
        .filter(|assessment| assessment.is_failing_itself())
        .count();
    match failing {
        0 => String::new(),
        failing => format!(", {failing} failing"),
    }
}

/// Since when a condition of a workload has its state. `Progressing` is updated without a transition.
pub fn condition_since(condition: &StatusCondition<'_>) -> Option<Timestamp> {
    match &*condition.kind {
        "Progressing" => condition.updated(),
        _ => condition.since(),
    }
}

/// The status that a condition of a workload stands for.
pub fn condition_status(condition: &StatusCondition<'_>) -> Status {
    match (&*condition.kind, &*condition.status) {
        ("Available" | "Complete" | "SuccessCriteriaMet" | "Suspended", "True")
        | ("ReplicaFailure", "False") => Status::Current,
        ("Progressing", "True") if condition.reason == "NewReplicaSetAvailable" => Status::Current,
        ("Progressing", "True") | ("Available", _) => Status::InProgress,
        ("Progressing", "Unknown") => Status::Unknown,
        ("Failed" | "FailureTarget", "True") | ("Progressing" | "ReplicaFailure", _) => {
            Status::Failed
        }
        _ => Status::Unknown,
    }
}
