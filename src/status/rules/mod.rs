//! kstatus's rules for the built-in kinds: one function for each kind, one file for each group of kinds.

mod batch;
mod core;
mod pod;
mod replicas;
mod sets;

use jiff::Timestamp;

use crate::object::Value;

use super::read::Reading;
use super::verdict::Verdict;

pub(super) use pod::SCHEDULE_WINDOW;

/// A rule for one kind: computes the verdict on an object at the given time.
pub(super) type Rule = fn(Value<'_>, Timestamp) -> Reading<Verdict>;

/// The rule for `GROUP/KIND` (`KIND` in the core group), for all versions.
pub(super) fn of(kind: &str) -> Option<Rule> {
    Some(match kind {
        "Secret" | "ConfigMap" | "batch/CronJob" => always_ready,
        "Pod" => pod::pod,
        "Service" => core::service,
        "PersistentVolumeClaim" => core::persistent_volume_claim,
        "apps/Deployment" | "extensions/Deployment" => replicas::deployment,
        "apps/ReplicaSet" | "extensions/ReplicaSet" => replicas::replica_set,
        "apps/StatefulSet" => sets::stateful_set,
        "apps/DaemonSet" | "extensions/DaemonSet" => sets::daemon_set,
        "batch/Job" => batch::job,
        "policy/PodDisruptionBudget" => core::pod_disruption_budget,
        "apiextensions.k8s.io/CustomResourceDefinition" => core::custom_resource_definition,
        _ => return None,
    })
}

#[expect(clippy::unnecessary_wraps, reason = "all rules share one signature")]
fn always_ready(_: Value<'_>, _: Timestamp) -> Reading<Verdict> {
    Ok(Verdict::current("Resource is always ready"))
}
