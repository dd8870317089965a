//! `Matters`: which changes count, by the fields that they change.

use jiff::Timestamp;

use crate::diff::{Change, Content, Diff, Redactor, Shown};
use crate::object::Value;
use crate::object::managed_fields::OwnedField;
use crate::object::path::Side;
use crate::source::PRINTED_PATH;

use super::error_text::ErrorText;
use super::failure::FailureReason;

/// What ties a change to the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// Nothing: it was only made before the failure.
    None,
    /// It changed the failed object, or an object that the kind of the failure is about.
    Possible,
    /// The failure or its words are about what it changed.
    Tied,
}

/// Which changes matter, and whose they are.
#[derive(Clone, Copy)]
pub(super) struct Matters<'r> {
    /// Why the failed object has failed.
    pub(super) reason: &'r FailureReason,
    /// Whether the changes are those of the failed object.
    pub(super) is_own: bool,
    /// The words with which the cluster reports the failure.
    pub(super) errors: &'r ErrorText,
    /// The server's time. Nobody has written later.
    pub(super) now: Timestamp,
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

/// The fields of a Pod that decide which nodes it may use.
const PLACED_BY: [&str; 3] = ["nodeSelector", "affinity", "tolerations"];

/// The fields of a Pod that admission policies look at
/// (<https://kubernetes.io/docs/concepts/security/pod-security-standards/>,
/// <https://kubernetes.io/docs/concepts/policy/limit-range/>).
const POLICED: [&str; 6] = [
    "resources",
    "securityContext",
    "host",
    "volumes",
    "serviceAccountName",
    "priorityClassName",
];

/// The fields of a Pod that name other objects.
const NAMED_BY: [&str; 4] = ["env", "volumes", "imagePullSecrets", "serviceAccountName"];

/// How many Pods a workload wants.
pub(super) const REPLICAS: &str = ".spec.replicas";

/// What keeps Pods away from a Node.
const TAINTS: &str = ".spec.taints";

/// Who must agree to the deletion of an object.
const FINALIZERS: &str = ".metadata.finalizers";

/// Where the Pods of a workload come from.
const TEMPLATES: [&str; 2] = [".spec.template", ".spec.jobTemplate"];

/// The fields that controllers fill in.
const BOOKKEEPING: [&str; 6] = [
    ".status",
    ".metadata",
    ".spec.nodeName",
    ".spec.volumeName",
    ".spec.claimRef",
    PRINTED_PATH,
];

impl Matters<'_> {
    /// Whether a change of an object of this kind may be the cause.
    pub(super) fn has(self, kind: &str, diff: &Diff<'_>, change: &Change) -> bool {
        self.has_path(kind, &diff.path(change.at).to_string())
    }

    /// Whether a change of the field at this path of an object of this kind may be the cause.
    pub(super) fn has_path(self, kind: &str, path: &str) -> bool {
        if self.is_own {
            return self.reason.may_come_from(path);
        }
        // It may break others that name the object, or that live in it.
        match (kind, self.reason) {
            ("Namespace", _) => path.starts_with(".metadata.labels[\"pod-security."),
            ("Node", _) => closes_node(path),
            ("Service", _) => path.starts_with(".spec.selector") || path.starts_with(".spec.ports"),
            ("DaemonSet", FailureReason::Idle(_)) => is_placement(path),
            (_, FailureReason::Idle(_)) => path == REPLICAS,
            (_, FailureReason::Ports) => {
                path.starts_with(".spec.template") && path.contains(".ports")
            }
            _ => is_configuration(path),
        }
    }

    /// What ties a change to the failure. The words of an error may name the new value, or the key
    /// that is gone.
    pub(super) fn sign(self, diff: &Diff<'_>, change: &Change, redactor: &Redactor) -> Sign {
        let path = diff.path(change.at).to_string();
        let text = |side| Some(text_of(diff.shown(change.at, side, redactor)?));
        let is_named = || match (text(Side::Old), text(Side::New)) {
            (old, Some(new)) => self.errors.names_new(&old.unwrap_or_default(), &new),
            (Some(_), None) => {
                let key = diff.field(change.at);
                key.is_some_and(|key| self.errors.names_key(key))
            }
            (None, None) => false,
        };
        self.sign_of(&path, is_named())
    }

    /// The same of fields whose old values are not known.
    pub(super) fn sign_of_written(self, kind: &str, fields: &[OwnedField<'_>]) -> Sign {
        let is_named = |field: &OwnedField<'_>| {
            let text = field.value.and_then(Value::as_str);
            text.is_some_and(|text| self.errors.names_new("", &text))
        };
        let signs = fields.iter().map(|field| {
            let is_named = kind != "Secret" && is_named(field);
            self.sign_of(&field.path, is_named)
        });
        signs.max().unwrap_or(Sign::None)
    }

    fn sign_of(self, path: &str, is_named: bool) -> Sign {
        if is_named || (self.is_own && self.reason.is_about(path)) {
            Sign::Tied
        } else if self.is_own || !self.reason.is_open() {
            Sign::Possible
        } else {
            Sign::None
        }
    }
}

