//! What the status of a custom resource reports beside its conditions: its phase, its health, an error.

use jiff::Timestamp;

use crate::object::Value;

use super::cause::CauseRule;
use super::conditions::is_positive;
use super::generic::NOT_OBSERVED;
use super::read;
use super::verdict::{Refinement, Verdict};

/// How a word ends that reports a failure, in lower case.
const FAILURES: [&str; 8] = [
    "failed",
    "failure",
    "error",
    "errored",
    "degraded",
    "faulted",
    "invalid",
    "unhealthy",
];

/// The words that report unfinished work, in lower case.
const UNFINISHED: [&str; 16] = [
    "applyingchanges",
    "creating",
    "deleting",
    "initializing",
    "installing",
    "notready",
    "pending",
    "progressing",
    "provisioning",
    "reconciling",
    "restarting",
    "restoring",
    "scaling",
    "starting",
    "updating",
    "upgrading",
];

/// The fields of a status that explain its phase, the best first.
const EXPLANATIONS: [&str; 6] = [
    "message",
    "failureMessage",
    "errorMessage",
    "error",
    "failureReason",
    "reason",
];

/// The rules for custom resources of a kind.
pub(super) fn of(kind: &str) -> &'static [Refinement] {
    match kind {
        "argoproj.io/Application" => &[application, unobserved],
        "cert-manager.io/Certificate" => &[expired, unobserved],
        "snapshot.storage.k8s.io/VolumeSnapshot"
        | "snapshot.storage.k8s.io/VolumeSnapshotContent" => &[snapshot],
        _ => &[phase, health, unobserved],
    }
}

/// Whether the controllers of a kind write no status, although the kind has one: those of Istio
/// (<https://istio.io/latest/docs/reference/config/config-status/>), and the Prometheus operator for the objects that select
/// what to monitor (<https://prometheus-operator.dev/docs/api-reference/api/>).
pub(super) fn leaves_status_empty(object: Value<'_>) -> bool {
    let group = object.str_at(&["apiVersion"]).unwrap_or_default();
    let group = group.split('/').next().unwrap_or_default();
    let kind = object.str_at(&["kind"]).unwrap_or_default();
    let monitors = [
        "AlertmanagerConfig",
        "PodMonitor",
        "Probe",
        "PrometheusRule",
        "ScrapeConfig",
        "ServiceMonitor",
    ];
    group.ends_with(".istio.io") || (group == "monitoring.coreos.com" && monitors.contains(&&*kind))
}

/// An object whose phase or state reports a failure, or work that is not done.
fn phase(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let verdicts = ["phase", "state", "PostgresClusterStatus"]
        .into_iter()
        .filter_map(|key| by_word(object, key));
    verdicts.max_by_key(|verdict| verdict.status)
}

fn by_word(object: Value<'_>, key: &str) -> Option<Verdict> {
    let word = object.str_at(&["status", key])?;
    let lower = word.to_lowercase();
    let has_failed = lower.starts_with("failed") || FAILURES.iter().any(|end| lower.ends_with(end));
    let texts = EXPLANATIONS.map(|key| read::text_or(object, &["status", key], ""));
    let text = texts.into_iter().find(|text| !text.is_empty());
    let text = text.unwrap_or_else(|| format!("its {key} is {word}").into());
    if has_failed {
        return Some(Verdict::failed(word, text).by(CauseRule::Failed));
    }
    let is_unfinished = UNFINISHED.contains(&lower.as_str());
    is_unfinished.then(|| Verdict::in_progress(word, text).by(CauseRule::Unfinished))
}

/// An object whose health has a colour, as that of Elasticsearch, a word of Ceph
/// (<https://docs.ceph.com/en/latest/rados/operations/health-checks/>), or one of Longhorn
/// (<https://longhorn.io/docs/latest/references/settings/>).
fn health(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let paths = [
        &["status", "health"][..],
        &["status", "ceph", "health"],
        &["status", "robustness"],
    ];
    let found = paths
        .iter()
        .find_map(|path| Some((path.last()?, object.str_at(path)?)));
    let (key, word) = found?;
    let text = format!("its {key} is {word}");
    match &*word {
        "red" | "HEALTH_ERR" | "faulted" => Some(Verdict::failed(word, text).by(CauseRule::Failed)),
        "yellow" | "HEALTH_WARN" | "degraded" => {
            Some(Verdict::in_progress(word, text).by(CauseRule::Unfinished))
        }
        _ => None,
    }
}

/// A certificate that has ended. While cert-manager is down, its conditions stay as they were.
fn expired(object: Value<'_>, now: Timestamp) -> Option<Verdict> {
    let end = object.time_at(&["status", "notAfter"])?;
    (end < now).then(|| {
        let text = format!("the certificate expired at {end}");
        Verdict::failed("Expired", text).by(CauseRule::BadCertificate)
    })
}

/// Ready=True of an older generation: the controller has not looked at the newest one.
fn unobserved(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let generation = object.i64_at(&["metadata", "generation"])?;
    let mut conditions = object.items_at(&["status", "conditions"]);
    let old = conditions.find(|condition| {
        let name = read::text_or(*condition, &["type"], "");
        let observed = condition.i64_at(&["observedGeneration"]);
        is_positive(&name) && observed.is_some_and(|observed| observed < generation)
    })?;
    let name = read::text_or(old, &["type"], "");
    let text = format!("generation {generation} is newer than the condition {name}");
    Some(Verdict::in_progress(NOT_OBSERVED, text).by(CauseRule::NotObserved))
}

/// An Application of Argo CD: its operation, its health, and whether it is what its source says
/// (<https://argo-cd.readthedocs.io/en/stable/operator-manual/health/>).
fn application(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let text = |path: &[&str]| read::text_or(object, path, "");
    let operation = text(&["status", "operationState", "phase"]);
    if matches!(&*operation, "Failed" | "Error") {
        let message = text(&["status", "operationState", "message"]);
        return Some(Verdict::failed("OperationFailed", message).by(CauseRule::Failed));
    }
    let health = text(&["status", "health", "status"]);
    let message = text(&["status", "health", "message"]);
    if matches!(&*health, "Degraded" | "Missing") {
        return Some(Verdict::failed(health, message).by(CauseRule::Failed));
    }
    let mut conditions = object.items_at(&["status", "conditions"]);
    let error =
        conditions.find(|condition| read::text_or(*condition, &["type"], "").ends_with("Error"));
    if let Some(error) = error {
        let field = |key: &str| read::text_or(error, &[key], "");
        return Some(Verdict::failed(field("type"), field("message")).by(CauseRule::Failed));
    }
    if health == "Progressing" {
        return Some(Verdict::in_progress(health, message).by(CauseRule::Unfinished));
    }
    (text(&["status", "sync", "status"]) == "OutOfSync").then(|| {
        let text = "the objects differ from their source";
        Verdict::in_progress("OutOfSync", text).by(CauseRule::Unfinished)
    })
}

/// A snapshot that has failed, or that nobody can use yet.
fn snapshot(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    if let Some(message) = object.text_at(&["status", "error", "message"]) {
        return Some(Verdict::failed("SnapshotError", &*message).by(CauseRule::Failed));
    }
    let is_ready = object.bool_at(&["status", "readyToUse"]) == Some(true);
    (!is_ready).then(|| {
        let text = "the snapshot is not ready to use";
        Verdict::in_progress("NotReadyToUse", text).by(CauseRule::Unfinished)
    })
}
