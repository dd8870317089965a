//! Notes: what a reader should know about an object, whatever its state.

use std::borrow::Cow;

use crate::object::{
    Value, condition, counted, denied, is_kubernetes_own, job_manager, map_selector, set_taints,
};
use crate::status::cause::Cause;
use crate::status::cause_rule::CauseRule;
use crate::status::conditions::SYNC_FAILED;
use crate::status::{certificate, pause, read, runs};

use super::autoscaler;

/// Finds the notes of an object.
pub(super) fn notes(object: Value<'_>, kind: &str) -> Vec<Cause> {
    match kind {
        "Node" => {
            let is_cordoned = read::flag(object, &["spec", "unschedulable"]);
            let text = "cordoned: no pod is scheduled here";
            let cordoned = is_cordoned.then(|| Cause::new(CauseRule::Cordoned, text));
            cordoned.into_iter().chain(tainted(object)).collect()
        }
        "Secret" => Vec::from_iter(certificate::self_signed(object)),
        "resource.k8s.io/ResourceClaim" => Vec::from_iter(unallocated(object)),
        "autoscaling/HorizontalPodAutoscaler" => autoscaler::notes(object),
        "apps/Deployment" | "apps/StatefulSet" => {
            let is_zero = read::int_or(object, &["spec", "replicas"], 1) == 0;
            let note = || Cause::new(CauseRule::ScaledToZero, "scaled to 0");
            Vec::from_iter(is_zero.then(note))
        }
        "apps/DaemonSet" => daemon_set(object),
        "batch/Job" => {
            let causes = [no_parallelism(object), delegated(object)].into_iter();
            causes.flatten().collect()
        }
        "batch/CronJob" => Vec::from_iter(cron_job(object)),
        "policy/PodDisruptionBudget" => Vec::from_iter(budget(object)),
        "apiextensions.k8s.io/CustomResourceDefinition" => Vec::from_iter(stored_versions(object)),
        "gateway.networking.k8s.io/Gateway" => unused_listeners(object),
        "admissionregistration.k8s.io/ValidatingAdmissionPolicy" => type_errors(object),
        "networking.k8s.io/NetworkPolicy" => Vec::from_iter(denials(object)),
        "networking.k8s.io/Ingress" => Vec::from_iter(default_certificate(object)),
        _ => extension(object, kind),
    }
}

/// The taints that somebody has set on a node. Those beside its conditions repeat these.
fn tainted(node: Value<'_>) -> Option<Cause> {
    let taints: Vec<String> = set_taints(node).collect();
    let noun = if taints.len() == 1 { "taint" } else { "taints" };
    let text = format!("{noun} {}", taints.join(", "));
    (!taints.is_empty()).then(|| Cause::new(CauseRule::Tainted, text))
}

/// The directions of traffic of which a network policy allows nothing.
fn denials(policy: Value<'_>) -> Option<Cause> {
    let denied = denied(policy).into_iter();
    let denied: Vec<String> = denied.map(|direction| format!("no {direction}")).collect();
    let text = format!("allows {}", denied.join(" and "));
    (!denied.is_empty()).then(|| Cause::new(CauseRule::Restricts, text))
}

/// A claim without devices. The scheduler allocates them for the first Pod that uses the claim.
fn unallocated(claim: Value<'_>) -> Option<Cause> {
    let is_allocated = claim.at(&["status", "allocation"]).is_some();
    (!is_allocated).then(|| {
        let text = "not allocated: dependent pods cannot be scheduled";
        Cause::new(CauseRule::Unallocated, text)
    })
}

fn no_parallelism(job: Value<'_>) -> Option<Cause> {
    let is_zero = read::int_or(job, &["spec", "parallelism"], 1) == 0;
    let has_ended = job.at(&["status", "completionTime"]).is_some();
    let text = "parallelism is 0: no pod starts";
    (is_zero && !has_ended).then(|| Cause::new(CauseRule::NoParallelism, text))
}