/// A text without quotes; another value as JSON. A value of a Secret has no text.
fn text_of(shown: Shown<'_>) -> String {
    match shown.content() {
        Content::Text(text) => text.into_owned(),
        Content::Redacted(_) => String::new(),
        _ if shown.holds_secret() => String::new(),
        _ => shown.json(),
    }
}

impl FailureReason {
    /// Whether the failure is about this field of the failed object, and not about whatever its Pods do.
    fn is_about(&self, path: &str) -> bool {
        match self {
            FailureReason::Refusal(_) => path == REPLICAS,
            FailureReason::Need(_)
            | FailureReason::Policy(_)
            | FailureReason::Pods
            | FailureReason::Other => false,
            FailureReason::ImagePull
            | FailureReason::Scheduling(_)
            | FailureReason::BlockedRollout
            | FailureReason::Selector
            | FailureReason::Ports
            | FailureReason::Idle(_)
            | FailureReason::Webhook(_)
            | FailureReason::Finalizers
            | FailureReason::KeptOut(_)
            | FailureReason::Closed
            | FailureReason::Rescaled
            | FailureReason::Isolated(_)
            | FailureReason::Elsewhere => true,
        }
    }

    /// Whether the failure does not tell which objects may have brought it about.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, FailureReason::Pods | FailureReason::Other)
    }

    /// Whether a change of this field of the failed object may be the cause.
    pub(super) fn may_come_from(&self, path: &str) -> bool {
        if let FailureReason::Finalizers = self {
            return path.starts_with(FINALIZERS);
        }
        let is_count = matches!(path, REPLICAS | ".spec.paused");
        let is_below = |name: &&str| path.contains(&format!(".{name}"));
        let is_container = is_whole_container(path);
        let is_of_template = TEMPLATES.iter().any(|template| path.starts_with(template));
        is_configuration(path)
            && match self {
                FailureReason::ImagePull => is_container || is_below(&"image"),
                FailureReason::Scheduling(closed) if closed.is_empty() => {
                    is_container || is_count || SCHEDULED_BY.iter().any(is_below)
                }
                FailureReason::Scheduling(_) => is_count || is_placement(path),
                FailureReason::KeptOut(_) => is_of_template && is_placement(path),
                FailureReason::Closed => closes_node(path),
                FailureReason::Rescaled => path == REPLICAS,
                FailureReason::Refusal(_) => is_count || is_of_template,
                FailureReason::BlockedRollout => is_of_template,
                FailureReason::Pods => is_of_template || path == REPLICAS,
                FailureReason::Need(_) if is_of_template => {
                    is_container || NAMED_BY.iter().any(is_below)
                }
                FailureReason::Policy(_) => is_container || POLICED.iter().any(is_below),
                FailureReason::Selector => path.starts_with(".spec.selector"),
                FailureReason::Ports => path.starts_with(".spec.ports"),
                FailureReason::Idle(_)
                | FailureReason::Webhook(_)
                | FailureReason::Finalizers
                | FailureReason::Isolated(_)
                | FailureReason::Elsewhere => false,
                FailureReason::Need(_) | FailureReason::Other => !is_count,
            }
    }
}

