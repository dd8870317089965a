//! The cases where the `spy` rules differ from kstatus.
//!
//! kstatus reports a failed Pod as Current. It reports a Pod whose image cannot be pulled, and replicas that
//! a quota forbids, as `InProgress`. Waiting fixes none of these, so the `spy` rules report Failed.

use crate::object::Value;

use super::diagnosis::WaitReason;
use super::read;
use super::verdict::Verdict;

/// Finds a failure that kstatus's rule for the kind misses.
pub(super) fn refine(object: Value<'_>, kind: &str) -> Option<Verdict> {
    match kind {
        "Pod" => failed_pod(object).or_else(|| broken_containers(object)),
        "ReplicationController" => replica_failure(object),
        _ if kind.starts_with("apps/") || kind.starts_with("extensions/") => {
            replica_failure(object)
        }
        _ => None,
    }
}

/// A Pod whose phase is Failed. The reason is the Pod's own if it has one, for example `Evicted`.
fn failed_pod(pod: Value<'_>) -> Option<Verdict> {
    (read::text_or(pod, &["status", "phase"], "") == "Failed").then(|| {
        let reason = match read::text_or(pod, &["status", "reason"], "") {
            reason if reason.is_empty() => "PodFailed".into(),
            reason => reason,
        };
        Verdict::failed(reason, "Pod has completed, but not successfully")
    })
}

/// A Pod with a container or init container that waits because of an error.
fn broken_containers(pod: Value<'_>) -> Option<Verdict> {
    let broken: Vec<_> = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| pod.items_at(&["status", list]))
        .filter_map(|status| {
            let reason = status.str_at(&["state", "waiting", "reason"])?;
            let name = read::text_or(status, &["name"], "");
            WaitReason::of(&reason)
                .is_broken()
                .then_some((name, reason))
        })
        .collect();
    let (_, reason) = broken.first()?;
    let containers: Vec<_> = broken
        .iter()
        .map(|(name, reason)| format!("{name} ({reason})"))
        .collect();
    Some(Verdict::failed(
        &**reason,
        format!("Containers waiting: {}", containers.join(", ")),
    ))
}

/// A workload whose pods cannot be created, for example because of a quota or an admission rule.
fn replica_failure(object: Value<'_>) -> Option<Verdict> {
    read::conditions(object)
        .ok()?
        .into_iter()
        .find(|condition| condition.is("ReplicaFailure", "True"))
        .map(|condition| Verdict::failed(condition.reason, condition.message))
}
