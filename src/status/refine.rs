//! The cases where the `spy` rules differ from kstatus.
//!
//! kstatus reports a failed Pod as Current. It reports a Pod whose image cannot be pulled, and replicas that
//! a quota forbids, as `InProgress`. Waiting fixes none of these, so the `spy` rules report Failed. kstatus also
//! reports a running Job, a `CronJob` whose last run failed, an expired certificate, a violated budget and a custom resource that
//! is not available as Current.

use jiff::Timestamp;

use crate::object::{PodCounts, Value};

use super::cause_rule::{CauseRule, Explanation};
use super::conditions::problems;
use super::diagnosis::{WaitReason, budget, cron_job};
use super::state::Status;
use super::verdict::{Refinement, Verdict};
use super::{built_in, cause_rule, certificate, custom, pause, read, rules, runs};

const BROKEN_CONTAINERS: Explanation = Explanation {
    name: "BrokenContainers",
    finds: "A container of the Pod waits because of an error, or has crashed again and waits for its next start.",
    source: cause_rule::CONTAINER_STATES,
};
const REPLICA_FAILURE: Explanation = Explanation {
    name: "FailedReplicas",
    finds: "The condition ReplicaFailure of a workload is True.",
    source: cause_rule::REPLICA_FAILURE,
};
const MISSING_REPLICAS: Explanation = Explanation {
    name: "MissingReplicas",
    finds: "Fewer Pods of a ReplicationController are ready than it wants, or of a StatefulSet or a DaemonSet with the strategy OnDelete.",
    source: cause_rule::REPLICAS,
};
const ENDED_CONTAINER: Explanation = Explanation {
    name: "EndedContainer",
    finds: "A container of a running Pod has failed, and the restartPolicy is Never: the Pod cannot become ready.",
    source: cause_rule::CONTAINER_STATES,
};
const RUNNING_JOB: Explanation = Explanation {
    name: "RunningJob",
    finds: "The Job is neither complete nor suspended.",
    source: cause_rule::DEADLINES,
};

/// The rules that find no causes.
#[cfg(any(test, feature = "testing"))]
pub(super) const RULES: [&Explanation; 5] = [
    &BROKEN_CONTAINERS,
    &ENDED_CONTAINER,
    &MISSING_REPLICAS,
    &REPLICA_FAILURE,
    &RUNNING_JOB,
];

/// The refinements of one kind.
fn of(kind: &str) -> &'static [Refinement] {
    match kind {
        "Pod" => &[failed_pod, broken_containers, ended_container],
        "Service" => &[pending_load_balancer],
        "batch/Job" => &[running_job],
        "batch/CronJob" => &[failed_cron_job, runs::missed_run],
        "Secret" => &[certificate::problem, built_in::expired_token],
        "Node" => &[built_in::silent_node],
        "ComponentStatus" => &[built_in::unhealthy_component],
        "autoscaling/HorizontalPodAutoscaler" => &[built_in::uncomputed],
        "certificates.k8s.io/CertificateSigningRequest" => &[built_in::unsigned],
        "policy/PodDisruptionBudget" => &[violated_budget],
        "PersistentVolume" => &[unusable_volume],
        "PersistentVolumeClaim" => &[built_in::lost_claim],
        "storage.k8s.io/VolumeAttachment" => &[unattached_volume],
        "ReplicationController"
        | "apps/StatefulSet"
        | "apps/DaemonSet"
        | "extensions/DaemonSet" => &[replica_failure, missing_replicas],
        _ if kind.starts_with("apps/") || kind.starts_with("extensions/") => &[replica_failure],
        _ if rules::of(kind).is_none() => custom::of(kind),
        _ => &[],
    }
}

