//! Where to look for the dependents of a kind, as narrowly as the API allows.

use crate::object::{GroupKind, Resource, Value, label_selector, map_selector};

use super::endpoints::SERVICE_NAME;

/// A kind that has dependents of another kind, at whatever depth, and how these are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildKind {
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    kind: &'static str,
    /// How its objects are found.
    pub how: How,
}

/// By what the dependents of an object are selected; all of them are in its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By the object's `spec.selector`, a meta/v1 `LabelSelector`.
    Selector,
    /// By the object's `spec.selector`, a map of labels.
    Labels,
    /// By labels that such dependents bear, whoever owns them; the owner's uid tells.
    Marked(&'static str),
    /// By the label that names their Service.
    ServiceName,
    /// By nothing but their owner's uid: the whole namespace is listed.
    Owner,
}

/// What to list for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// What a label selector finds, in the API's grammar.
    Labels(String),
    /// All objects of the kind in the namespace.
    All,
    /// Nothing: the object selects nothing.
    Nothing,
}

impl ChildKind {
    /// The resource to list and watch.
    pub fn resource(&self) -> Resource {
        Resource {
            group: self.group.into(),
            version: self.version.into(),
            plural: self.plural.into(),
            kind: self.kind.into(),
            namespaced: true,
        }
    }

    /// What to list for this object.
    pub fn selection(&self, object: Value<'_>) -> Selection {
        let selector = object.at(&["spec", "selector"]);
        let selector = match self.how {
            How::Selector => selector.and_then(label_selector),
            How::Labels => selector.and_then(map_selector),
            How::Marked(labels) => return Selection::Labels(labels.to_owned()),
            How::Owner => return Selection::All,
            How::ServiceName => {
                return match object.str_at(&["metadata", "name"]) {
                    Some(name) => Selection::Labels(format!("{SERVICE_NAME}={name}")),
                    None => Selection::Nothing,
                };
            }
        };
        match selector {
            None => Selection::Nothing,
            Some(selector) if selector.is_empty() => Selection::All,
            Some(selector) => Selection::Labels(selector.to_string()),
        }
    }
}

const fn replica_sets(how: How) -> ChildKind {
    ChildKind {
        group: "apps",
        version: "v1",
        plural: "replicasets",
        kind: "ReplicaSet",
        how,
    }
}

const fn pods(how: How) -> ChildKind {
    ChildKind {
        group: "",
        version: "v1",
        plural: "pods",
        kind: "Pod",
        how,
    }
}

const JOBS: ChildKind = ChildKind {
    group: "batch",
    version: "v1",
    plural: "jobs",
    kind: "Job",
    how: How::Owner,
};

const SLICES: ChildKind = ChildKind {
    group: "discovery.k8s.io",
    version: "v1",
    plural: "endpointslices",
    kind: "EndpointSlice",
    how: How::ServiceName,
};

/// The kinds of a known kind's dependents, nearest first; `None` for a kind that is not known here, of
/// which anything may be a dependent. A Deployment's pods bear the labels of its selector, as its
/// `ReplicaSets` do, so two lists show all of it. `ControllerRevisions` are left out: they have no state.
pub fn children_of_kind(kind: &GroupKind) -> Option<&'static [ChildKind]> {
    const DEPLOYMENT: &[ChildKind] = &[replica_sets(How::Selector), pods(How::Selector)];
    const PODS: &[ChildKind] = &[pods(How::Selector)];
    const CRON_JOB: &[ChildKind] = &[JOBS, pods(How::Marked("batch.kubernetes.io/job-name"))];
    const CONTROLLER: &[ChildKind] = &[pods(How::Labels)];
    const SERVICE: &[ChildKind] = &[SLICES, pods(How::Labels)];
    Some(match (&*kind.group, &*kind.kind) {
        ("apps" | "extensions", "Deployment") => DEPLOYMENT,
        ("apps" | "extensions", "ReplicaSet" | "DaemonSet")
        | ("apps", "StatefulSet")
        | ("batch", "Job") => PODS,
        ("batch", "CronJob") => CRON_JOB,
        ("", "ReplicationController") => CONTROLLER,
        ("", "Service") => SERVICE,
        ("", "Pod") => &[],
        _ => return None,
    })
}
