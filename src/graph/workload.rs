//! The facts that the graph keeps of a workload: its selector, its counts and its revision.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::object::selector::LabelSelector;
use crate::object::{Kind, Value, label_selector, map_selector};

use super::stateful_set::partition;

/// The fields with the counts of a workload: wanted, there, available.
const REPLICA_COUNTS: [[&str; 2]; 3] = [
    ["spec", "replicas"],
    ["status", "replicas"],
    ["status", "availableReplicas"],
];

/// The same fields of a `DaemonSet`.
const DAEMON_SET_COUNTS: [[&str; 2]; 3] = [
    ["status", "desiredNumberScheduled"],
    ["status", "currentNumberScheduled"],
    ["status", "numberAvailable"],
];

/// A Deployment, `ReplicaSet`, `StatefulSet`, `DaemonSet`, Job or `ReplicationController`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Its selector; `None` selects nothing.
    pub selector: Option<LabelSelector>,
    /// How many replicas are wanted.
    pub wanted: i64,
    /// How many of them get the newest revision: a `StatefulSet` with a partition keeps the others as they are.
    pub wanted_newest: i64,
    /// How many replicas there are.
    pub replicas: i64,
    /// How many of them are available.
    pub available: i64,
    /// The revision number from the Deployment controller (`deployment.kubernetes.io/revision`).
    pub revision: Option<i64>,
    /// A digest of its pod template. Equal templates have equal digests.
    pub template: Option<u64>,
    /// The label and the value that mark pods of its newest revision; `None` for kinds without such a label.
    pub newest: Option<(&'static str, Arc<str>)>,
}

impl Workload {
    pub(super) fn of(object: Value<'_>) -> Workload {
        let kind = object.text_at(&["kind"]).unwrap_or_default();
        let is_plain = &*kind == "ReplicationController";
        // A DaemonSet counts nodes.
        let [wanted, replicas, available] = if &*kind == "DaemonSet" {
            DAEMON_SET_COUNTS
        } else {
            REPLICA_COUNTS
        };
        let wanted = object.i64_at(&wanted).unwrap_or(1);
        Workload {
            selector: object.at(&["spec", "selector"]).and_then(if is_plain {
                map_selector
            } else {
                label_selector
            }),
            wanted,
            wanted_newest: wanted.saturating_sub(partition(object)),
            replicas: object.i64_at(&replicas).unwrap_or(0),
            available: object.i64_at(&available).unwrap_or(0),
            revision: number(object),
            template: template_digest(object),
            newest: newest_label(object),
        }
    }
}

/// The revision number that the Deployment controller writes to Deployments and `ReplicaSets`.
fn number(object: Value<'_>) -> Option<i64> {
    object
        .str_at(&[
            "metadata",
            "annotations",
            "deployment.kubernetes.io/revision",
        ])?
        .parse()
        .ok()
}

/// The label and value that mark pods of the newest revision of a `StatefulSet` or `DaemonSet`.
fn newest_label(object: Value<'_>) -> Option<(&'static str, Arc<str>)> {
    if let Some(revision) = object.text_at(&["status", "updateRevision"]) {
        return Some(("controller-revision-hash", revision));
    }
    let generation = object.text_at(&[
        "metadata",
        "annotations",
        "deprecated.daemonset.template.generation",
    ])?;
    Some(("pod-template-generation", generation))
}

/// A digest of `spec.template`, equal for templates that the Deployment controller considers equal. The label
/// `pod-template-hash` and the order of fields do not count.
fn template_digest(object: Value<'_>) -> Option<u64> {
    let template = object.at(&["spec", "template"])?;
    let mut hasher = DefaultHasher::new();
    digest(template, &mut hasher);
    Some(hasher.finish())
}

fn digest(value: Value<'_>, hasher: &mut DefaultHasher) {
    match value.kind() {
        Kind::Object => {
            let mut fields: Vec<_> = value
                .fields()
                .filter(|(key, _)| key != "pod-template-hash")
                .collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            fields.len().hash(hasher);
            for (key, value) in fields {
                key.hash(hasher);
                digest(value, hasher);
            }
        }
        Kind::Array => {
            value.items().count().hash(hasher);
            for item in value.items() {
                digest(item, hasher);
            }
        }
        Kind::String => value.as_str().hash(hasher),
        Kind::Null | Kind::Bool | Kind::Number => value.raw().hash(hasher),
    }
}
