//! Conditions that are a cause when their status is abnormal.

use crate::object::Value;
use crate::status::read;

use super::{Cause, CauseRule, sentence};

/// A condition of a kind, its abnormal statuses, and the rule that names the cause.
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

/// Conditions of built-in kinds that give a cause beyond kstatus's rules.
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

/// The causes from an object's abnormal conditions, in the object's order.
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
            // `ScalingDisabled` means that someone scaled the workload to 0 on purpose.
            if condition.reason == "ScalingDisabled" {
                return None;
            }
            let text = sentence(&condition.reason, &condition.message);
            Some(Cause::new(watched.rule, text))
        })
        .collect()
}
