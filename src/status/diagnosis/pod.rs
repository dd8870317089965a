//! Why a Pod is not ready.

use jiff::{SignedDuration, Timestamp};

use crate::object::{StatusCondition, Value, is_sidecar};
use crate::status::cause::{Cause, NO_REASON, sentence};
use crate::status::cause_rule::CauseRule;
use crate::status::read;
use crate::status::state::Status;

use super::container::{Container, ContainerRole};

/// How long a Pod may still exist after its grace period.
pub(in crate::status) const SLACK: SignedDuration = SignedDuration::from_secs(15);

/// Finds the causes in the Pod's own status and in its containers, init containers first. If there are none,
/// finds them in the Pod's conditions.
pub(super) fn causes(pod: Value<'_>, status: Status, now: Timestamp) -> Vec<Cause> {
    let phase = read::text_or(pod, &["status", "phase"], "");
    if phase == "Succeeded" {
        return Vec::new();
    }
    let conditions = read::conditions(pod).unwrap_or_default();
    let mut causes = Vec::new();
    if phase == "Failed" {
        causes.extend(failed(pod));
    }
    causes.extend(unscheduled(pod, &conditions));
    let found = containers(pod).filter_map(|container| container.cause(now));
    causes.extend(found.map(|cause| with_pull_secrets(cause, pod)));
    if causes.is_empty() && status != Status::Current {
        causes = gates(pod, &conditions);
    }
    if causes.is_empty() && status != Status::Current && phase == "Running" {
        causes.extend(
            conditions
                .iter()
                .find(|condition| condition.kind == "Ready" && condition.status != "True")
                .map(|ready| {
                    Cause::new(CauseRule::NotReady, sentence(&ready.reason, &ready.message))
                }),
        );
    }
    let debug = pod.items_at(&["status", "ephemeralContainerStatuses"]);
    let debug = debug.map(|status| Container {
        role: ContainerRole::Ephemeral,
        spec: None,
        status,
    });
    causes.extend(debug.filter_map(|container| container.cause(now)));
    causes
}

/// The cause for a Pod that still exists after its grace period: its node, or the kubelet on it, does not
/// respond.
pub(super) fn overdue(pod: Value<'_>, now: Timestamp) -> Option<Cause> {
    let due: Timestamp = pod
        .str_at(&["metadata", "deletionTimestamp"])?
        .parse()
        .ok()?;
    if now.duration_since(due) < SLACK {
        return None;
    }
    let grace = read::int_or(pod, &["metadata", "deletionGracePeriodSeconds"], 30);
    let node = read::text_or(pod, &["spec", "nodeName"], "?");
    Some(Cause::new(
        CauseRule::Overdue,
        format!("still on node {node} after its grace period of {grace}s"),
    ))
}

/// Why the kubelet or a controller ended the whole Pod.
fn failed(pod: Value<'_>) -> Option<Cause> {
    let text = |key| read::text_or(pod, &["status", key], "");
    let (reason, message) = (text("reason"), text("message"));
    let rule = match &*reason {
        "Evicted" => CauseRule::Evicted,
        "DeadlineExceeded" => CauseRule::DeadlineExceeded,
        "NodeLost" => CauseRule::NodeLost,
        "Terminated" | "NodeShutdown" | "Shutdown" => CauseRule::NodeShutdown,
        "Preempting" => CauseRule::Preempted,
        "" if message.is_empty() => return None,
        _ => CauseRule::PodFailed,
    };
    Some(Cause::new(rule, sentence(&reason, &message)))
}

/// Why the control plane does not know the phase of the Pod: its node does not respond.
pub(super) fn lost(pod: Value<'_>) -> Option<Cause> {
    let is_lost = read::text_or(pod, &["status", "phase"], "") == "Unknown";
    is_lost.then(|| failed(pod)).flatten()
}

