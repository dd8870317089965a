//! The relations of Kubernetes' own kinds.

use crate::graph::relations::group_kind;
use crate::object::GroupKind;

use super::Empty::{All, Nothing};
use super::Read::{
    Annotation, Certificate, Computed, Label, Labels, Name, OwnerUid, Selector, Webhooks,
};
use super::To::{Any, Kind, Reference};
use super::{Relation, all, computed, relations};

/// The kinds that an autoscaler may scale.
const SCALED: &[&str] = &[
    "apps/Deployment",
    "apps/StatefulSet",
    "apps/ReplicaSet",
    "argoproj.io/Rollout",
];
const METRIC_OBJECTS: &[&str] = &["Service", "networking.k8s.io/Ingress"];
const ROLES: &[&str] = &[
    "rbac.authorization.k8s.io/Role",
    "rbac.authorization.k8s.io/ClusterRole",
];
const CLUSTER_ROLES: &[&str] = &["rbac.authorization.k8s.io/ClusterRole"];
const DATA_SOURCES: &[&str] = &[
    "PersistentVolumeClaim",
    "snapshot.storage.k8s.io/VolumeSnapshot",
];
const ANYTHING: &[&str] = &[""];

relations! { TABLE:
    "owner": "*" Backs OwnerUid => Any, Trace Works Forth;

    "scale target": "autoscaling/HorizontalPodAutoscaler" Fronts Name("spec.scaleTargetRef", "name") => Reference(SCALED), Always Fails Both;
    "metric object": "autoscaling/HorizontalPodAutoscaler" Uses Name("spec.metrics[].object.describedObject", "name") => Reference(METRIC_OBJECTS), Always Delays Forth;

    "governing service": "apps/StatefulSet" Uses Name("spec", "serviceName") => Kind("Service"), Trace Delays Both;
    "claim": "apps/StatefulSet" Uses Computed(computed::claim_templates) => Kind("PersistentVolumeClaim"), Trace Works Both;
    "selects": "Service" Fronts Labels("spec.selector") => Kind("Pod"), Trace Works Both;
    "budget": "policy/PodDisruptionBudget" Fronts Selector("spec.selector", All) => Kind("Pod"), Trace Works Both;
    "restricts": "networking.k8s.io/NetworkPolicy" Fronts Selector("spec.podSelector", All) => Kind("Pod"), Trace Works Both;
    "allows": "networking.k8s.io/NetworkPolicy" Uses Computed(computed::allowed_peers) => Kind("Pod"), Trace Works Own;
    "slice": "discovery.k8s.io/EndpointSlice" Backs Label("kubernetes.io/service-name") => Kind("Service"), Trace Fails Forth;
    "endpoint": "discovery.k8s.io/EndpointSlice" Fronts Name("endpoints[].targetRef", "name") => Reference(&["Pod"]), Trace Works Own;
    "endpoints": "Endpoints" Backs Name("metadata", "name") => Kind("Service"), Trace Works Forth;
    "endpoint": "Endpoints" Fronts Name("subsets[].addresses[].targetRef", "name") => Reference(&["Pod"]), Trace Works Own;
    "endpoint": "Endpoints" Fronts Name("subsets[].notReadyAddresses[].targetRef", "name") => Reference(&["Pod"]), Trace Works Own;

    "backend": "networking.k8s.io/Ingress" Fronts Name("spec.rules[].http.paths[].backend.service", "name") => Kind("Service"), Always Fails Both;
    "backend": "networking.k8s.io/Ingress" Fronts Name("spec.defaultBackend.service", "name") => Kind("Service"), Always Fails Both;
    "backend": "networking.k8s.io/Ingress" Fronts Name("spec.rules[].http.paths[].backend.resource", "name") => Reference(ANYTHING), Trace Fails Forth;
    "backend": "networking.k8s.io/Ingress" Fronts Name("spec.defaultBackend.resource", "name") => Reference(ANYTHING), Trace Fails Forth;
    "certificate": "networking.k8s.io/Ingress" Uses Certificate("spec.tls[]", "secretName") => Kind("Secret"), Always Delays Both;
    "class": "networking.k8s.io/Ingress" Uses Name("spec", "ingressClassName") => Kind("networking.k8s.io/IngressClass"), Always Delays Both;
    "class": "networking.k8s.io/Ingress" Uses Annotation("kubernetes.io/ingress.class") => Kind("networking.k8s.io/IngressClass"), Trace Works Both;
    "parameters": "networking.k8s.io/IngressClass" Uses Name("spec.parameters", "name") => Reference(ANYTHING), Trace Fails Forth;

    "webhook": "admissionregistration.k8s.io/MutatingWebhookConfiguration" Fronts Webhooks("Fail") => Kind("Service"), Always Fails Forth;
    "webhook": "admissionregistration.k8s.io/MutatingWebhookConfiguration" Fronts Webhooks("Ignore") => Kind("Service"), Always Delays Forth;
    "webhook": "admissionregistration.k8s.io/ValidatingWebhookConfiguration" Fronts Webhooks("Fail") => Kind("Service"), Always Fails Forth;
    "webhook": "admissionregistration.k8s.io/ValidatingWebhookConfiguration" Fronts Webhooks("Ignore") => Kind("Service"), Always Delays Forth;
    "conversion webhook": "apiextensions.k8s.io/CustomResourceDefinition" Fronts Name("spec.conversion.webhook.clientConfig.service", "name") => Kind("Service"), Always Fails Forth;
    "backend": "apiregistration.k8s.io/APIService" Fronts Name("spec.service", "name") => Kind("Service"), Always Fails Forth;
    "policy": "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding" Uses Name("spec", "policyName") => Kind("admissionregistration.k8s.io/ValidatingAdmissionPolicy"), Always Fails Both;
    "priority level": "flowcontrol.apiserver.k8s.io/FlowSchema" Uses Name("spec.priorityLevelConfiguration", "name") => Kind("flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration"), Always Fails Both;

    "role": "rbac.authorization.k8s.io/RoleBinding" Backs Name("roleRef", "name") => Reference(ROLES), Always Fails Both;
    "role": "rbac.authorization.k8s.io/ClusterRoleBinding" Backs Name("roleRef", "name") => Reference(CLUSTER_ROLES), Always Fails Both;
    "subject": "rbac.authorization.k8s.io/RoleBinding" Fronts Computed(computed::subjects) => Kind("ServiceAccount"), Always Delays Both;
    "subject": "rbac.authorization.k8s.io/ClusterRoleBinding" Fronts Computed(computed::subjects) => Kind("ServiceAccount"), Always Delays Both;
    "aggregates": "rbac.authorization.k8s.io/ClusterRole" Uses Selector("aggregationRule.clusterRoleSelectors[]", Nothing) => Kind("rbac.authorization.k8s.io/ClusterRole"), Trace Works Both;
    "pull secret": "ServiceAccount" Uses Name("imagePullSecrets[]", "name") => Kind("Secret"), Always Delays Both;
    "token": "ServiceAccount" Uses Name("secrets[]", "name") => Kind("Secret"), Trace Delays Both;
    "token of": "Secret" Backs Annotation("kubernetes.io/service-account.name") => Kind("ServiceAccount"), Trace Fails Forth;

    "storage class": "PersistentVolumeClaim" Uses Name("spec", "storageClassName") => Kind("storage.k8s.io/StorageClass"), Unwell Fails Both;
    "volume": "PersistentVolumeClaim" Uses Name("spec", "volumeName") => Kind("PersistentVolume"), Unwell Fails Both;
    "volume attributes class": "PersistentVolumeClaim" Uses Name("spec", "volumeAttributesClassName") => Kind("storage.k8s.io/VolumeAttributesClass"), Unwell Fails Both;
    "data source": "PersistentVolumeClaim" Uses Name("spec.dataSource", "name") => Reference(DATA_SOURCES), Unwell Fails Both;
    "data source": "PersistentVolumeClaim" Uses Name("spec.dataSourceRef", "name") => Reference(DATA_SOURCES), Trace Fails Both;
    "selected node": "PersistentVolumeClaim" Uses Annotation("volume.kubernetes.io/selected-node") => Kind("Node"), Trace Works Root;
    "claim": "PersistentVolume" Serves Name("spec.claimRef", "name") => Kind("PersistentVolumeClaim"), Unwell Works Forth;
    "storage class": "PersistentVolume" Uses Name("spec", "storageClassName") => Kind("storage.k8s.io/StorageClass"), Trace Works Both;
    "volume driver": "PersistentVolume" Uses Name("spec.csi", "driver") => Kind("storage.k8s.io/CSIDriver"), Trace Works Both;
    "volume secret": "PersistentVolume" Uses Name("spec.csi.controllerPublishSecretRef", "name") => Kind("Secret"), Trace Fails Forth;
    "volume secret": "PersistentVolume" Uses Name("spec.csi.controllerExpandSecretRef", "name") => Kind("Secret"), Trace Fails Forth;
    "volume secret": "PersistentVolume" Uses Name("spec.csi.nodeStageSecretRef", "name") => Kind("Secret"), Trace Fails Forth;
    "volume secret": "PersistentVolume" Uses Name("spec.csi.nodePublishSecretRef", "name") => Kind("Secret"), Trace Fails Forth;
    "volume secret": "PersistentVolume" Uses Name("spec.csi.nodeExpandSecretRef", "name") => Kind("Secret"), Trace Fails Forth;
    "provisioner": "storage.k8s.io/StorageClass" Uses Name("", "provisioner") => Kind("storage.k8s.io/CSIDriver"), Trace Works Both;
    "attaches": "storage.k8s.io/VolumeAttachment" Uses Name("spec.source", "persistentVolumeName") => Kind("PersistentVolume"), Trace Fails Both;
    "attached to": "storage.k8s.io/VolumeAttachment" Uses Name("spec", "nodeName") => Kind("Node"), Trace Fails Both;
    "attacher": "storage.k8s.io/VolumeAttachment" Uses Name("spec", "attacher") => Kind("storage.k8s.io/CSIDriver"), Trace Works Forth;
    "volume driver": "storage.k8s.io/CSINode" Uses Name("spec.drivers[]", "name") => Kind("storage.k8s.io/CSIDriver"), Trace Works Forth;
    "node": "storage.k8s.io/CSINode" Backs Name("metadata", "name") => Kind("Node"), Trace Works Forth;
    "capacity of": "storage.k8s.io/CSIStorageCapacity" Backs Name("", "storageClassName") => Kind("storage.k8s.io/StorageClass"), Trace Works Forth;
    "device class": "resource.k8s.io/ResourceClaim" Uses Name("spec.devices.requests[].exactly", "deviceClassName") => Kind("resource.k8s.io/DeviceClass"), Trace Fails Both;
    "device class": "resource.k8s.io/ResourceClaim" Uses Name("spec.devices.requests[].firstAvailable[]", "deviceClassName") => Kind("resource.k8s.io/DeviceClass"), Trace Fails Both;
    "reserved for": "resource.k8s.io/ResourceClaim" Serves Computed(computed::reserved_for) => Kind("Pod"), Trace Works Forth;
    "node": "resource.k8s.io/ResourceSlice" Backs Name("spec", "nodeName") => Kind("Node"), Trace Works Forth;

    "namespace": "apps/Deployment" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "apps/StatefulSet" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "apps/DaemonSet" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "batch/CronJob" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "batch/Job" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "Service" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "PersistentVolumeClaim" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "networking.k8s.io/Ingress" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "autoscaling/HorizontalPodAutoscaler" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "namespace": "policy/PodDisruptionBudget" Backs Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "quota": "ResourceQuota" Fronts Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
    "limits": "LimitRange" Fronts Computed(computed::namespace_of_outermost) => Kind("Namespace"), Trace Works Back;
}

