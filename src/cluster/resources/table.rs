//! The resource types of Kubernetes itself, in their stable versions.

use super::ResourceType;
use crate::object::Resource;

/// Where objects live.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lives {
    InNamespaces,
    InCluster,
}

use Lives::{InCluster, InNamespaces};

/// A type's kind, plural, short names and categories; its singular is the kind in lower case.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ALL: &[&str] = &["all"];
const EXTENSIONS: &[&str] = &["api-extensions"];

/// Every type that can be listed, by group, version and scope, in the order in which an API server
/// ranks the groups (<https://kubernetes.io/docs/reference/kubernetes-api/>).
const TABLE: &[(&str, &str, Lives, &[Row])] = &[
    (
        "",
        "v1",
        InNamespaces,
        &[
            ("ConfigMap", "configmaps", &["cm"], &[]),
            ("Endpoints", "endpoints", &["ep"], &[]),
            ("Event", "events", &["ev"], &[]),
            ("LimitRange", "limitranges", &["limits"], &[]),
            (
                "PersistentVolumeClaim",
                "persistentvolumeclaims",
                &["pvc"],
                &[],
            ),
            ("Pod", "pods", &["po"], ALL),
            ("PodTemplate", "podtemplates", &[], &[]),
            (
                "ReplicationController",
                "replicationcontrollers",
                &["rc"],
                ALL,
            ),
            ("ResourceQuota", "resourcequotas", &["quota"], &[]),
            ("Secret", "secrets", &[], &[]),
            ("Service", "services", &["svc"], ALL),
            ("ServiceAccount", "serviceaccounts", &["sa"], &[]),
        ],
    ),
    (
        "",
        "v1",
        InCluster,
        &[
            ("ComponentStatus", "componentstatuses", &["cs"], &[]),
            ("Namespace", "namespaces", &["ns"], &[]),
            ("Node", "nodes", &["no"], &[]),
            ("PersistentVolume", "persistentvolumes", &["pv"], &[]),
        ],
    ),
    (
        "apiregistration.k8s.io",
        "v1",
        InCluster,
        &[("APIService", "apiservices", &[], EXTENSIONS)],
    ),
    (
        "apps",
        "v1",
        InNamespaces,
        &[
            ("ControllerRevision", "controllerrevisions", &[], &[]),
            ("DaemonSet", "daemonsets", &["ds"], ALL),
            ("Deployment", "deployments", &["deploy"], ALL),
            ("ReplicaSet", "replicasets", &["rs"], ALL),
            ("StatefulSet", "statefulsets", &["sts"], ALL),
        ],
    ),
    (
        "events.k8s.io",
        "v1",
        InNamespaces,
        &[("Event", "events", &["ev"], &[])],
    ),
    (
        "autoscaling",
        "v2",
        InNamespaces,
        &[(
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            &["hpa"],
            ALL,
        )],
    ),
    (
        "batch",
        "v1",
        InNamespaces,
        &[
            ("CronJob", "cronjobs", &["cj"], ALL),
            ("Job", "jobs", &[], ALL),
        ],
    ),
    (
        "certificates.k8s.io",
        "v1",
        InCluster,
        &[(
            "CertificateSigningRequest",
            "certificatesigningrequests",
            &["csr"],
            &[],
        )],
    ),
    (
        "networking.k8s.io",
        "v1",
        InNamespaces,
        &[
            ("Ingress", "ingresses", &["ing"], &[]),
            ("NetworkPolicy", "networkpolicies", &["netpol"], &[]),
        ],
    ),
    (
        "networking.k8s.io",
        "v1",
        InCluster,
        &[
            ("IngressClass", "ingressclasses", &[], &[]),
            ("IPAddress", "ipaddresses", &["ip"], &[]),
            ("ServiceCIDR", "servicecidrs", &[], &[]),
        ],
    ),
    (
        "policy",
        "v1",
        InNamespaces,
        &[("PodDisruptionBudget", "poddisruptionbudgets", &["pdb"], &[])],
    ),
    (
        "rbac.authorization.k8s.io",
        "v1",
        InNamespaces,
        &[
            ("RoleBinding", "rolebindings", &[], &[]),
            ("Role", "roles", &[], &[]),
        ],
    ),
    (
        "rbac.authorization.k8s.io",
        "v1",
        InCluster,
        &[
            ("ClusterRoleBinding", "clusterrolebindings", &[], &[]),
            ("ClusterRole", "clusterroles", &[], &[]),
        ],
    ),
    (
        "storage.k8s.io",
        "v1",
        InNamespaces,
        &[("CSIStorageCapacity", "csistoragecapacities", &[], &[])],
    ),
    (
        "storage.k8s.io",
        "v1",
        InCluster,
        &[
            ("CSIDriver", "csidrivers", &[], &[]),
            ("CSINode", "csinodes", &[], &[]),
            ("StorageClass", "storageclasses", &["sc"], &[]),
            ("VolumeAttachment", "volumeattachments", &[], &[]),
            (
                "VolumeAttributesClass",
                "volumeattributesclasses",
                &["vac"],
                &[],
            ),
        ],
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        InCluster,
        &[
            (
                "MutatingAdmissionPolicy",
                "mutatingadmissionpolicies",
                &[],
                EXTENSIONS,
            ),
            (
                "MutatingAdmissionPolicyBinding",
                "mutatingadmissionpolicybindings",
                &[],
                EXTENSIONS,
            ),
            (
                "MutatingWebhookConfiguration",
                "mutatingwebhookconfigurations",
                &[],
                EXTENSIONS,
            ),
            (
                "ValidatingAdmissionPolicy",
                "validatingadmissionpolicies",
                &[],
                EXTENSIONS,
            ),
            (
                "ValidatingAdmissionPolicyBinding",
                "validatingadmissionpolicybindings",
                &[],
                EXTENSIONS,
            ),
            (
                "ValidatingWebhookConfiguration",
                "validatingwebhookconfigurations",
                &[],
                EXTENSIONS,
            ),
        ],
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        InCluster,
        &[(
            "CustomResourceDefinition",
            "customresourcedefinitions",
            &["crd", "crds"],
            EXTENSIONS,
        )],
    ),
    (
        "scheduling.k8s.io",
        "v1",
        InCluster,
        &[("PriorityClass", "priorityclasses", &["pc"], &[])],
    ),
    (
        "coordination.k8s.io",
        "v1",
        InNamespaces,
        &[("Lease", "leases", &[], &[])],
    ),
    (
        "node.k8s.io",
        "v1",
        InCluster,
        &[("RuntimeClass", "runtimeclasses", &[], &[])],
    ),
    (
        "discovery.k8s.io",
        "v1",
        InNamespaces,
        &[("EndpointSlice", "endpointslices", &[], &[])],
    ),
    (
        "resource.k8s.io",
        "v1",
        InNamespaces,
        &[
            ("ResourceClaim", "resourceclaims", &[], &[]),
            ("ResourceClaimTemplate", "resourceclaimtemplates", &[], &[]),
        ],
    ),
    (
        "resource.k8s.io",
        "v1",
        InCluster,
        &[
            ("DeviceClass", "deviceclasses", &[], &[]),
            ("ResourceSlice", "resourceslices", &[], &[]),
        ],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        "v1",
        InCluster,
        &[
            ("FlowSchema", "flowschemas", &[], &[]),
            (
                "PriorityLevelConfiguration",
                "prioritylevelconfigurations",
                &[],
                &[],
            ),
        ],
    ),
];

/// The table as resource types.
pub(super) fn types() -> Vec<ResourceType> {
    let mut types = Vec::new();
    for (group, version, lives, rows) in TABLE {
        types.extend(
            rows.iter()
                .map(|row| resource_type(group, version, *lives, row)),
        );
    }
    types
}

fn resource_type(group: &str, version: &str, lives: Lives, row: &Row) -> ResourceType {
    let (kind, plural, short, categories) = row;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    ResourceType {
        resource: Resource {
            group: group.into(),
            version: version.into(),
            plural: (*plural).into(),
            kind: (*kind).into(),
            namespaced: lives == InNamespaces,
        },
        singular: kind.to_lowercase(),
        short_names: words(short),
        categories: words(categories),
        verbs: match *kind {
            "ComponentStatus" => words(&["get", "list"]),
            _ => words(&["get", "list", "watch"]),
        },
    }
}
