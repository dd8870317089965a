//! kstatus's rules for the built-in kinds: one function for each kind, one file for the Pods, the workloads and the others.

mod core;
mod pod;
mod replicas;
mod sets;

use jiff::Timestamp;

use crate::object::Value;

use super::cause_rule::{self, Explanation};
use super::read::ReadResult;
use super::verdict::Verdict;

pub(super) use pod::SCHEDULE_WINDOW;

/// A rule for one kind.
pub(super) struct KindRule {
    /// The kinds, as `GROUP/KIND` (`KIND` in the core group).
    kinds: &'static [&'static str],
    /// Computes the verdict on an object at the given time.
    decide: fn(Value<'_>, Timestamp) -> ReadResult<Verdict>,
    pub(super) explanation: Explanation,
}

/// Defines the table: the kinds, the function, the name, and what an object needs to be Current.
macro_rules! kinds {
    ($($kinds:expr, $decide:path, $name:literal, $finds:literal;)*) => {
        &[$(KindRule {
            kinds: &$kinds,
            decide: $decide,
            explanation: Explanation {
                name: concat!("kstatus ", $name),
                finds: $finds,
                source: cause_rule::KSTATUS_KINDS,
            },
        },)*]
    };
}

/// The rules of kstatus for kinds.
pub(super) const KINDS: &[KindRule] = kinds! {
    ["Secret", "ConfigMap", "batch/CronJob"], always_ready, "ConfigMap, Secret, CronJob",
        "The object exists.";
    ["Pod"], pod::pod, "Pod",
        "The Pod is ready or has ended.";
    ["Service"], core::service, "Service",
        "A Service of the type LoadBalancer has a cluster IP. Others exist.";
    ["PersistentVolumeClaim"], core::persistent_volume_claim, "PersistentVolumeClaim",
        "The claim is bound.";
    ["apps/Deployment", "extensions/Deployment"], replicas::deployment, "Deployment",
        "All replicas are updated, ready and available, and no old one is left.";
    ["apps/ReplicaSet", "extensions/ReplicaSet"], replicas::replica_set, "ReplicaSet",
        "All replicas are labelled, available and ready.";
    ["apps/StatefulSet"], sets::stateful_set, "StatefulSet",
        "All replicas are ready and have the newest revision, down to the partition.";
    ["apps/DaemonSet", "extensions/DaemonSet"], sets::daemon_set, "DaemonSet",
        "Each node that should run the Pod has one that is updated, available and ready.";
    ["batch/Job"], core::job, "Job",
        "The Job has started, or has completed.";
    ["policy/PodDisruptionBudget"], core::pod_disruption_budget, "PodDisruptionBudget",
        "The controller has observed the newest generation of the budget.";
    ["apiextensions.k8s.io/CustomResourceDefinition"], core::custom_resource_definition,
        "CustomResourceDefinition", "The API server has accepted the names and serves the kind.";
};

/// The rule for `GROUP/KIND` (`KIND` in the core group), for all versions.
pub(super) fn of(kind: &str) -> Option<&'static KindRule> {
    KINDS.iter().find(|rule| rule.kinds.contains(&kind))
}

impl KindRule {
    /// The verdict on an object of the kind.
    pub(super) fn decide(&'static self, object: Value<'_>, now: Timestamp) -> ReadResult<Verdict> {
        let verdict = (self.decide)(object, now)?;
        Ok(verdict.decided_by(&self.explanation))
    }
}

#[expect(clippy::unnecessary_wraps, reason = "all rules share one signature")]
fn always_ready(_: Value<'_>, _: Timestamp) -> ReadResult<Verdict> {
    Ok(Verdict::current("Resource is always ready"))
}
