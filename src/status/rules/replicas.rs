//! Deployment and `ReplicaSet`.

use jiff::Timestamp;

use crate::object::{StatusCondition, Value};
use crate::status::read::{self, ReadResult};
use crate::status::verdict::Verdict;

/// The `progressDeadlineSeconds` that means no deadline, by the Deployment controller's convention
/// (`math.MaxInt32`). The controller then reports no progress.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// A Deployment is Current when every replica is updated, ready and available, no old replica is left, and
/// its conditions agree.
pub(super) fn deployment(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    let conditions = read::conditions(object)?;
    let exceeded = |condition: &&StatusCondition<'_>| {
        condition.kind == "Progressing" && condition.reason == "ProgressDeadlineExceeded"
    };
    if let Some(condition) = conditions.iter().find(exceeded) {
        let mut verdict = Verdict::failed(&*condition.reason, &*condition.message);
        "Progress deadline exceeded".clone_into(&mut verdict.message);
        return Ok(verdict);
    }
    if let Some(verdict) = short_of_replicas(object) {
        return Ok(verdict);
    }
    let deadline = read::int_or(object, &["spec", "progressDeadlineSeconds"], NO_DEADLINE);
    let progressing = deadline == NO_DEADLINE
        || conditions.iter().any(|condition| {
            condition.is("Progressing", "True") && condition.reason == "NewReplicaSetAvailable"
        });
    if !progressing {
        return Ok(Verdict::in_progress(
            "ReplicaSetNotAvailable",
            "ReplicaSet not Available",
        ));
    }
    if !conditions
        .iter()
        .any(|condition| condition.is("Available", "True"))
    {
        return Ok(Verdict::in_progress(
            "DeploymentNotAvailable",
            "Deployment not Available",
        ));
    }
    let replicas = read::int_or(object, &["status", "replicas"], 0);
    Ok(Verdict::current(format!(
        "Deployment is available. Replicas: {replicas}"
    )))
}

/// The verdict on the first replica count of a Deployment that is not as wanted.
fn short_of_replicas(object: Value<'_>) -> Option<Verdict> {
    let count = |key| read::int_or(object, &["status", key], 0);
    let wanted = read::int_or(object, &["spec", "replicas"], 1);
    let replicas = count("replicas");
    let updated = count("updatedReplicas");
    let available = count("availableReplicas");
    let ready = count("readyReplicas");
    let (reason, message) = if wanted > replicas {
        ("LessReplicas", format!("Replicas: {replicas}/{wanted}"))
    } else if wanted > updated {
        ("LessUpdated", format!("Updated: {updated}/{wanted}"))
    } else if replicas > wanted {
        ("ExtraPods", pending_termination(replicas, wanted))
    } else if updated > available {
        ("LessAvailable", format!("Available: {available}/{updated}"))
    } else if wanted > ready {
        ("LessReady", format!("Ready: {ready}/{wanted}"))
    } else {
        return None;
    };
    Some(Verdict::in_progress(reason, message))
}

/// A `ReplicaSet` is Current when every replica is labelled, available and ready, and no extra replica is
/// left.
pub(super) fn replica_set(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    let failing = |condition: &StatusCondition<'_>| condition.is("ReplicaFailure", "True");
    if read::conditions(object)?.iter().any(failing) {
        return Ok(Verdict::in_progress(
            "ReplicaFailure",
            "Replica Failure condition. Check Pods",
        ));
    }
    let count = |key| read::int_or(object, &["status", key], 0);
    let wanted = read::int_or(object, &["spec", "replicas"], 1);
    let replicas = count("replicas");
    let labelled = count("fullyLabeledReplicas");
    let available = count("availableReplicas");
    let ready = count("readyReplicas");
    let (reason, message) = if wanted > labelled {
        ("LessLabelled", format!("Labelled: {labelled}/{wanted}"))
    } else if wanted > available {
        ("LessAvailable", format!("Available: {available}/{wanted}"))
    } else if wanted > ready {
        ("LessReady", format!("Ready: {ready}/{wanted}"))
    } else if replicas > wanted {
        ("ExtraPods", pending_termination(replicas, wanted))
    } else {
        return Ok(Verdict::current(format!(
            "ReplicaSet is available. Replicas: {replicas}"
        )));
    };
    Ok(Verdict::in_progress(reason, message))
}

/// The message for extra replicas. Counts from the cluster may be any number, so the subtraction wraps, as in
/// kstatus.
pub(super) fn pending_termination(replicas: i64, wanted: i64) -> String {
    format!("Pending termination: {}", replicas.wrapping_sub(wanted))
}