/// Whether a field is a container, or the list of them: one was added or removed.
fn is_whole_container(path: &str) -> bool {
    let item = path.rsplit_once("ontainers[");
    let item = item.and_then(|(_, item)| item.strip_suffix(']'));
    item.is_some_and(|name| !name.contains(']')) || path.ends_with("ontainers")
}

/// Whether a field lets Pods use a node, or keeps them away.
fn is_placement(path: &str) -> bool {
    let mut fields = PLACED_BY.iter();
    fields.any(|field| path.contains(&format!(".{field}")))
}

/// Whether a field of a Node keeps Pods away from it.
fn closes_node(path: &str) -> bool {
    path.starts_with(".spec.unschedulable") || path.starts_with(TAINTS)
}

/// Whether a field is part of what someone wants.
pub(super) fn is_configuration(path: &str) -> bool {
    let mut bookkeeping = BOOKKEEPING.iter();
    !bookkeeping.any(|part| path.starts_with(part))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::graph::ReferenceTarget;
    use crate::object::GroupKind;

    use super::*;

    fn node() -> ReferenceTarget {
        ReferenceTarget {
            kind: GroupKind {
                group: "".into(),
                kind: "Node".into(),
            },
            namespace: None,
            name: "n1".into(),
        }
    }

    #[test]
    fn each_reason_has_its_fields() {
        let reasons = [
            ("ImagePull", FailureReason::ImagePull),
            ("Scheduling", FailureReason::Scheduling(BTreeSet::new())),
            ("Closed", FailureReason::Scheduling([node()].into())),
            ("Policy", FailureReason::Policy(None)),
            ("Need", FailureReason::Need(BTreeSet::new())),
            ("Selector", FailureReason::Selector),
            ("Ports", FailureReason::Ports),
            ("Pods", FailureReason::Pods),
            ("Webhook", FailureReason::Webhook(BTreeSet::new())),
            ("Finalizers", FailureReason::Finalizers),
            ("Elsewhere", FailureReason::Elsewhere),
            ("Other", FailureReason::Other),
        ];
        for (path, expect) in [
            (
                ".spec.template.spec.containers[name=web].image",
                "ImagePull Pods Other",
            ),
            (
                ".spec.template.spec.containers[name=sidecar]",
                "ImagePull Scheduling Policy Need Pods Other",
            ),
            (
                ".spec.template.spec.initContainers",
                "ImagePull Scheduling Policy Need Pods Other",
            ),
            (
                ".spec.template.spec.imagePullSecrets",
                "ImagePull Need Pods Other",
            ),
            (
                ".spec.template.spec.containers[name=web].resources.limits",
                "Scheduling Policy Pods Other",
            ),
            (
                ".spec.template.spec.nodeSelector.pool",
                "Scheduling Closed Pods Other",
            ),
            (
                ".spec.template.spec.containers[name=web].env",
                "Need Pods Other",
            ),
            (
                ".spec.template.spec.containers[name=web].env[name=A]",
                "Need Pods Other",
            ),
            (".spec.replicas", "Scheduling Closed Pods"),
            (".metadata.finalizers", "Finalizers"),
            (".spec.progressDeadlineSeconds", "Need Other"),
            (".spec.selector.app", "Need Selector Other"),
            (".spec.ports[port=80].targetPort", "Need Ports Other"),
            (".spec.volumeName", ""),
            (".metadata.labels", ""),
            (".status.phase", ""),
        ] {
            let found = reasons.iter().filter(|it| it.1.may_come_from(path));
            let found: Vec<_> = found.map(|it| it.0).collect();
            assert_eq!(found.join(" "), expect, "{path}");
        }
    }
}