/// The relations of a Pod at a path below an object of a kind.
macro_rules! pod_relations {
    ($table:ident: $from:literal, $at:literal, $tier:ident $follow:ident) => {
        relations! { $table:
            "environment": $from Uses Name(concat!($at, "spec.containers*.envFrom[].configMapRef"), "name") => Kind("ConfigMap"), $tier Fails $follow;
            "environment": $from Uses Name(concat!($at, "spec.containers*.envFrom[].secretRef"), "name") => Kind("Secret"), $tier Fails $follow;
            "environment": $from Uses Name(concat!($at, "spec.containers*.env[].valueFrom.configMapKeyRef"), "name") => Kind("ConfigMap"), $tier Fails $follow;
            "environment": $from Uses Name(concat!($at, "spec.containers*.env[].valueFrom.secretKeyRef"), "name") => Kind("Secret"), $tier Fails $follow;
            "volume": $from Uses Name(concat!($at, "spec.volumes[].configMap"), "name") => Kind("ConfigMap"), $tier Fails $follow;
            "volume": $from Uses Name(concat!($at, "spec.volumes[].secret"), "secretName") => Kind("Secret"), $tier Fails $follow;
            "volume": $from Uses Name(concat!($at, "spec.volumes[].projected.sources[].configMap"), "name") => Kind("ConfigMap"), $tier Fails $follow;
            "volume": $from Uses Name(concat!($at, "spec.volumes[].projected.sources[].secret"), "name") => Kind("Secret"), $tier Fails $follow;
            "volume": $from Uses Name(concat!($at, "spec.volumes[].persistentVolumeClaim"), "claimName") => Kind("PersistentVolumeClaim"), $tier Fails $follow;
            "volume": $from Uses Name(concat!($at, "spec.volumes[].csi.nodePublishSecretRef"), "name") => Kind("Secret"), $tier Fails $follow;
            "pull secret": $from Uses Name(concat!($at, "spec.imagePullSecrets[]"), "name") => Kind("Secret"), $tier Delays $follow;
            "device claim": $from Uses Name(concat!($at, "spec.resourceClaims[]"), "resourceClaimName") => Kind("resource.k8s.io/ResourceClaim"), $tier Fails $follow;
            "device claim template": $from Uses Name(concat!($at, "spec.resourceClaims[]"), "resourceClaimTemplateName") => Kind("resource.k8s.io/ResourceClaimTemplate"), Trace Fails $follow;
            "service account": $from Uses Name(concat!($at, "spec"), "serviceAccountName") => Kind("ServiceAccount"), Trace Fails $follow;
            "volume secret": $from Uses Name(concat!($at, "spec.volumes[].azureFile"), "secretName") => Kind("Secret"), Trace Fails $follow;
            "volume secret": $from Uses Name(concat!($at, "spec.volumes[].cephfs.secretRef"), "name") => Kind("Secret"), Trace Fails $follow;
            "volume secret": $from Uses Name(concat!($at, "spec.volumes[].rbd.secretRef"), "name") => Kind("Secret"), Trace Fails $follow;
            "volume secret": $from Uses Name(concat!($at, "spec.volumes[].iscsi.secretRef"), "name") => Kind("Secret"), Trace Fails $follow;
            "volume secret": $from Uses Name(concat!($at, "spec.volumes[].flexVolume.secretRef"), "name") => Kind("Secret"), Trace Fails $follow;
            "volume driver": $from Uses Name(concat!($at, "spec.volumes[].csi"), "driver") => Kind("storage.k8s.io/CSIDriver"), Trace Works Root;
            "priority class": $from Uses Name(concat!($at, "spec"), "priorityClassName") => Kind("scheduling.k8s.io/PriorityClass"), Trace Fails Root;
            "runtime class": $from Uses Name(concat!($at, "spec"), "runtimeClassName") => Kind("node.k8s.io/RuntimeClass"), Trace Fails Root;
        }
    };
}