/// Why the Pod has no node yet. What kept it from one explains nothing afterwards.
fn unscheduled(pod: Value<'_>, conditions: &[StatusCondition<'_>]) -> Option<Cause> {
    if pod.text_at(&["spec", "nodeName"]).is_some() {
        return None;
    }
    let mut known = conditions.iter();
    let Some(scheduled) = known.find(|condition| condition.kind == "PodScheduled") else {
        // A scheduler of its own must place the Pod, and none has looked at it yet.
        let scheduler = pod.text_at(&["spec", "schedulerName"])?;
        return (&*scheduler != "default-scheduler").then(|| {
            let text = format!("the scheduler {scheduler} has not looked at the pod yet");
            Cause::new(CauseRule::Unschedulable, text)
        });
    };
    let condition = Some(scheduled).filter(|condition| condition.status == "False")?;
    if condition.reason == "SchedulingGated" {
        let gates: Vec<_> = pod
            .items_at(&["spec", "schedulingGates"])
            .filter_map(|gate| gate.str_at(&["name"]))
            .collect();
        let text = format!("waiting for scheduling gates: {}", gates.join(", "));
        return Some(Cause::new(CauseRule::SchedulingGated, text));
    }
    // Only the reasons why the nodes do not take the Pod: `0/2 nodes are available: 2 Insufficient cpu.`
    let message = condition.message.trim();
    let end = POST_FILTERS.iter().filter_map(|words| message.find(words));
    let message = end
        .min()
        .and_then(|end| message.get(..end))
        .unwrap_or(message);
    let text = match message {
        "" => sentence(&condition.reason, ""),
        message => message.to_owned(),
    };
    Some(Cause::new(CauseRule::Unschedulable, text))
}

/// What the scheduler adds after the reasons of the nodes: which of its last resorts did not help
/// (`k8s.io/kubernetes/pkg/scheduler/framework`, `FitError`).
const POST_FILTERS: [&str; 2] = [" no new claims to deallocate", " preemption: "];

/// What registries answer, and container runtimes report, if they demand another login.
const LOGIN_WORDS: [&str; 6] = [
    "401",
    "403",
    "authentication required",
    "authorization failed",
    "denied",
    "unauthorized",
];

/// The same cause. If a registry demands a login that the Pod does not have, it says so.
fn with_pull_secrets(cause: Cause, pod: Value<'_>) -> Cause {
    let mut secrets = pod.items_at(&["spec", "imagePullSecrets"]);
    let text = cause.text.to_lowercase();
    let is_refused = LOGIN_WORDS.iter().any(|word| text.contains(word));
    let is_pull = cause.rule == CauseRule::ImagePull;
    if !is_pull || !is_refused || secrets.next().is_some() {
        return cause;
    }
    let text = format!("{} (the pod has no imagePullSecrets)", cause.text);
    Cause { text, ..cause }
}

/// Every container with a status, init containers first, in the order of the Pod's lists.
fn containers(pod: Value<'_>) -> impl Iterator<Item = Container<'_>> {
    let lists = [
        ("initContainers", "initContainerStatuses"),
        ("containers", "containerStatuses"),
    ];
    lists.into_iter().flat_map(move |(specs, statuses)| {
        pod.items_at(&["status", statuses]).map(move |status| {
            let name = status.str_at(&["name"]);
            let spec = pod
                .items_at(&["spec", specs])
                .find(|spec| name.is_some() && spec.str_at(&["name"]) == name);
            let role = if specs == "containers" {
                ContainerRole::Main
            } else if spec.is_some_and(is_sidecar) {
                ContainerRole::Sidecar
            } else {
                ContainerRole::Init
            };
            Container { role, spec, status }
        })
    })
}

/// The readiness gates whose conditions are not True. The kubelet does not set these conditions; other
/// controllers do.
fn gates(pod: Value<'_>, conditions: &[StatusCondition<'_>]) -> Vec<Cause> {
    let is_ready = |condition: &StatusCondition<'_>| condition.is("ContainersReady", "True");
    if !conditions.iter().any(is_ready) {
        return Vec::new();
    }
    pod.items_at(&["spec", "readinessGates"])
        .filter_map(|gate| gate.str_at(&["conditionType"]))
        .filter(|gate| {
            !conditions
                .iter()
                .any(|condition| condition.is(gate, "True"))
        })
        .map(|gate| {
            let detail = conditions
                .iter()
                .find(|condition| condition.kind == gate)
                .map(|condition| sentence(&condition.reason, &condition.message));
            let text = match detail.as_deref() {
                None => format!("readiness gate {gate} is not set"),
                Some(NO_REASON) => format!("readiness gate {gate} is not True"),
                Some(detail) => format!("readiness gate {gate}: {detail}"),
            };
            Cause::new(CauseRule::ReadinessGate, text)
        })
        .collect()
}
