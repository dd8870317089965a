//! The relations of Pods, and those of the Pods that a template describes.
//!
//! What a Pod needs matters while the Pod is unwell. A template needs nothing itself: its relations serve traces.
//! Nobody looks for the templates of `ReplicaSets`, because they repeat those of their Deployments.

use super::Read::{Computed, Label, Name};
use super::To::Kind;
use super::{Relation, computed, relations};

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
