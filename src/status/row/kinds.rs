//! The cells of every kind except Pod.

use crate::object::{PodCounts, Value, conditions};
use crate::status::read;

use super::{is_deleted, is_true};

/// The numbers of ready and of wanted parts of the object: `2/3`.
pub(super) fn ready(object: Value<'_>, kind: &str) -> Option<String> {
    match kind {
        "apps/DaemonSet"
        | "apps/Deployment"
        | "apps/ReplicaSet"
        | "apps/StatefulSet"
        | "extensions/DaemonSet"
        | "extensions/Deployment"
        | "extensions/ReplicaSet"
        | "ReplicationController" => {
            let counts = PodCounts::of(object)?;
            Some(format!("{}/{}", counts.ready, counts.wanted))
        }
        "batch/Job" => Some(completions(object)),
        _ => None,
    }
}

/// kubectl's COMPLETIONS of a Job: `1/3`; `0/1 of 4` for parallelism 4 without `completions`.
fn completions(job: Value<'_>) -> String {
    let succeeded = read::int_or(job, &["status", "succeeded"], 0);
    if let Some(wanted) = job.i64_at(&["spec", "completions"]) {
        return format!("{succeeded}/{wanted}");
    }
    match read::int_or(job, &["spec", "parallelism"], 0) {
        parallelism @ 2.. => format!("{succeeded}/1 of {parallelism}"),
        _ => format!("{succeeded}/1"),
    }
}

/// kubectl's STATUS of an object; `None` for kinds where kubectl has none.
pub(super) fn word(object: Value<'_>, kind: &str) -> Option<String> {
    match kind {
        "PersistentVolumeClaim" | "PersistentVolume" if is_deleted(object) => {
            Some("Terminating".to_owned())
        }
        "PersistentVolumeClaim" | "PersistentVolume" | "Namespace" => object
            .str_at(&["status", "phase"])
            .filter(|phase| !phase.is_empty())
            .map(std::borrow::Cow::into_owned),
        "Node" => Some(node(object)),
        "batch/Job" => Some(job(object).to_owned()),
        _ => None,
    }
}

fn job(job: Value<'_>) -> &'static str {
    if is_true(job, "Complete") {
        "Complete"
    } else if is_true(job, "Failed") {
        "Failed"
    } else if is_deleted(job) {
        "Terminating"
    } else if is_true(job, "Suspended") {
        "Suspended"
    } else if is_true(job, "FailureTarget") {
        "FailureTarget"
    } else if is_true(job, "SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn node(node: Value<'_>) -> String {
    let ready = conditions(node).filter(|condition| condition.kind == "Ready");
    let word = match ready.last() {
        None => "Unknown",
        Some(condition) if condition.status == "True" => "Ready",
        Some(_) => "NotReady",
    };
    if read::flag(node, &["spec", "unschedulable"]) {
        format!("{word},SchedulingDisabled")
    } else {
        word.to_owned()
    }
}
