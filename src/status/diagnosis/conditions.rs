//! Conditions that are worth a line when they are not as they ought to be.

use crate::object::Value;
use crate::status::read;

use super::{Cause, sentence};

/// What a condition ought not to be, and under which name it is told if it is.
struct Watched {
    kind: &'static str,
    condition: &'static str,
    abnormal: &'static [&'static str],
    rule: &'static str,
}

const TRUE: &[&str] = &["True"];
const NOT_TRUE: &[&str] = &["False", "Unknown"];

const fn watched(
    kind: &'static str,
    condition: &'static str,
    abnormal: &'static [&'static str],
    rule: &'static str,
) -> Watched {
    Watched {
        kind,
        condition,
        abnormal,
        rule,
    }
}

/// The built-in kinds whose conditions say more than kstatus reads in them.
const WATCHED: [Watched; 22] = [
    watched("Node", "Ready", NOT_TRUE, "NodeNotReady"),
    watched("Node", "MemoryPressure", TRUE, "MemoryPressure"),
    watched("Node", "DiskPressure", TRUE, "DiskPressure"),
    watched("Node", "PIDPressure", TRUE, "PIDPressure"),
    watched("Node", "NetworkUnavailable", TRUE, "NetworkUnavailable"),
    watched("Pod", "DisruptionTarget", TRUE, "Disruption"),
    watched("Pod", "PodResizePending", TRUE, "ResizePending"),
    watched(
        "Namespace",
        "NamespaceDeletionDiscoveryFailure",
        TRUE,
        "NamespaceDeletion",
    ),
    watched(
        "Namespace",
        "NamespaceDeletionGroupVersionParsingFailure",
        TRUE,
        "NamespaceDeletion",
    ),
    watched(
        "Namespace",
        "NamespaceDeletionContentFailure",
        TRUE,
        "NamespaceDeletion",
    ),
    watched(
        "Namespace",
        "NamespaceContentRemaining",
        TRUE,
        "NamespaceDeletion",
    ),
    watched(
        "Namespace",
        "NamespaceFinalizersRemaining",
        TRUE,
        "NamespaceDeletion",
    ),
    watched(
        "PersistentVolumeClaim",
        "ControllerResizeError",
        TRUE,
        "VolumeResize",
    ),
    watched(
        "PersistentVolumeClaim",
        "NodeResizeError",
        TRUE,
        "VolumeResize",
    ),
    watched(
        "PersistentVolumeClaim",
        "ModifyVolumeError",
        TRUE,
        "VolumeModify",
    ),
    watched(
        "PersistentVolumeClaim",
        "FileSystemResizePending",
        TRUE,
        "VolumeResize",
    ),
    watched(
        "autoscaling/HorizontalPodAutoscaler",
        "AbleToScale",
        NOT_TRUE,
        "CannotScale",
    ),
    watched(
        "autoscaling/HorizontalPodAutoscaler",
        "ScalingActive",
        NOT_TRUE,
        "ScalingInactive",
    ),
    watched(
        "policy/PodDisruptionBudget",
        "DisruptionAllowed",
        &["Unknown"],
        "DisruptionUnknown",
    ),
    watched(
        "apiregistration.k8s.io/APIService",
        "Available",
        NOT_TRUE,
        "Unavailable",
    ),
    watched(
        "gateway.networking.k8s.io/Gateway",
        "Accepted",
        NOT_TRUE,
        "NotAccepted",
    ),
    watched(
        "gateway.networking.k8s.io/Gateway",
        "Programmed",
        NOT_TRUE,
        "NotProgrammed",
    ),
];

/// The conditions of an object that are not as they ought to be, in the object's order.
pub(super) fn abnormal(object: Value<'_>, kind: &str) -> Vec<Cause> {
    read::conditions(object)
        .unwrap_or_default()
        .iter()
        .filter_map(|condition| {
            let watched = WATCHED.iter().find(|watched| {
                watched.kind == kind
                    && watched.condition == condition.kind
                    && watched.abnormal.contains(&&*condition.status)
            })?;
            // A workload that is scaled to 0 on purpose is not scaled.
            if condition.reason == "ScalingDisabled" {
                return None;
            }
            let text = sentence(&condition.reason, &condition.message);
            Some(Cause::new(watched.rule, text))
        })
        .collect()
}
