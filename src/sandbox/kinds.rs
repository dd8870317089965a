//! The kinds that the server serves: their discovery data and their storage rules.

use serde_json::Value;

use crate::object::{Resource, ResourceType, well_known_type};

/// The origin of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindOrigin {
    /// Compiled into kube-apiserver. The items of a LIST have no `apiVersion` and `kind`.
    BuiltIn,
    /// From a `CustomResourceDefinition`. The items of a LIST have both.
    Custom,
}

/// A served resource type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The resource.
    pub resource: Resource,
    /// Short names, as in `deploy`.
    pub short_names: Vec<String>,
    /// Categories, as in `all`.
    pub categories: Vec<String>,
    /// Built in or custom.
    pub origin: KindOrigin,
    /// Whether `metadata.generation` counts the changes of the spec.
    pub counts_generations: bool,
    /// Whether there is a `status` subresource.
    pub has_status: bool,
    /// The published `OpenAPI` schema, in the form of a `CustomResourceDefinition`, if any. Objects are not
    /// validated against it.
    pub schema: Option<Value>,
}

impl Kind {
    /// A namespaced custom kind with generations and a `status` subresource.
    #[cfg(any(test, feature = "testing"))]
    pub fn custom(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        Self::of(Resource {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            plural: plural.into(),
            namespaced: true,
        })
    }

    /// A custom kind with generations and a `status` subresource.
    fn of(resource: Resource) -> Self {
        Self {
            resource,
            short_names: Vec::new(),
            categories: Vec::new(),
            origin: KindOrigin::Custom,
            counts_generations: true,
            has_status: true,
            schema: None,
        }
    }

    fn built_in(found: &ResourceType, marks: &str) -> Self {
        Self {
            short_names: found.short_names.clone(),
            categories: found.categories.clone(),
            origin: KindOrigin::BuiltIn,
            counts_generations: marks.contains('g'),
            has_status: marks.contains('s'),
            ..Self::of(found.resource.clone())
        }
    }

    pub(super) fn is_of(&self, group: &str, version: &str) -> bool {
        (&*self.resource.group, &*self.resource.version) == (group, version)
    }

    /// The singular name: the kind in lower case, as in kube-apiserver.
    pub fn singular(&self) -> String {
        self.resource.kind.to_lowercase()
    }
}

/// The built-in kinds that are served, by group. A kind can have generations (`g`) and a status (`s`).
const BUILT_IN: &[(&str, &str)] = &[
    (
        "",
        "ConfigMap Endpoints Event LimitRange Namespace:s Node:s PersistentVolumeClaim:s PersistentVolume:s Pod:gs \
         PodTemplate:g ReplicationController:gs ResourceQuota:s Secret ServiceAccount Service:s",
    ),
    (
        "apps",
        "ControllerRevision DaemonSet:gs Deployment:gs ReplicaSet:gs StatefulSet:gs",
    ),
    ("autoscaling", "HorizontalPodAutoscaler:s"),
    ("batch", "CronJob:gs Job:gs"),
    (
        "networking.k8s.io",
        "IngressClass:g Ingress:gs NetworkPolicy:g",
    ),
    ("policy", "PodDisruptionBudget:gs"),
    ("storage.k8s.io", "StorageClass"),
    ("apiextensions.k8s.io", "CustomResourceDefinition:gs"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice:g"),
];

/// The built-in kinds, in discovery order.
pub(crate) fn built_in() -> Vec<Kind> {
    let mut served = Vec::new();
    for (group, kinds) in BUILT_IN {
        for kind in kinds.split(' ') {
            let (kind, marks) = kind.split_once(':').unwrap_or((kind, ""));
            served.extend(well_known_type(group, kind).map(|kind| Kind::built_in(kind, marks)));
        }
    }
    served
}
