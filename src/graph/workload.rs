//! The facts that the graph keeps of a workload: its selector, its counts and its revision.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use jiff::Timestamp;

use crate::object::managed_fields::entries;
use crate::object::selector::LabelSelector;
use crate::object::{Kind, PodCounts, Value, label_selector, map_selector};

/// A Deployment, `ReplicaSet`, `StatefulSet`, `DaemonSet`, Job or `ReplicationController`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Its selector; `None` selects nothing.
    pub selector: Option<LabelSelector>,
    /// The numbers of its Pods; `None` for a Job.
    pub counts: Option<PodCounts>,
    /// The revision number from the Deployment controller (`deployment.kubernetes.io/revision`).
    pub revision: Option<i64>,
    /// A digest of its pod template. Equal templates have equal digests.
    pub template: Option<u64>,
    /// The label and the value that mark pods of its newest revision; `None` for kinds without such a label.
    pub newest: Option<(&'static str, Arc<str>)>,
    /// The name of the Service that gives the Pods of a `StatefulSet` their DNS names.
    pub governing_service: Option<Arc<str>>,
    /// When somebody last wrote the status of a `DaemonSet`; `None` for other kinds.
    pub status_written: Option<Timestamp>,
}

impl Workload {
    pub(super) fn of(object: Value<'_>) -> Workload {
        let kind = object.str_at(&["kind"]);
        let is_plain = kind.as_deref() == Some("ReplicationController");
        let is_of_nodes = kind.as_deref() == Some("DaemonSet");
        let service = object.text_at(&["spec", "serviceName"]);
        Workload {
            governing_service: service.filter(|name| !name.is_empty()),
            status_written: is_of_nodes.then(|| status_written(object)).flatten(),
            selector: object.at(&["spec", "selector"]).and_then(if is_plain {
                map_selector
            } else {
                label_selector
            }),
            counts: PodCounts::of(object),
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

/// When somebody last wrote the status of an object.
fn status_written(object: Value<'_>) -> Option<Timestamp> {
    let entries = entries(object).into_iter();
    let writes = entries.filter(|entry| entry.subresource == "status");
    writes.filter_map(|entry| entry.time()).max()
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
