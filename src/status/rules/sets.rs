//! `StatefulSet` and `DaemonSet`.

use jiff::Timestamp;

use super::replicas::pending_termination;
use crate::object::Value;
use crate::status::read::{self, ReadResult};
use crate::status::verdict::Verdict;

/// A `StatefulSet` is Current when every replica is ready and at the wanted revision. With the `OnDelete`
/// strategy it is always Current. With a partition, only the replicas above it need the wanted revision.
#[expect(clippy::unnecessary_wraps, reason = "all rules share one signature")]
pub(super) fn stateful_set(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    if read::text_or(object, &["spec", "updateStrategy", "type"], "") == "OnDelete" {
        return Ok(Verdict::current(
            "StatefulSet is using the ondelete update strategy",
        ));
    }
    let count = |key| read::int_or(object, &["status", key], 0);
    let wanted = read::int_or(object, &["spec", "replicas"], 1);
    let replicas = count("replicas");
    let ready = count("readyReplicas");
    if let Some((reason, message)) = if wanted > replicas {
        Some(("LessReplicas", format!("Replicas: {replicas}/{wanted}")))
    } else if wanted > ready {
        Some(("LessReady", format!("Ready: {ready}/{wanted}")))
    } else if replicas > wanted {
        Some(("ExtraPods", pending_termination(replicas, wanted)))
    } else {
        None
    } {
        return Ok(Verdict::in_progress(reason, message));
    }
    if let Some(verdict) = partition(object, wanted) {
        return Ok(verdict);
    }
    let current = count("currentReplicas");
    if wanted > current {
        return Ok(Verdict::in_progress(
            "LessCurrent",
            format!("current: {current}/{wanted}"),
        ));
    }
    let revision = |key| read::text_or(object, &["status", key], "");
    if revision("currentRevision") != revision("updateRevision") {
        return Ok(Verdict::in_progress(
            "RevisionMismatch",
            "Waiting for updated revision to match current",
        ));
    }
    Ok(Verdict::current(format!(
        "All replicas scheduled as expected. Replicas: {replicas}"
    )))
}

/// The verdict on a `StatefulSet` with a partition (0 included); `None` if the partition is absent or -1.
fn partition(object: Value<'_>, wanted: i64) -> Option<Verdict> {
    let path = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    let partition = object.i64_at(&path).filter(|partition| *partition != -1)?;
    let updated = read::int_or(object, &["status", "updatedReplicas"], 0);
    let above = wanted.wrapping_sub(partition);
    Some(if updated < above {
        Verdict::in_progress("PartitionRollout", format!("updated: {updated}/{above}"))
    } else {
        Verdict::current(format!("Partition rollout complete. updated: {updated}"))
    })
}

/// A `DaemonSet` is Current when its controller has observed it, and every node that should run its pod has
/// one that is updated, available and ready.
pub(super) fn daemon_set(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    if let Some(verdict) = unobserved(object)? {
        return Ok(verdict);
    }
    let count = |key| read::int_or(object, &["status", key], 0);
    let wanted = read::int_or(object, &["status", "desiredNumberScheduled"], -1);
    let current = count("currentNumberScheduled");
    let updated = count("updatedNumberScheduled");
    let available = count("numberAvailable");
    let ready = count("numberReady");
    let (reason, message) = if wanted == -1 {
        (
            "NoDesiredNumber",
            "Missing .status.desiredNumberScheduled".to_owned(),
        )
    } else if wanted > current {
        ("LessCurrent", format!("Current: {current}/{wanted}"))
    } else if wanted > updated {
        ("LessUpdated", format!("Updated: {updated}/{wanted}"))
    } else if wanted > available {
        ("LessAvailable", format!("Available: {available}/{wanted}"))
    } else if wanted > ready {
        ("LessReady", format!("Ready: {ready}/{wanted}"))
    } else {
        return Ok(Verdict::current(format!(
            "All replicas scheduled as expected. Replicas: {wanted}"
        )));
    };
    Ok(Verdict::in_progress(reason, message))
}

/// The verdict on a `DaemonSet` that its controller has not observed yet: a generation is missing.
fn unobserved(object: Value<'_>) -> ReadResult<Option<Verdict>> {
    let kind = read::text_or(object, &["kind"], "");
    if read::int(object, &["metadata", "generation"])?.is_none() {
        return Ok(Some(Verdict::in_progress(
            "NoGeneration",
            format!("{kind} metadata.generation not found"),
        )));
    }
    if read::int(object, &["status", "observedGeneration"])?.is_none() {
        return Ok(Some(Verdict::in_progress(
            "NoObservedGeneration",
            format!("{kind} status.observedGeneration not found"),
        )));
    }
    Ok(None)
}
