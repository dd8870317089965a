//! What the status of a custom resource reports beside its conditions: its phase, its health, an error, its counts.

mod counts;
mod reported;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

use crate::object::Value;

use super::cause_rule::CauseRule;
use super::generic::NOT_OBSERVED;
use super::polarity::is_positive;
use super::verdict::{Refinement, Verdict};
use super::words::words_of;
use super::{parts, read};

pub(super) use reported::{has_arrived, is_settled, paused};

/// The rules for custom resources of a kind.
pub(super) fn of(kind: &str) -> &'static [Refinement] {
    match kind {
        "argoproj.io/Application" => &[application, unobserved],
        "cert-manager.io/Certificate" => &[expired, reported::error, unobserved],
        "snapshot.storage.k8s.io/VolumeSnapshot"
        | "snapshot.storage.k8s.io/VolumeSnapshotContent" => &[snapshot],
        _ => GENERAL,
    }
}

/// The rules for all other custom resources.
const GENERAL: &[Refinement] = &[
    reported::of_whole,
    reported::of_parts,
    reported::error,
    reported::flag,
    reported::count,
    unobserved,
];

/// Kinds whose controllers write no status, or only once another object uses theirs, although the kinds have one: the API
/// group, and the kinds (all if none is named). A group that begins with a dot stands for all that end so.
const SILENT: &[(&str, &[&str])] = &[
    // https://istio.io/latest/docs/reference/config/config-status/
    (".istio.io", &[]),
    // https://docs.cilium.io/en/stable/network/kubernetes/policy/
    (
        "cilium.io",
        &["CiliumClusterwideNetworkPolicy", "CiliumNetworkPolicy"],
    ),
    // https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/config_apis/
    ("config.openshift.io", &[]),
    // https://external-secrets.io/latest/api/generator/
    ("generators.external-secrets.io", &[]),
    // https://keda.sh/docs/latest/concepts/authentication/
    (
        "keda.sh",
        &["ClusterTriggerAuthentication", "TriggerAuthentication"],
    ),
    // https://metallb.io/apis/
    ("metallb.io", &[]),
    // The objects that select what to monitor: https://prometheus-operator.dev/docs/api-reference/api/
    (
        "monitoring.coreos.com",
        &[
            "AlertmanagerConfig",
            "PodMonitor",
            "Probe",
            "PrometheusRule",
            "ScrapeConfig",
            "ServiceMonitor",
        ],
    ),
    // https://tekton.dev/docs/pipelines/
    ("tekton.dev", &["Pipeline", "StepAction", "Task"]),
    (
        "triggers.tekton.dev",
        &[
            "ClusterTriggerBinding",
            "Trigger",
            "TriggerBinding",
            "TriggerTemplate",
        ],
    ),
];

/// Whether the controllers of an object's kind write no status, although the kind has one.
pub(super) fn leaves_status_empty(object: Value<'_>) -> bool {
    let version = read::text_or(object, &["apiVersion"], "");
    let group = version.split('/').next().unwrap_or_default();
    let kind = read::text_or(object, &["kind"], "");
    let is_silent = |(of, kinds): &(&str, &[&str])| {
        let is_group = *of == group || (of.starts_with('.') && group.ends_with(of));
        is_group && (kinds.is_empty() || kinds.contains(&&*kind))
    };
    // What only holds credentials counts its users in its status
    // (<https://docs.crossplane.io/latest/packages/providers/#configure-a-provider>). Flux does not reconcile an OCI
    // repository of charts (<https://fluxcd.io/flux/components/source/helmrepositories/#helm-oci-repository>).
    let is_config = kind.ends_with("ProviderConfig");
    let is_oci = kind == "HelmRepository" && read::text_or(object, &["spec", "type"], "") == "oci";
    is_config || is_oci || is_before_first_run(object, &kind) || SILENT.iter().any(is_silent)
}

/// Whether an object starts others at times, and has nothing to report before the first of them.
fn is_before_first_run(object: Value<'_>, kind: &str) -> bool {
    let mut words = words_of(kind).into_iter();
    let repeats = words.any(|word| matches!(&*word, "cron" | "schedule" | "scheduled"));
    let has_status = object
        .get("status")
        .is_some_and(|status| status.fields().next().is_some());
    repeats && !has_status
}

/// A certificate that has ended. While cert-manager is down, its conditions stay as they were.
fn expired(object: Value<'_>, now: Timestamp) -> Option<Verdict> {
    let end = object.time_at(&["status", "notAfter"])?;
    (end < now).then(|| {
        let text = format!("the certificate expired at {end}");
        Verdict::failed("Expired", text).by(CauseRule::BadCertificate)
    })
}

/// Fields of a status that hold the generation that its controller has last looked at, besides `observedGeneration`.
const GENERATIONS: [&str; 2] = ["lastEvaluatedGeneration", "lastObservedGeneration"];

/// A status, a condition or a parent of an older generation: the controller has not looked at the newest one.
fn unobserved(object: Value<'_>, _: Timestamp) -> Option<Verdict> {
    let newest = object.i64_at(&["metadata", "generation"]);
    let is_old = |observed: Option<i64>| observed.is_some_and(|observed| Some(observed) < newest);
    let mut conditions = object.items_at(&["status", "conditions"]);
    let old = conditions.find_map(|condition| {
        let name = read::text_or(condition, &["type"], "");
        let is_old = is_old(condition.i64_at(&["observedGeneration"]));
        (is_old && is_positive(&name)).then(|| format!("the condition {name}"))
    });
    let mut fields = GENERATIONS.iter();
    let field = fields.find(|field| is_old(object.i64_at(&["status", field])));
    let old = old.or_else(|| Some(format!("status.{}", field?)));
    let old = old.zip(newest);
    let text = old.map(|(old, newest)| format!("generation {newest} is newer than {old}"));
    let text = text.or_else(|| parts::unobserved(object))?;
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
