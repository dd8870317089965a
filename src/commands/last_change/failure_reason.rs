//! `FailureReason`: why an object has failed, as far as it decides which change may be the cause.

use crate::graph::ReferenceTarget;
use crate::model::{Model, ModelObject};
use crate::object::{GroupKind, Uid};
use crate::source::PRINTED_PATH;
use crate::status::{CauseRule, refusing_quota};

/// Why an object has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FailureReason {
    /// The images of its Pods cannot be pulled.
    ImagePull,
    /// The scheduler finds no node for its Pods.
    Scheduling,
    /// A quota refuses its Pods.
    Quota(ReferenceTarget),
    /// A webhook that cannot be called refuses its Pods.
    Webhook,
    /// A broken Pod of an older revision holds up the newest change.
    BlockedRollout,
    /// Anything else.
    Other,
}

/// The fields of a Pod that the scheduler looks at.
const SCHEDULED_BY: [&str; 9] = [
    "resources",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "schedulerName",
    "priorityClassName",
    "volumes",
    "hostPort",
];

/// The fields that controllers fill in.
const BOOKKEEPING: [&str; 6] = [
    ".status",
    ".metadata",
    ".spec.nodeName",
    ".spec.volumeName",
    ".spec.claimRef",
    PRINTED_PATH,
];

impl FailureReason {
    /// The reason for the failure of an object.
    pub(super) fn of(model: &Model, object: &ModelObject) -> FailureReason {
        let refusal = object.assessment.causes.iter();
        let mut refusal = refusal.filter(|cause| cause.rule == CauseRule::FailedCreate);
        if let Some(refusal) = refusal.next() {
            return match refusing_quota(&refusal.text) {
                Some(name) => FailureReason::Quota(ReferenceTarget {
                    kind: GroupKind {
                        group: "".into(),
                        kind: "ResourceQuota".into(),
                    },
                    namespace: object.object.namespace.clone(),
                    name: name.into(),
                }),
                None if refusal.text.starts_with("webhook ") => FailureReason::Webhook,
                None => FailureReason::Other,
            };
        }
        if object.assessment.has_cause(CauseRule::BlockedRollout) {
            return FailureReason::BlockedRollout;
        }
        let unwell = unwell_pods(model, &object.object.identity());
        let all_have =
            |rule| !unwell.is_empty() && unwell.iter().all(|pod| pod.assessment.has_cause(rule));
        if all_have(CauseRule::ImagePull) {
            FailureReason::ImagePull
        } else if all_have(CauseRule::Unschedulable) {
            FailureReason::Scheduling
        } else {
            FailureReason::Other
        }
    }

    /// Whether a change of this field of the failed object may be the cause.
    pub(super) fn may_come_from(&self, path: &str) -> bool {
        let is_count = matches!(path, ".spec.replicas" | ".spec.paused");
        let is_below = |name: &&str| path.contains(&format!(".{name}"));
        let is_container =
            path.contains("ontainers") && (path.ends_with(']') || path.ends_with("ontainers"));
        is_configuration(path)
            && match self {
                FailureReason::ImagePull => is_container || is_below(&"image"),
                FailureReason::Scheduling => {
                    is_container || is_count || SCHEDULED_BY.iter().any(is_below)
                }
                FailureReason::Quota(_) => true,
                FailureReason::Webhook => false,
                FailureReason::BlockedRollout => path.starts_with(".spec.template"),
                FailureReason::Other => !is_count,
            }
    }

    /// Whether a change can be ruled out if the object was well after it: its Pods had their images and nodes.
    pub(super) fn ends_with_success(&self) -> bool {
        matches!(self, FailureReason::ImagePull | FailureReason::Scheduling)
    }
}

/// Whether a field is part of what someone wants.
pub(super) fn is_configuration(path: &str) -> bool {
    let mut bookkeeping = BOOKKEEPING.iter();
    !bookkeeping.any(|part| path.starts_with(part))
}

/// The Pods of the current revision that are not well, or the object itself if it has none.
pub(super) fn unwell_pods<'m>(model: &'m Model, uid: &Uid) -> Vec<&'m ModelObject> {
    let dependents = model.graph().current_dependents(uid);
    let unwell = dependents.into_iter().filter_map(|uid| model.object(&uid));
    let mut unwell: Vec<&ModelObject> = unwell
        .filter(|object| &*object.object.kind == "Pod" && !object.assessment.is_well())
        .collect();
    if unwell.is_empty() {
        unwell.extend(model.object(uid));
    }
    unwell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_fields() {
        let reasons = [
            FailureReason::ImagePull,
            FailureReason::Scheduling,
            FailureReason::Webhook,
            FailureReason::Other,
        ];
        for (path, expect) in [
            (
                ".spec.template.spec.containers[name=web].image",
                [true, false, false, true],
            ),
            (
                ".spec.template.spec.containers[name=sidecar]",
                [true, true, false, true],
            ),
            (
                ".spec.template.spec.initContainers",
                [true, true, false, true],
            ),
            (
                ".spec.template.spec.imagePullSecrets",
                [true, false, false, true],
            ),
            (
                ".spec.template.spec.containers[name=web].resources.limits",
                [false, true, false, true],
            ),
            (
                ".spec.template.spec.nodeSelector.pool",
                [false, true, false, true],
            ),
            (
                ".spec.template.spec.containers[name=web].env",
                [false, false, false, true],
            ),
            (".spec.replicas", [false, true, false, false]),
            (".spec.volumeName", [false; 4]),
            (".metadata.labels", [false; 4]),
            (".status.phase", [false; 4]),
        ] {
            assert_eq!(
                reasons.each_ref().map(|reason| reason.may_come_from(path)),
                expect,
                "{path}"
            );
        }
    }
}
