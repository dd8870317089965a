//! Service, `PersistentVolumeClaim`, Job, `PodDisruptionBudget` and `CustomResourceDefinition`.
#![expect(clippy::unnecessary_wraps, reason = "all rules share one signature")]

use jiff::Timestamp;

use crate::object::Value;
use crate::status::read::{self, ReadResult};
use crate::status::verdict::Verdict;

/// A load balancer needs a cluster IP. kstatus does not check its external address.
pub(super) fn service(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    let kind = read::text_or(object, &["spec", "type"], "ClusterIP");
    let address = read::text_or(object, &["spec", "clusterIP"], "");
    if kind == "LoadBalancer" && address.is_empty() {
        return Ok(Verdict::in_progress(
            "NoIPAssigned",
            "ClusterIP not set. Service type: LoadBalancer",
        ));
    }
    Ok(Verdict::current("Service is ready"))
}

/// A claim is Current when it is bound.
pub(super) fn persistent_volume_claim(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    let phase = read::text_or(object, &["status", "phase"], "unknown");
    if phase == "Bound" {
        return Ok(Verdict::current("PVC is Bound"));
    }
    Ok(Verdict::in_progress(
        "NotBound",
        format!("PVC is not Bound. phase: {phase}"),
    ))
}

/// A Job is Current as soon as it runs, and Failed only once its `Failed` condition is True.
pub(super) fn job(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    let count = |key| read::int_or(object, &["status", key], 0);
    let parallelism = read::int_or(object, &["spec", "parallelism"], 1);
    let completions = read::int_or(object, &["spec", "completions"], parallelism);
    let suspended = read::flag(object, &["spec", "suspend"]);
    for condition in read::conditions(object)? {
        if condition.status != "True" {
            continue;
        }
        match &*condition.kind {
            "Complete" => {
                return Ok(Verdict::current(format!(
                    "Job Completed. succeeded: {}/{completions}",
                    count("succeeded")
                )));
            }
            "Failed" => {
                return Ok(Verdict::failed(
                    "JobFailed",
                    format!("Job Failed. failed: {}/{completions}", count("failed")),
                ));
            }
            "Suspended" if suspended => return Ok(Verdict::current("Job is suspended")),
            _ => {}
        }
    }
    if read::text_or(object, &["status", "startTime"], "").is_empty() {
        return Ok(Verdict::in_progress("JobNotStarted", "Job not started"));
    }
    Ok(Verdict::current(format!(
        "Job in progress. success:{}, active: {}, failed: {}",
        count("succeeded"),
        count("active"),
        count("failed")
    )))
}

/// A `PodDisruptionBudget` is Current once its latest generation is observed, which `generic` checks.
pub(super) fn pod_disruption_budget(_: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    Ok(Verdict::current("AllowedDisruptions has been computed."))
}

/// A definition is Current when it is established. The first condition that decides wins.
pub(super) fn custom_resource_definition(object: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    for condition in read::conditions(object)? {
        if condition.is("NamesAccepted", "False")
            || condition.is("Established", "False") && condition.reason != "Installing"
        {
            return Ok(Verdict::failed(condition.reason, condition.message));
        }
        if condition.is("Established", "True") {
            return Ok(Verdict::current("CRD is established"));
        }
    }
    Ok(Verdict::in_progress("Installing", "Install in progress"))
}