/// Returns the worst of kstatus's verdict and of the problems that it misses.
pub(super) fn refine(object: Value<'_>, kind: &str, now: Timestamp, verdict: Verdict) -> Verdict {
    let as_wanted = match kind {
        "apps/DaemonSet" | "extensions/DaemonSet" => built_in::on_delete(object, &verdict),
        "apps/Deployment" | "extensions/Deployment" => built_in::paused(object, &verdict),
        _ => None,
    };
    let verdict = as_wanted.unwrap_or(verdict);
    let found = of(kind).iter();
    let found = found.filter_map(|refinement| refinement(object, now));
    let problems = problems(object, kind).into_iter();
    let reported = problems.filter_map(|problem| {
        let verdict: fn(_, _) -> Verdict = match problem.status(now)? {
            Status::Failed => Verdict::failed,
            _ => Verdict::in_progress,
        };
        let condition = problem.condition;
        Some(verdict(condition.reason, condition.message).by(problem.rule))
    });
    let worst = found.chain(reported).fold(verdict, |worst, found| {
        if found.status > worst.status {
            found
        } else {
            worst
        }
    });
    let is_paused = (worst.status == Status::InProgress).then(|| pause::settle(object, kind));
    is_paused.flatten().unwrap_or(worst)
}

/// A Pod whose phase is Failed. The reason is the Pod's own if it has one, for example `Evicted`.
fn failed_pod(pod: Value<'_>, _: Timestamp) -> Option<Verdict> {
    (read::text_or(pod, &["status", "phase"], "") == "Failed").then(|| {
        let reason = match read::text_or(pod, &["status", "reason"], "") {
            reason if reason.is_empty() => "PodFailed".into(),
            reason => reason,
        };
        Verdict::failed(reason, "Pod has completed, but not successfully").by(CauseRule::PodFailed)
    })
}

/// A Pod with a container or init container that waits because of an error, or that has crashed again and waits for its
/// next start.
fn broken_containers(pod: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let broken: Vec<_> = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| pod.items_at(&["status", list]))
        .filter_map(|status| {
            let waiting = status.str_at(&["state", "waiting", "reason"]);
            let waiting = waiting.filter(|reason| WaitReason::of(reason).is_broken());
            // The kubelet calls a crash that repeats `CrashLoopBackOff` a moment later.
            let repeated = || {
                let code = read::int_or(status, &["state", "terminated", "exitCode"], 0);
                let has_restarted = read::int_or(status, &["restartCount"], 0) > 0;
                let reason = status.str_at(&["state", "terminated", "reason"]);
                (code != 0 && has_restarted).then(|| reason.unwrap_or("Error".into()))
            };
            let reason = waiting.or_else(repeated)?;
            Some((read::text_or(status, &["name"], ""), reason))
        })
        .collect();
    let (_, reason) = broken.first()?;
    let containers: Vec<_> = broken
        .iter()
        .map(|(name, reason)| format!("{name} ({reason})"))
        .collect();
    let message = format!("Containers waiting: {}", containers.join(", "));
    Some(Verdict::failed(&**reason, message).decided_by(&BROKEN_CONTAINERS))
}

/// A running Pod with a container that has failed and is never started again.
fn ended_container(pod: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let is_never = read::text_or(pod, &["spec", "restartPolicy"], "") == "Never";
    let is_running = read::text_or(pod, &["status", "phase"], "") == "Running";
    let mut containers = pod.items_at(&["status", "containerStatuses"]);
    let code = |status: &Value<'_>| read::int_or(*status, &["state", "terminated", "exitCode"], 0);
    let failed = containers.find(|status| code(status) != 0 && is_never && is_running)?;
    let name = read::text_or(failed, &["name"], "?");
    let text = format!(
        "{name} ended with exit code {} and is never restarted",
        code(&failed)
    );
    Some(Verdict::failed("ContainerFailed", text).decided_by(&ENDED_CONTAINER))
}

/// A workload with too few ready Pods. kstatus has no rule for a `ReplicationController`, and calls each `StatefulSet` with
/// the strategy `OnDelete` Current.
fn missing_replicas(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let PodCounts { ready, wanted, .. } = PodCounts::of(object)?;
    (ready < wanted).then(|| {
        let text = format!("{ready} of {wanted} replicas are ready");
        Verdict::in_progress("LessReady", text).decided_by(&MISSING_REPLICAS)
    })
}

