//! Why a workload or a volume claim has not reached its desired state.

use crate::object::{PodCounts, StatusCondition, Value, counted};
use crate::status::cause::{Cause, sentence};
use crate::status::cause_rule::CauseRule;
use crate::status::state::Status;
use crate::status::{admission, read};

/// Finds the causes of an object that is not a Pod.
pub(super) fn causes(object: Value<'_>, kind: &str, status: Status) -> Vec<Cause> {
    let conditions = read::conditions(object).unwrap_or_default();
    match kind {
        "apps/Deployment" | "extensions/Deployment" => deployment(object, &conditions, status),
        "apps/ReplicaSet" | "extensions/ReplicaSet" | "ReplicationController" => {
            replica_failure(&conditions).into_iter().collect()
        }
        "apps/StatefulSet" | "apps/DaemonSet" | "extensions/DaemonSet" => {
            Vec::from_iter(on_delete(object))
        }
        "batch/Job" => job(object, &conditions).into_iter().collect(),
        "PersistentVolumeClaim" if status != Status::Current => vec![unbound(object)],
        _ => Vec::new(),
    }
}

fn deployment(object: Value<'_>, conditions: &[StatusCondition<'_>], status: Status) -> Vec<Cause> {
    let mut causes = Vec::from_iter(replica_failure(conditions));
    let exceeded = conditions.iter().find(|condition| {
        condition.kind == "Progressing" && condition.reason == "ProgressDeadlineExceeded"
    });
    if let Some(condition) = exceeded {
        let seconds = read::int_or(object, &["spec", "progressDeadlineSeconds"], 600);
        let text = match condition.message.trim() {
            "" => format!("no progress for {seconds}s"),
            message => format!("no progress for {seconds}s: {message}"),
        };
        causes.push(Cause::new(CauseRule::ProgressDeadline, text));
    }
    let waits = read::int_or(object, &["spec", "minReadySeconds"], 0);
    let count = |key| read::int_or(object, &["status", key], 0);
    if waits > 0 && count("availableReplicas") < count("readyReplicas") {
        let text = format!("pods count as available once they are ready for {waits}s");
        causes.push(Cause::new(CauseRule::NotReady, text));
    }
    if read::flag(object, &["spec", "paused"]) && status != Status::Current {
        causes.push(Cause::new(CauseRule::Paused, "the rollout is paused"));
    }
    causes
}

/// The API server refuses to create or delete pods, for example because of a quota or an admission rule.
fn replica_failure(conditions: &[StatusCondition<'_>]) -> Option<Cause> {
    let condition = conditions
        .iter()
        .find(|condition| condition.is("ReplicaFailure", "True"))?;
    let (rule, text) = match &*condition.reason {
        "FailedCreate" => {
            let refusal = admission::short_refusal(&condition.message);
            let message = refusal.unwrap_or_else(|| condition.message.trim().to_owned());
            (CauseRule::FailedCreate, message)
        }
        "FailedDelete" => (CauseRule::FailedDelete, condition.message.trim().to_owned()),
        _ => (CauseRule::ReplicaFailure, String::new()),
    };
    let text = match text {
        text if text.is_empty() => sentence(&condition.reason, &condition.message),
        text => text,
    };
    Some(Cause::new(rule, text))
}

/// With the `OnDelete` strategy, pods of an old revision stay until someone deletes them. Pods that do not exist yet get the
/// newest revision.
fn on_delete(object: Value<'_>) -> Option<Cause> {
    let PodCounts {
        updated,
        wanted,
        there,
        ..
    } = PodCounts::of(object)?;
    let strategy = object.str_at(&["spec", "updateStrategy", "type"])?;
    (strategy == "OnDelete" && updated < wanted.min(there)).then(|| {
        let text =
            format!("{updated}/{wanted} updated; delete the old pods to update them (OnDelete)");
        Cause::new(CauseRule::OnDelete, text)
    })
}

fn job(object: Value<'_>, conditions: &[StatusCondition<'_>]) -> Option<Cause> {
    let failed = |kind| {
        conditions
            .iter()
            .find(|condition| condition.is(kind, "True"))
    };
    if let Some(condition) = failed("Failed").or_else(|| failed("FailureTarget")) {
        let rule = match &*condition.reason {
            "BackoffLimitExceeded" => CauseRule::BackoffLimitExceeded,
            "DeadlineExceeded" => CauseRule::DeadlineExceeded,
            "PodFailurePolicy" => CauseRule::PodFailurePolicy,
            "FailedIndexes" | "MaxFailedIndexesExceeded" => CauseRule::FailedIndexes,
            _ => CauseRule::JobFailed,
        };
        let indexes = match object.text_at(&["status", "failedIndexes"]) {
            Some(indexes) => format!("; failed indexes: {indexes}"),
            None => String::new(),
        };
        let text = sentence(&condition.reason, &condition.message);
        return Some(Cause::new(rule, format!("{text}{indexes}")));
    }
    let failures = read::int_or(object, &["status", "failed"], 0);
    if failures <= 0 || failed("Complete").is_some() {
        return None;
    }
    let pods = counted(failures, "pod", "pods");
    let limit = match object.i64_at(&["spec", "backoffLimit"]) {
        Some(limit) if limit < i64::from(i32::MAX) => format!(", backoffLimit {limit}"),
        _ => String::new(),
    };
    Some(Cause::new(
        CauseRule::Retrying,
        format!("{pods} failed{limit}"),
    ))
}

fn unbound(claim: Value<'_>) -> Cause {
    let volume = claim.text_at(&["spec", "volumeName"]);
    if read::text_or(claim, &["status", "phase"], "") == "Lost" {
        let volume = volume.as_deref().unwrap_or("?");
        return Cause::new(
            CauseRule::VolumeLost,
            format!("its volume {volume} is gone"),
        );
    }
    // The API server, and later a controller, fill in the default class.
    let class = claim.str_at(&["spec", "storageClassName"]);
    let wait = match (volume, class.as_deref()) {
        (Some(volume), _) => format!("waiting for volume {volume}"),
        (None, Some("")) => "waiting for a matching volume without a storage class".to_owned(),
        (None, Some(class)) => format!("waiting for a volume of storage class {class}"),
        (None, None) => "no storage class, and the cluster has no default one".to_owned(),
    };
    Cause::new(CauseRule::Unbound, format!("not bound: {wait}"))
}
