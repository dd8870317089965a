//! `Node`: the facts that the graph keeps of an object: its name, its owners, its labels, and those of its kind.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::object::selector::LabelSelector;
use crate::object::{GroupKind, ObjectRef, Uid, Value};
use crate::source::Form;

use super::labels::Labels;
use super::pod::Pod;
use super::reference_target::ReferenceTarget;
use super::services::{Service, Slice};
use super::workload::Workload;

/// An object in the graph. A field that a malformed object lacks is absent here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its key in the graph: its uid, or `GROUP/KIND/NAMESPACE/NAME` without one.
    pub uid: Uid,
    /// Its type, namespace and name.
    pub object: Arc<ObjectRef>,
    /// Its owners, in the object's order.
    pub owners: Arc<[Owner]>,
    /// Its labels. Siblings share equal ones.
    pub labels: Labels,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// The facts that depend on its kind.
    pub facts: Facts,
}

/// The fields of a kind that relations need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Facts {
    /// A workload: an object that creates pods.
    Workload(Workload),
    /// A Pod.
    Pod(Pod),
    /// A Service.
    Service(Service),
    /// An `EndpointSlice`.
    Slice(Slice),
    /// An Ingress, if the whole object was read.
    Ingress {
        /// Whether it names no class and has no address, so that only a default class lets a controller serve it.
        needs_default_class: bool,
    },
    /// The keys of a `ConfigMap` or a Secret, if the whole object was read.
    Data(BTreeSet<Arc<str>>),
    /// Anything else.
    Other,
}

/// The order of kinds among siblings. Other kinds follow by name.
const KINDS: [&str; 10] = [
    "CronJob",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "Service",
    "EndpointSlice",
];

/// The sort key among siblings: kind, newest revision first, namespace, name (`web-2` before `web-10`).
pub(super) type SiblingOrder = (
    usize,
    Arc<str>,
    Reverse<Option<i64>>,
    Option<Arc<str>>,
    (Arc<str>, u64),
    Uid,
);

impl Node {
    /// Its place among its siblings in a tree.
    pub(super) fn place(&self) -> SiblingOrder {
        let kind = &self.object.kind;
        let rank = KINDS.iter().position(|known| *known == &**kind);
        (
            rank.unwrap_or(KINDS.len()),
            kind.clone(),
            Reverse(self.revision()),
            self.object.namespace.clone(),
            ordinal(&self.object.name),
            self.uid.clone(),
        )
    }

    pub(super) fn of(form: Form, reference: &Arc<ObjectRef>, object: Value<'_>) -> Node {
        Node {
            uid: reference.identity(),
            owners: owners(object).into(),
            labels: Labels::of(object),
            created: object.time_at(&["metadata", "creationTimestamp"]),
            deleting: object.text_at(&["metadata", "deletionTimestamp"]).is_some(),
            facts: Facts::of(form, reference, object),
            object: reference.clone(),
        }
    }

    /// Shares the memory of what is equal in a sibling. A namespace of ten thousand Pods has few Deployments.
    pub(super) fn share_with(&mut self, sibling: &Node) {
        if self.owners == sibling.owners {
            self.owners = sibling.owners.clone();
        }
        if self.labels == sibling.labels {
            self.labels = sibling.labels.clone();
        }
        if let (Facts::Pod(own), Facts::Pod(other)) = (&mut self.facts, &sibling.facts) {
            if own.ports == other.ports {
                own.ports = other.ports.clone();
            }
            if own.node == other.node {
                own.node.clone_from(&other.node);
            }
        }
    }

    /// The value of one of its labels.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key)
    }

    /// Whether it is a default binding. The API server creates them for all controllers, whether they run or not
    /// (<https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings>).
    pub fn is_default_binding(&self) -> bool {
        self.label("kubernetes.io/bootstrapping").is_some()
    }

    /// Its revision number; `None` for other kinds than Deployments and `ReplicaSets`.
    pub fn revision(&self) -> Option<i64> {
        self.workload()?.revision
    }

    /// Whether it has and wants no pods, as a `ReplicaSet` that is kept for rollback.
    pub fn is_idle(&self) -> bool {
        self.workload().is_none_or(|set| {
            set.counts
                .is_some_and(|counts| counts.wanted <= 0 && counts.there <= 0)
        })
    }

    /// Whether it is a Pod that has its node.
    pub fn is_placed(&self) -> bool {
        self.pod().is_some_and(|pod| pod.node.is_some())
    }

    /// The ordinal of a Pod of a `StatefulSet`: the number at the end of its name.
    pub fn ordinal(&self) -> Option<i64> {
        self.object.name.rsplit_once('-')?.1.parse().ok()
    }

    /// Its owners, the managing controller first.
    pub(super) fn owners_by_rank(&self) -> impl Iterator<Item = &Owner> {
        let by_role = |controller| {
            self.owners
                .iter()
                .filter(move |owner| owner.controller == controller)
        };
        by_role(true).chain(by_role(false))
    }

    /// The owner of a Pod, first of all its controller; `None` for other kinds, and for a Pod that stands alone.
    pub fn pod_owner(&self) -> Option<&Uid> {
        self.pod()?;
        self.owners_by_rank().next().map(|owner| &owner.uid)
    }

    /// Its facts as a workload; `None` for other kinds.
    pub fn workload(&self) -> Option<&Workload> {
        match &self.facts {
            Facts::Workload(workload) => Some(workload),
            _ => None,
        }
    }

    /// Its facts as a Pod; `None` for other kinds.
    pub fn pod(&self) -> Option<&Pod> {
        match &self.facts {
            Facts::Pod(pod) => Some(pod),
            _ => None,
        }
    }

    /// Its facts as a Service; `None` for other kinds.
    pub fn service(&self) -> Option<&Service> {
        match &self.facts {
            Facts::Service(service) => Some(service),
            _ => None,
        }
    }

    /// The selector of a Service or a workload; `None` selects nothing.
    pub fn selector(&self) -> Option<&LabelSelector> {
        match &self.facts {
            Facts::Service(service) => service.selector.as_ref(),
            Facts::Workload(workload) => workload.selector.as_ref(),
            _ => None,
        }
    }

    /// Whether it is a Pod that is ready and not being deleted.
    pub fn is_ready_pod(&self) -> bool {
        self.pod().is_some_and(|pod| pod.ready) && !self.deleting
    }
}

