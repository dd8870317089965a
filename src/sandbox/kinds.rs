//! The kinds that the server serves: their discovery data and their storage rules.

use serde_json::Value;

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

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
    /// API group; empty for the core group.
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

    /// `GROUP/VERSION`, or just the version for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `PLURAL.GROUP`, or just the plural for the core group, as messages name a resource.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The singular name: the kind in lower case, as in kube-apiserver.
    pub fn singular(&self) -> String {
        self.kind.to_lowercase()
    }
}

/// Plural, kind, short names, categories, flags: `c` cluster-wide, `g` generations, `s` status.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const CORE: &[Row] = &[
    ("configmaps", "ConfigMap", "cm", "", ""),
    ("endpoints", "Endpoints", "ep", "", ""),
    ("events", "Event", "ev", "", ""),
    ("limitranges", "LimitRange", "limits", "", ""),
    ("namespaces", "Namespace", "ns", "", "cs"),
    ("nodes", "Node", "no", "", "cs"),
    (
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        "pvc",
        "",
        "s",
    ),
    ("persistentvolumes", "PersistentVolume", "pv", "", "cs"),
    ("pods", "Pod", "po", "all", "gs"),
    ("podtemplates", "PodTemplate", "", "", "g"),
    (
        "replicationcontrollers",
        "ReplicationController",
        "rc",
        "all",
        "gs",
    ),
    ("resourcequotas", "ResourceQuota", "quota", "", "s"),
    ("secrets", "Secret", "", "", ""),
    ("serviceaccounts", "ServiceAccount", "sa", "", ""),
    ("services", "Service", "svc", "all", "s"),
];

const GROUPS: &[(&str, &str, &[Row])] = &[
    ("", "v1", CORE),
    (
        "apps",
        "v1",
        &[
            ("controllerrevisions", "ControllerRevision", "", "", ""),
            ("daemonsets", "DaemonSet", "ds", "all", "gs"),
            ("deployments", "Deployment", "deploy", "all", "gs"),
            ("replicasets", "ReplicaSet", "rs", "all", "gs"),
            ("statefulsets", "StatefulSet", "sts", "all", "gs"),
        ],
    ),
    (
        "autoscaling",
        "v2",
        &[(
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            "hpa",
            "all",
            "s",
        )],
    ),
    (
        "batch",
        "v1",
        &[
            ("cronjobs", "CronJob", "cj", "all", "gs"),
            ("jobs", "Job", "", "all", "gs"),
        ],
    ),
    (
        "networking.k8s.io",
        "v1",
        &[
            ("ingressclasses", "IngressClass", "", "", "cg"),
            ("ingresses", "Ingress", "ing", "", "gs"),
            ("networkpolicies", "NetworkPolicy", "netpol", "", "g"),
        ],
    ),
    (
        "policy",
        "v1",
        &[(
            "poddisruptionbudgets",
            "PodDisruptionBudget",
            "pdb",
            "",
            "gs",
        )],
    ),
    (
        "storage.k8s.io",
        "v1",
        &[("storageclasses", "StorageClass", "sc", "", "c")],
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        &[(
            "customresourcedefinitions",
            "CustomResourceDefinition",
            "crd,crds",
            "api-extensions",
            "cgs",
        )],
    ),
    (
        "coordination.k8s.io",
        "v1",
        &[("leases", "Lease", "", "", "")],
    ),
    (
        "discovery.k8s.io",
        "v1",
        &[("endpointslices", "EndpointSlice", "", "", "g")],
    ),
];

/// The built-in kinds, in discovery order.
pub(crate) fn built_in() -> Vec<Kind> {
    let words = |text: &str| {
        text.split(',')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut kinds = Vec::new();
    for (group, version, rows) in GROUPS {
        for (plural, kind, short, categories, marks) in *rows {
            kinds.push(Kind {
                short_names: words(short),
                categories: words(categories),
                scope: if marks.contains('c') {
                    Scope::Cluster
                } else {
                    Scope::Namespaced
                },
                origin: KindOrigin::BuiltIn,
                counts_generations: marks.contains('g'),
                has_status: marks.contains('s'),
                ..Kind::custom(group, version, kind, plural)
            });
        }
    }
    kinds
}
