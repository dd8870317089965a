//! Conditions that are a cause when their status is abnormal.

use crate::object::{StatusCondition, Value};
use crate::status::read;

use super::{Cause, CauseRule, sentence};

/// The causes from an object's abnormal conditions, in the object's order.
pub(super) fn abnormal(object: Value<'_>, kind: &str) -> Vec<Cause> {
    let conditions = read::conditions(object).unwrap_or_default();
    let causes = conditions.iter().filter_map(|condition| {
        // `ScalingDisabled` means that someone scaled the workload to 0 on purpose.
        let rule = rule(kind, condition).filter(|_| condition.reason != "ScalingDisabled")?;
        let text = sentence(&condition.reason, &condition.message);
        Some(Cause::new(rule, text))
    });
    causes.collect()
}

/// The rule for a condition of a built-in kind that gives a cause beyond kstatus's rules; `None` if its status
/// is normal.
fn rule(kind: &str, condition: &StatusCondition<'_>) -> Option<CauseRule> {
    match (&*condition.status, kind, &*condition.kind) {
        ("Unknown", "policy/PodDisruptionBudget", "DisruptionAllowed") => {
            Some(CauseRule::DisruptionUnknown)
        }
        ("True", kind, condition) => if_true(kind, condition),
        ("False" | "Unknown", kind, condition) => if_not_true(kind, condition),
        _ => None,
    }
}

fn if_true(kind: &str, condition: &str) -> Option<CauseRule> {
    Some(match (kind, condition) {
        ("Node", "MemoryPressure") => CauseRule::MemoryPressure,
        ("Node", "DiskPressure") => CauseRule::DiskPressure,
        ("Node", "PIDPressure") => CauseRule::PIDPressure,
        ("Node", "NetworkUnavailable") => CauseRule::NetworkUnavailable,
        ("Pod", "DisruptionTarget") => CauseRule::Disruption,
        ("Pod", "PodResizePending") => CauseRule::ResizePending,
        (
            "Namespace",
            "NamespaceDeletionDiscoveryFailure"
            | "NamespaceDeletionGroupVersionParsingFailure"
            | "NamespaceDeletionContentFailure"
            | "NamespaceContentRemaining"
            | "NamespaceFinalizersRemaining",
        ) => CauseRule::NamespaceDeletion,
        (
            "PersistentVolumeClaim",
            "ControllerResizeError" | "NodeResizeError" | "FileSystemResizePending",
        ) => CauseRule::VolumeResize,
        ("PersistentVolumeClaim", "ModifyVolumeError") => CauseRule::VolumeModify,
        _ => return None,
    })
}

fn if_not_true(kind: &str, condition: &str) -> Option<CauseRule> {
    Some(match (kind, condition) {
        ("Node", "Ready") => CauseRule::NodeNotReady,
        ("autoscaling/HorizontalPodAutoscaler", "AbleToScale") => CauseRule::CannotScale,
        ("autoscaling/HorizontalPodAutoscaler", "ScalingActive") => CauseRule::ScalingInactive,
        ("apiregistration.k8s.io/APIService", "Available") => CauseRule::Unavailable,
        ("gateway.networking.k8s.io/Gateway", "Accepted") => CauseRule::NotAccepted,
        ("gateway.networking.k8s.io/Gateway", "Programmed") => CauseRule::NotProgrammed,
        _ => return None,
    })
}
