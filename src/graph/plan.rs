//! Which sources show the objects related to an object. Each is as narrow as the API allows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::{GroupKind, Resource, ServedTypes, Uid, is_kubernetes_own, well_known_type};
use crate::source::{ClusterId, Select, SourceKey};

use super::index::Graph;
use super::labels::SERVICE_NAME;
use super::lookup::{Lookup, one_per_source};
use super::node::Node;

/// A kind of dependents, direct or indirect, and how to find them.
struct ChildKind {
    group: &'static str,
    kind: &'static str,
    by: FoundBy,
}

/// How the dependents of an object are found. All of them are in its namespace.
#[derive(Clone, Copy)]
enum FoundBy {
    /// By the object's `spec.selector`.
    Selector,
    /// By a label that all such dependents have. Their owner references then identify the owner.
    Label(&'static str),
    /// By their owner references alone: the whole namespace is listed.
    OwnerReference,
}

const fn pods(by: FoundBy) -> ChildKind {
    ChildKind {
        group: "",
        kind: "Pod",
        by,
    }
}

const REPLICA_SETS: ChildKind = ChildKind {
    group: "apps",
    kind: "ReplicaSet",
    by: FoundBy::Selector,
};

const JOBS: ChildKind = ChildKind {
    group: "batch",
    kind: "Job",
    by: FoundBy::OwnerReference,
};

/// The kinds of a workload's dependents, nearest first. The selector of a Deployment matches its
/// `ReplicaSets` and its Pods, so two lists show them all. `ControllerRevisions` are left out because they
/// have no state; `Node::revision_source` shows them.
fn children_of_kind(group: &str, kind: &str) -> &'static [ChildKind] {
    const DEPLOYMENT: &[ChildKind] = &[REPLICA_SETS, pods(FoundBy::Selector)];
    const PODS: &[ChildKind] = &[pods(FoundBy::Selector)];
    const CRON_JOB: &[ChildKind] = &[JOBS, pods(FoundBy::Label("batch.kubernetes.io/job-name"))];
    match (group, kind) {
        ("apps" | "extensions", "Deployment") => DEPLOYMENT,
        ("apps" | "extensions", "ReplicaSet" | "DaemonSet")
        | ("apps", "StatefulSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => PODS,
        ("batch", "CronJob") => CRON_JOB,
        _ => &[],
    }
}

/// Whether objects of a kind have dependents of known kinds.
pub(super) fn has_dependents(kind: &GroupKind) -> bool {
    !children_of_kind(&kind.group, &kind.kind).is_empty()
}

/// Whether Pods may be below the objects of a kind: it is a Pod, a Service, or a workload. A custom resource may own any
/// object.
pub fn may_have_pods(kind: &GroupKind) -> bool {
    let is_known = matches!((&*kind.group, &*kind.kind), ("", "Pod" | "Service"));
    is_known || has_dependents(kind) || !is_kubernetes_own(&kind.group)
}

impl Node {
    /// The sources that show the dependents of this workload, direct and indirect. Empty for other kinds, and
    /// for a workload whose selector selects nothing.
    pub fn dependent_sources(&self, cluster: &ClusterId) -> Vec<SourceKey> {
        let children = children_of_kind(self.object.group(), &self.object.kind).iter();
        let sources = children.filter_map(|child| {
            let resource = well_known(child.group, child.kind);
            let select = match child.by {
                FoundBy::Selector => self.selection()?,
                FoundBy::Label(key) => Select::labelled(key),
                FoundBy::OwnerReference => Select::All,
            };
            Some(self.source_beside(cluster, resource, select))
        });
        sources.collect()
    }

    /// The source of the `ControllerRevisions` of a `StatefulSet` or `DaemonSet`; `None` for other kinds. They have
    /// the labels of its Pods.
    pub fn revision_source(&self, cluster: &ClusterId) -> Option<SourceKey> {
        let kind = &*self.object.kind;
        if self.object.group() != "apps" || !matches!(kind, "StatefulSet" | "DaemonSet") {
            return None;
        }
        let select = self.selection()?;
        Some(self.source_beside(cluster, well_known("apps", "ControllerRevision"), select))
    }

    /// The source that shows the Pods that this Service selects; `None` without a selector.
    pub fn selected_pods_source(&self, cluster: &ClusterId) -> Option<SourceKey> {
        self.service()
            .filter(|service| service.external_name.is_none())?;
        let select = self.selection().filter(|select| *select != Select::All)?;
        Some(self.source_beside(cluster, well_known("", "Pod"), select))
    }