impl Facts {
    fn of(form: Form, reference: &ObjectRef, object: Value<'_>) -> Facts {
        match (reference.group(), &*reference.kind) {
            ("apps" | "extensions", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
            | ("batch", "Job")
            | ("", "ReplicationController") => Facts::Workload(Workload::of(object)),
            ("", "Pod") => Facts::Pod(Pod::of(object)),
            ("", "Service") => Facts::Service(Service::of(object)),
            ("discovery.k8s.io", "EndpointSlice") => Facts::Slice(Slice::of(object)),
            // The metadata alone has no keys and no class.
            ("", "ConfigMap" | "Secret") if form != Form::Metadata => {
                Facts::Data(data_keys(object))
            }
            ("networking.k8s.io", "Ingress") if form != Form::Metadata => Facts::Ingress {
                needs_default_class: needs_default_class(object),
            },
            _ => Facts::Other,
        }
    }
}

/// Whether an Ingress names no class and has no address. A controller that serves it gives it one.
fn needs_default_class(ingress: Value<'_>) -> bool {
    let annotation = ["metadata", "annotations", "kubernetes.io/ingress.class"];
    let class = ingress.text_at(&["spec", "ingressClassName"]);
    let class = class.or_else(|| ingress.text_at(&annotation));
    let mut addresses = ingress.items_at(&["status", "loadBalancer", "ingress"]);
    class.is_none() && addresses.next().is_none()
}

fn data_keys(map: Value<'_>) -> BTreeSet<Arc<str>> {
    let parts = ["data", "binaryData"].into_iter();
    let fields = parts
        .filter_map(|part| map.get(part))
        .flat_map(Value::fields);
    fields.map(|(key, _)| Arc::from(&*key)).collect()
}

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The owner's uid. Nothing else identifies the owner.
    pub uid: Uid,
    /// Whether it is the managing controller; an object has at most one.
    pub controller: bool,
    /// The owner's API group; empty for the core group.
    pub group: Arc<str>,
    /// The owner's kind, for owners that are not in the graph.
    pub kind: Arc<str>,
    /// The owner's name, for owners that are not in the graph.
    pub name: Arc<str>,
}

impl Owner {
    /// The owner of an object, by its name. An owner is in the same namespace; the namespace of a cluster-scoped one is
    /// not known here.
    pub fn target(&self, of: &ObjectRef) -> ReferenceTarget {
        ReferenceTarget {
            kind: GroupKind {
                group: self.group.clone(),
                kind: self.kind.clone(),
            },
            namespace: of.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

/// Reads an object's owners. An entry without a uid is ignored.
fn owners(object: Value<'_>) -> Vec<Owner> {
    object
        .items_at(&["metadata", "ownerReferences"])
        .filter_map(|owner| {
            Some(Owner {
                uid: Uid::new(owner.text_at(&["uid"])?),
                controller: owner.bool_at(&["controller"]).unwrap_or(false),
                group: group(owner),
                kind: owner.text_at(&["kind"]).unwrap_or_default(),
                name: owner.text_at(&["name"]).unwrap_or_default(),
            })
        })
        .collect()
}

fn group(owner: Value<'_>) -> Arc<str> {
    let api_version = owner.str_at(&["apiVersion"]).unwrap_or_default();
    let (group, _version) = api_version.rsplit_once('/').unwrap_or_default();
    group.into()
}

/// Splits off the number at the end of a name, as in the names of `StatefulSet` pods.
fn ordinal(name: &Arc<str>) -> (Arc<str>, u64) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match name[stem.len()..].parse() {
        Ok(number) => (stem.into(), number),
        Err(_) => (name.clone(), 0),
    }
}