/// A workload whose pods cannot be created, for example because of a quota or an admission rule.
fn replica_failure(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    read::conditions(object)
        .ok()?
        .into_iter()
        .find(|condition| condition.is("ReplicaFailure", "True"))
        .map(|condition| {
            Verdict::failed(condition.reason, condition.message).decided_by(&REPLICA_FAILURE)
        })
}

/// A Job that is neither complete nor suspended. kstatus reports it as Current once it runs.
fn running_job(job: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let is_over = |kind| {
        let conditions = read::conditions(job).unwrap_or_default();
        conditions
            .iter()
            .any(|condition| condition.is(kind, "True"))
    };
    let is_running = !["Complete", "Failed", "Suspended"].into_iter().any(is_over);
    is_running.then(|| {
        let count = |key| read::int_or(job, &["status", key], 0);
        let (active, succeeded) = (count("active"), count("succeeded"));
        Verdict::in_progress(
            "JobRunning",
            format!("Job is running. active: {active}, succeeded: {succeeded}"),
        )
        .decided_by(&RUNNING_JOB)
    })
}

/// A `CronJob` whose last run did not succeed.
fn failed_cron_job(job: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let is_failure = |rule| matches!(rule, CauseRule::LastRunFailed | CauseRule::InvalidSchedule);
    let note = cron_job(job).filter(|note| is_failure(note.rule))?;
    Some(Verdict::failed(note.rule.as_str(), note.text).by(note.rule))
}

/// A `PodDisruptionBudget` with fewer healthy pods than it demands.
fn violated_budget(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let note = budget(object).filter(|note| note.rule == CauseRule::BudgetViolated)?;
    Some(Verdict::in_progress("BudgetViolated", note.text).by(note.rule))
}

/// A Service of type `LoadBalancer` without an external address.
fn pending_load_balancer(service: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let is_load_balancer = read::text_or(service, &["spec", "type"], "") == "LoadBalancer";
    // kubectl shows the addresses that someone has set, too.
    let given = service.items_at(&["spec", "externalIPs"]);
    let mut addresses = (service.items_at(&["status", "loadBalancer", "ingress"])).chain(given);
    (is_load_balancer && addresses.next().is_none()).then(|| {
        Verdict::in_progress(
            "PendingLoadBalancer",
            "the load balancer has no external address yet",
        )
        .by(CauseRule::PendingLoadBalancer)
    })
}

/// A volume that no claim can use: its claim is gone, or it could not be reclaimed.
fn unusable_volume(volume: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let text = |path: &[&str]| volume.text_at(path);
    match text(&["status", "phase"]).as_deref()? {
        "Failed" => {
            let message = text(&["status", "message"]);
            let message = message.as_deref().unwrap_or("it could not be reclaimed");
            Some(Verdict::failed("VolumeFailed", message).by(CauseRule::VolumeFailed))
        }
        "Released" => {
            let claim = ["namespace", "name"]
                .map(|key| text(&["spec", "claimRef", key]).unwrap_or_default());
            let policy = text(&["spec", "persistentVolumeReclaimPolicy"]);
            let policy = policy.as_deref().unwrap_or("Retain");
            let message = format!(
                "its claim {} is gone (reclaim policy {policy})",
                claim.join("/")
            );
            Some(Verdict::in_progress("VolumeReleased", message).by(CauseRule::VolumeReleased))
        }
        _ => None,
    }
}

/// A volume that is not attached to its node.
fn unattached_volume(attachment: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let error =
        ["attachError", "detachError"].map(|key| attachment.text_at(&["status", key, "message"]));
    if let Some(error) = error.into_iter().flatten().next() {
        return Some(Verdict::failed("AttachFailed", &*error).by(CauseRule::AttachFailed));
    }
    let is_attached = read::flag(attachment, &["status", "attached"]);
    (!is_attached).then(|| {
        let node = read::text_or(attachment, &["spec", "nodeName"], "?");
        let message = format!("not attached to node {node} yet");
        Verdict::in_progress("Attaching", message).by(CauseRule::Attaching)
    })
}