    /// The source of a Service's slices; `None` for other kinds.
    pub fn slices_source(&self, cluster: &ClusterId) -> Option<SourceKey> {
        self.service()?;
        let name = Select::Name(self.object.name.clone());
        let own = self.source_beside(cluster, well_known("", "Service"), name);
        Some(slices_source(&own))
    }

    /// The selection by its selector; `None` if it selects nothing.
    fn selection(&self) -> Option<Select> {
        let selector = self.selector()?;
        Some(if selector.is_empty() {
            Select::All
        } else {
            Select::labelled(&selector.to_string())
        })
    }

    /// A source in this object's namespace.
    fn source_beside(&self, cluster: &ClusterId, resource: Resource, select: Select) -> SourceKey {
        SourceKey::of(cluster, resource, self.object.namespace.clone(), select)
    }
}

/// The sources of the owners of Pods, and of the owners of those owners, as far as the graph has them. Each
/// source selects one name; there are at most `limit`. Owners of a custom or cluster-scoped kind are left out.
pub fn pod_owner_sources(
    graph: &Graph,
    pods: Vec<&Node>,
    cluster: &ClusterId,
    limit: usize,
) -> Vec<SourceKey> {
    let mut sources: BTreeMap<OwnerKey, SourceKey> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut level = pods;
    while !level.is_empty() && sources.len() < limit {
        let mut next = Vec::new();
        let owners = level
            .iter()
            .flat_map(|node| node.owners.iter().map(move |owner| (node, owner)));
        for (node, owner) in owners.filter(|(_, owner)| seen.insert(&owner.uid)) {
            let Some(known) = well_known_type(&owner.group, &owner.kind) else {
                continue;
            };
            if !known.resource.namespaced {
                continue;
            }
            let resource = known.resource.clone();
            let select = Select::Name(owner.name.clone());
            let source = node.source_beside(cluster, resource.clone(), select);
            let namespace = node.object.namespace.clone();
            sources.insert((resource, namespace, owner.name.clone()), source);
            next.extend(graph.node(&owner.uid));
        }
        level = next;
    }
    sources.into_values().take(limit).collect()
}

/// The type, the namespace and the name of an owner.
type OwnerKey = (Resource, Option<Arc<str>>, Arc<str>);

/// The source of the `EndpointSlices` of the Service that `service` selects by name.
pub fn slices_source(service: &SourceKey) -> SourceKey {
    let name = service.select.name().unwrap_or_default();
    SourceKey {
        resource: well_known("discovery.k8s.io", "EndpointSlice"),
        select: Select::labelled(&format!("{SERVICE_NAME}={name}")),
        ..service.clone()
    }
}

/// The resource of a well-known type.
pub fn well_known(group: &str, kind: &str) -> Resource {
    let found = well_known_type(group, kind).expect("callers name only well-known types");
    found.resource.clone()
}

/// The kinds with a state that controllers of custom resources create. Beside them, they create custom resources of
/// their own group.
const CREATED: [(&str, &str); 9] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("", "Pod"),
    ("", "Service"),
    ("", "PersistentVolumeClaim"),
];

impl Node {
    /// Whether Kubernetes itself does not define its kind.
    pub fn is_custom(&self) -> bool {
        well_known_type(self.object.group(), &self.object.kind).is_none()
    }
}

/// The sources that are looked through for the dependents of namespaced custom resources, and for those of their
/// custom dependents. None for other objects: what an inventory has applied, it does not own.
pub fn owned_lookups<'r>(
    graph: &'r Graph,
    roots: impl IntoIterator<Item = (&'r Uid, &'r ClusterId)>,
    types: &ServedTypes,
) -> Vec<Lookup> {
    let mut groups: BTreeMap<_, Vec<&Uid>> = BTreeMap::new();
    for (root, cluster) in roots {
        let node = graph.node(root).filter(|node| node.is_custom());
        if let Some(node) = node.filter(|_| !graph.is_inventory(root))
            && let Some(namespace) = &node.object.namespace
        {
            let group = (cluster, namespace, node.object.group());
            groups.entry(group).or_default().push(root);
        }
    }
    let mut lookups = Vec::new();
    for ((cluster, namespace, group), roots) in groups {
        let mut owners = graph.with_below(roots);
        owners.retain(|uid| graph.node(uid).is_some_and(Node::is_custom));
        let created = CREATED.map(|(group, kind)| well_known(group, kind));
        let own = types.of_group(group).cloned();
        lookups.extend(created.into_iter().chain(own).map(|resource| {
            let namespace = Some(namespace.clone());
            Lookup {
                owners: owners.clone(),
                ..Lookup::of(SourceKey::of(cluster, resource, namespace, Select::All))
            }
        }));
    }
    one_per_source(lookups)
}
