//! The kinds the server knows: what discovery tells of them and how their objects are kept.

use serde_json::Value;

use crate::object::{ResourceType, well_known_type};

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

/// Whether a kind is compiled into kube-apiserver or comes from a `CustomResourceDefinition`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindOrigin {
    /// Built in: the items of a LIST carry no `apiVersion` and `kind`.
    BuiltIn,
    /// Custom: the items of a LIST carry them.
    Custom,
}

/// A resource type that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// API group, empty for the core.
    pub group: String,
    /// Version within the group.
    pub version: String,
    /// Kind, as in `Deployment`.
    pub kind: String,
    /// Resource name, as in `deployments`.
    pub plural: String,
    /// Short names, as in `deploy`.
    pub short_names: Vec<String>,
    /// Categories, as in `all`.
    pub categories: Vec<String>,
    /// Namespaced or cluster-wide.
    pub scope: Scope,
    /// Built in or custom.
    pub origin: KindOrigin,
    /// Whether `metadata.generation` counts the changes of the specification.
    pub counts_generations: bool,
    /// Whether there is a `status` subresource.
    pub has_status: bool,
    /// The `OpenAPI` schema that is published of it, as a `CustomResourceDefinition` has it; nothing is
    /// checked against it. `None` for none.
    pub schema: Option<Value>,
}

impl Kind {
    /// A namespaced custom kind with generations and a `status` subresource.
    pub fn custom(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            scope: Scope::Namespaced,
            origin: KindOrigin::Custom,
            counts_generations: true,
            has_status: true,
            schema: None,
        }
    }

    fn built_in(found: &ResourceType, marks: &str) -> Self {
        let resource = &found.resource;
        let (group, version) = (&resource.group, &resource.version);
        Self {
            short_names: found.short_names.clone(),
            categories: found.categories.clone(),
            scope: if resource.namespaced {
                Scope::Namespaced
            } else {
                Scope::Cluster
            },
            origin: KindOrigin::BuiltIn,
            counts_generations: marks.contains('g'),
            has_status: marks.contains('s'),
            ..Self::custom(group, version, &resource.kind, &resource.plural)
        }
    }

    /// `GROUP/VERSION`, or the version alone for the core.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `PLURAL.GROUP`, or the plural alone for the core: how messages name a resource.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The singular name: the kind in lower case, as kube-apiserver has it.
    pub fn singular(&self) -> String {
        self.kind.to_lowercase()
    }
}

/// The built-in kinds that are served, by group: the kind, and whether it has generations (`g`) and a status (`s`).
const BUILT_IN: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[
            ("ConfigMap", ""),
            ("Endpoints", ""),
            ("Event", ""),
            ("LimitRange", ""),
            ("Namespace", "s"),
            ("Node", "s"),
            ("PersistentVolumeClaim", "s"),
            ("PersistentVolume", "s"),
            ("Pod", "gs"),
            ("PodTemplate", "g"),
            ("ReplicationController", "gs"),
            ("ResourceQuota", "s"),
            ("Secret", ""),
            ("ServiceAccount", ""),
            ("Service", "s"),
        ],
    ),
    (
        "apps",
        &[
            ("ControllerRevision", ""),
            ("DaemonSet", "gs"),
            ("Deployment", "gs"),
            ("ReplicaSet", "gs"),
            ("StatefulSet", "gs"),
        ],
    ),
    ("autoscaling", &[("HorizontalPodAutoscaler", "s")]),
    ("batch", &[("CronJob", "gs"), ("Job", "gs")]),
    (
        "networking.k8s.io",
        &[
            ("IngressClass", "g"),
            ("Ingress", "gs"),
            ("NetworkPolicy", "g"),
        ],
    ),
    ("policy", &[("PodDisruptionBudget", "gs")]),
    ("storage.k8s.io", &[("StorageClass", "")]),
    (
        "apiextensions.k8s.io",
        &[("CustomResourceDefinition", "gs")],
    ),
    ("coordination.k8s.io", &[("Lease", "")]),
    ("discovery.k8s.io", &[("EndpointSlice", "g")]),
];

/// The built-in kinds, in the order in which discovery names them.
pub(crate) fn built_in() -> Vec<Kind> {
    let served = BUILT_IN.iter().flat_map(|(group, kinds)| {
        kinds
            .iter()
            .map(move |(kind, marks)| (*group, *kind, *marks))
    });
    served
        .filter_map(|(group, kind, marks)| {
            Some(Kind::built_in(well_known_type(group, kind)?, marks))
        })
        .collect()
}