/// A Job that another controller than that of Kubernetes is to start.
fn delegated(job: Value<'_>) -> Option<Cause> {
    let manager = job_manager(job)?;
    let text = format!("waits for {manager}, which manages it (managedBy)");
    let has_started = job.at(&["status", "startTime"]).is_some();
    (!has_started).then(|| Cause::new(CauseRule::ManagedBy, text))
}

fn daemon_set(set: Value<'_>) -> Vec<Cause> {
    let status = |key| read::int_or(set, &["status", key], 0);
    let mut notes = Vec::new();
    let misscheduled = status("numberMisscheduled");
    if misscheduled > 0 {
        let on = counted(misscheduled, "node", "nodes");
        let text = format!("runs on {on} where it should not");
        notes.push(Cause::new(CauseRule::Misscheduled, text));
    }
    let labels = set.at(&["spec", "template", "spec", "nodeSelector"]);
    let labels = labels.and_then(map_selector);
    if let Some(labels) = labels.filter(|_| status("desiredNumberScheduled") == 0) {
        let text = format!("no node has {labels}");
        notes.push(Cause::new(CauseRule::NoNodeSelected, text));
    }
    notes
}

/// A `CronJob` that is suspended, cannot be scheduled, was never scheduled, or whose last run did not succeed.
pub(in crate::status) fn cron_job(job: Value<'_>) -> Option<Cause> {
    let schedule = read::text_or(job, &["spec", "schedule"], "");
    let time = |key| read::text_or(job, &["status", key], "");
    let (scheduled, succeeded) = (time("lastScheduleTime"), time("lastSuccessfulTime"));
    let is_active = job.items_at(&["status", "active"]).next().is_some();
    let (rule, text): (_, Cow<'_, str>) = if read::flag(job, &["spec", "suspend"]) {
        (CauseRule::Suspended, "suspended".into())
    } else if let Some(invalid) = runs::invalid(job) {
        return Some(invalid);
    } else if scheduled.is_empty() {
        let text = format!("has not started a Job yet (schedule {schedule})");
        (CauseRule::NeverScheduled, text.into())
    } else if succeeded.is_empty() && !is_active {
        (CauseRule::LastRunFailed, "no run has succeeded yet".into())
    } else if succeeded < scheduled && !is_active {
        let text = format!("the last run did not succeed (last success: {succeeded})");
        (CauseRule::LastRunFailed, text.into())
    } else {
        return None;
    };
    Some(Cause::new(rule, text))
}

/// A budget that matches no pod, that is violated, or that allows no eviction.
pub(in crate::status) fn budget(budget: Value<'_>) -> Option<Cause> {
    let status = |key| read::int_or(budget, &["status", key], 0);
    budget.at(&["status", "expectedPods"])?;
    let (pods, healthy, desired) = (
        status("expectedPods"),
        status("currentHealthy"),
        status("desiredHealthy"),
    );
    let (rule, text) = if is_not_computed(budget) {
        let text = "no eviction is allowed: the controller cannot compute the budget".to_owned();
        (CauseRule::EvictionsBlocked, text)
    } else if pods == 0 {
        let text =
            "it covers no pod: none matches its selector, or they have no controller".to_owned();
        (CauseRule::NoPodSelected, text)
    } else if healthy < desired {
        let text = format!("only {healthy} of {pods} pods are healthy, {desired} must be");
        (CauseRule::BudgetViolated, text)
    } else if status("disruptionsAllowed") == 0 {
        let text = format!(
            "no eviction is allowed: {healthy} of {pods} pods are healthy, {desired} must be"
        );
        (CauseRule::EvictionsBlocked, text)
    } else {
        return None;
    };
    Some(Cause::new(rule, text))
}

/// Whether the controller has failed to compute a budget. The counts of such a budget are older, or were never set.
fn is_not_computed(budget: Value<'_>) -> bool {
    condition(budget, "DisruptionAllowed").is_some_and(|allowed| allowed.reason == SYNC_FAILED)
}

