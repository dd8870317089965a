//! Conditions that are worth a line when they are not as they ought to be.

use crate::object::Value;
use crate::status::read;

use super::{Cause, CauseRule, sentence};

/// What a condition ought not to be, and under which name it is told if it is.
struct Watched {
    kind: &'static str,
    condition: &'static str,
    abnormal: &'static [&'static str],
    rule: CauseRule,
}

const TRUE: &[&str] = &["True"];
const NOT_TRUE: &[&str] = &["False", "Unknown"];

const fn watched(
    kind: &'static str,
    condition: &'static str,
    abnormal: &'static [&'static str],
    rule: CauseRule,
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
    watched("Node", "Ready", NOT_TRUE, CauseRule::NodeNotReady),
    watched("Node", "MemoryPressure", TRUE, CauseRule::MemoryPressure),
    watched("Node", "DiskPressure", TRUE, CauseRule::DiskPressure),
    watched("Node", "PIDPressure", TRUE, CauseRule::PIDPressure),
    watched(
        "Node",
        "NetworkUnavailable",
        TRUE,
        CauseRule::NetworkUnavailable,
    ),
    watched("Pod", "DisruptionTarget", TRUE, CauseRule::Disruption),
    watched("Pod", "PodResizePending", TRUE, CauseRule::ResizePending),
    watched(
        "Namespace",
        "NamespaceDeletionDiscoveryFailure",
        TRUE,
        CauseRule::NamespaceDeletion,
    ),
    watched(
        "Namespace",
        "NamespaceDeletionGroupVersionParsingFailure",
        TRUE,
        CauseRule::NamespaceDeletion,
    ),
    watched(
        "Namespace",
        "NamespaceDeletionContentFailure",
        TRUE,
        CauseRule::NamespaceDeletion,
    ),
    watched(
        "Namespace",
        "NamespaceContentRemaining",
        TRUE,
        CauseRule::NamespaceDeletion,
    ),
    watched(
        "Namespace",
        "NamespaceFinalizersRemaining",
        TRUE,
        CauseRule::NamespaceDeletion,
    ),
    watched(
        "PersistentVolumeClaim",
        "ControllerResizeError",
        TRUE,
        CauseRule::VolumeResize,
    ),
    watched(
        "PersistentVolumeClaim",
        "NodeResizeError",
        TRUE,
        CauseRule::VolumeResize,
    ),
    watched(
        "PersistentVolumeClaim",
        "ModifyVolumeError",
        TRUE,
        CauseRule::VolumeModify,
    ),
    watched(
        "PersistentVolumeClaim",
        "FileSystemResizePending",
        TRUE,
        CauseRule::VolumeResize,
    ),
    watched(
        "autoscaling/HorizontalPodAutoscaler",
        "AbleToScale",
        NOT_TRUE,
        CauseRule::CannotScale,
    ),
    watched(
        "autoscaling/HorizontalPodAutoscaler",
        "ScalingActive",
        NOT_TRUE,
        CauseRule::ScalingInactive,
    ),
    watched(
        "policy/PodDisruptionBudget",
        "DisruptionAllowed",
        &["Unknown"],
        CauseRule::DisruptionUnknown,
    ),
    watched(
        "apiregistration.k8s.io/APIService",
        "Available",
        NOT_TRUE,
        CauseRule::Unavailable,
    ),
    watched(
        "gateway.networking.k8s.io/Gateway",
        "Accepted",
        NOT_TRUE,
        CauseRule::NotAccepted,
    ),
    watched(
        "gateway.networking.k8s.io/Gateway",
        "Programmed",
        NOT_TRUE,
        CauseRule::NotProgrammed,
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