pod_relations! { POD: "Pod", "", Unwell Both }
pod_relations! { DEPLOYMENT: "apps/Deployment", "spec.template.", Trace Both }
pod_relations! { REPLICA_SET: "apps/ReplicaSet", "spec.template.", Trace Forth }
pod_relations! { STATEFUL_SET: "apps/StatefulSet", "spec.template.", Trace Both }
pod_relations! { DAEMON_SET: "apps/DaemonSet", "spec.template.", Trace Both }
pod_relations! { JOB: "batch/Job", "spec.template.", Trace Both }
pod_relations! { CRON_JOB: "batch/CronJob", "spec.jobTemplate.spec.template.", Trace Both }
pod_relations! { REPLICATION_CONTROLLER: "ReplicationController", "spec.template.", Trace Forth }

relations! { ONLY_POD:
    "node": "Pod" Uses Name("spec", "nodeName") => Kind("Node"), Unwell Delays Root;
    "volume": "Pod" Uses Computed(computed::ephemeral_claims) => Kind("PersistentVolumeClaim"), Unwell Delays Both;
    "device claim": "Pod" Uses Name("status.resourceClaimStatuses[]", "resourceClaimName") => Kind("resource.k8s.io/ResourceClaim"), Trace Works Both;
    "job": "Pod" Backs Label("batch.kubernetes.io/job-name") => Kind("batch/Job"), Trace Works Forth;
}

/// The tables of Pods and of the kinds with a template.
pub(super) static TABLES: &[&[Relation]] = &[
    POD,
    ONLY_POD,
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
    DAEMON_SET,
    JOB,
    CRON_JOB,
    REPLICATION_CONTROLLER,
];

/// The second kind decides about the first. A `DestinationRule` defines the subsets of the Service that a `VirtualService`
/// routes to (<https://istio.io/latest/docs/reference/config/networking/destination-rule/#Subset>). A budget decides whether
/// a Pod may leave its Node (<https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/>).
const DECIDED_TOGETHER: [(&str, &str); 2] = [
    (
        "networking.istio.io/VirtualService",
        "networking.istio.io/DestinationRule",
    ),
    ("Node", "policy/PodDisruptionBudget"),
];

/// The relations of the kinds that decide about this one.
pub(in crate::graph) fn relations_beside(
    kind: &GroupKind,
) -> impl Iterator<Item = &'static Relation> {
    let mut pairs = DECIDED_TOGETHER.iter();
    let beside = pairs.find(|(from, _)| group_kind(from) == *kind);
    all().filter(move |relation| beside.is_some_and(|(_, to)| relation.from == *to))
}