/// A definition with objects that are still stored in an old version.
fn stored_versions(definition: Value<'_>) -> Option<Cause> {
    let mut versions = definition.items_at(&["spec", "versions"]);
    let storage = versions.find(|version| read::flag(*version, &["storage"]))?;
    let storage = storage.str_at(&["name"])?;
    let stored = definition.items_at(&["status", "storedVersions"]);
    let old: Vec<_> = stored
        .filter_map(Value::as_str)
        .filter(|version| *version != storage)
        .collect();
    let text = format!(
        "objects may still be stored as {}, not as {storage}",
        old.join(", ")
    );
    (!old.is_empty()).then(|| Cause::new(CauseRule::StoredVersions, text))
}

/// The listeners of a Gateway that have no routes.
fn unused_listeners(gateway: Value<'_>) -> Vec<Cause> {
    let listeners = gateway.items_at(&["status", "listeners"]);
    let unused = listeners.filter(|listener| listener.i64_at(&["attachedRoutes"]) == Some(0));
    let notes = unused.map(|listener| {
        let name = read::text_or(listener, &["name"], "?");
        Cause::new(
            CauseRule::Listener,
            format!("listener {name} has no routes"),
        )
    });
    notes.collect()
}

/// The expressions of a policy that the API server found wrong for the types that it matches.
fn type_errors(policy: Value<'_>) -> Vec<Cause> {
    let warnings = policy.items_at(&["status", "typeChecking", "expressionWarnings"]);
    let notes = warnings.map(|warning| {
        let field = read::text_or(warning, &["fieldRef"], "?");
        let text = read::text_or(warning, &["warning"], "");
        // The other lines draw an arrow below the expression.
        let problem = text.lines().next().unwrap_or_default();
        Cause::new(CauseRule::TypeError, format!("{field}: {problem}"))
    });
    notes.collect()
}

/// An Ingress that names no Secret for some of its hosts.
fn default_certificate(ingress: Value<'_>) -> Option<Cause> {
    let entries = ingress.items_at(&["spec", "tls"]);
    let mut bare = entries
        .filter(|entry| read::text_or(*entry, &["secretName"], "").is_empty())
        .peekable();
    bare.peek()?;
    let hosts = bare.flat_map(|entry| entry.items_at(&["hosts"]));
    let hosts: Vec<_> = hosts.filter_map(Value::as_str).collect();
    let of_hosts = match &*hosts.join(", ") {
        "" => String::new(),
        hosts => format!(" for {hosts}"),
    };
    let text = format!("no TLS Secret{of_hosts}: the controller serves its default certificate");
    Some(Cause::new(CauseRule::DefaultCertificate, text))
}

/// The notes of objects that Kubernetes itself does not define: Flux and cert-manager.
fn extension(object: Value<'_>, kind: &str) -> Vec<Cause> {
    let group = kind.rsplit_once('/').map_or("", |(group, _)| group);
    if is_kubernetes_own(group) {
        return Vec::new();
    }
    let mut notes = Vec::from_iter(pause::sign(object, kind));
    if kind == "kustomize.toolkit.fluxcd.io/Kustomization"
        && object.bool_at(&["spec", "prune"]) == Some(false)
    {
        let text = "prune is off: Flux does not delete what its source no longer has";
        notes.push(Cause::new(CauseRule::NotPruned, text));
    }
    let revision = |key| object.text_at(&["status", key]);
    if let (Some(attempted), Some(applied)) = (
        revision("lastAttemptedRevision"),
        revision("lastAppliedRevision"),
    ) && attempted != applied
    {
        let text = format!("attempted revision {attempted}, applied {applied}");
        notes.push(Cause::new(CauseRule::OldRevision, text));
    }
    let failures = read::int_or(object, &["status", "failedIssuanceAttempts"], 0);
    if failures > 0 {
        let text = format!("{failures} attempts to issue the certificate failed");
        notes.push(Cause::new(CauseRule::FailedIssuance, text));
    }
    notes
}
