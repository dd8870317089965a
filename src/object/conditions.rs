//! The conditions of an object's status, and the taints that a Node's conditions impose.

use std::borrow::Cow;

use jiff::Timestamp;

use super::Value;

/// A condition of an object. A missing field, or one of another type, is empty.
#[derive(Clone, Debug)]
pub struct StatusCondition<'a> {
    /// Its `type`.
    pub kind: Cow<'a, str>,
    /// `True`, `False` or `Unknown`.
    pub status: Cow<'a, str>,
    /// The reason, in one word.
    pub reason: Cow<'a, str>,
    /// The reason, in a sentence.
    pub message: Cow<'a, str>,
    value: Value<'a>,
}

impl<'a> StatusCondition<'a> {
    /// Reads one item of the conditions.
    pub fn of(value: Value<'a>) -> StatusCondition<'a> {
        let text = |key| value.str_at(&[key]).unwrap_or_default();
        StatusCondition {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            value,
        }
    }

    /// Whether it has this type and this status.
    pub fn is(&self, kind: &str, status: &str) -> bool {
        self.kind == kind && self.status == status
    }

    /// The time of its last change of status.
    pub fn since(&self) -> Option<Timestamp> {
        let time = self.value.time_at(&["lastTransitionTime"]);
        time.filter(|time| *time > Timestamp::UNIX_EPOCH)
    }

    /// The time of its last update if it has one, else of its last change of status.
    pub fn updated(&self) -> Option<Timestamp> {
        let updated = self.value.time_at(&["lastUpdateTime"]);
        updated.or_else(|| self.since())
    }

    /// How bad a status other than True is, in the conditions of Cluster API and Knative; otherwise empty.
    pub fn severity(&self) -> Cow<'a, str> {
        self.value.str_at(&["severity"]).unwrap_or_default()
    }

    /// Whether it has this field.
    pub fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    /// The generation of the object that the condition describes, if it has one.
    pub fn observed_generation(&self) -> Option<i64> {
        self.value.i64_at(&["observedGeneration"])
    }
}

/// The conditions of an object, in the object's order.
pub fn conditions(object: Value<'_>) -> impl Iterator<Item = StatusCondition<'_>> {
    object
        .items_at(&["status", "conditions"])
        .map(StatusCondition::of)
}

/// The first condition of this type.
pub fn condition<'a>(object: Value<'a>, kind: &str) -> Option<StatusCondition<'a>> {
    conditions(object).find(|condition| condition.kind == kind)
}

/// Kubernetes sets the taints of this group beside conditions of the Node
/// (<https://kubernetes.io/docs/reference/labels-annotations-taints/>).
pub const CONDITION_TAINTS: &str = "node.kubernetes.io/";

/// Whether a Node is cordoned.
pub fn is_cordoned(node: Value<'_>) -> bool {
    node.bool_at(&["spec", "unschedulable"]) == Some(true)
}

/// Whether somebody has closed a Node to a Pod: by a cordon, or by a taint that the Pod does not tolerate.
pub fn is_closed(node: Value<'_>, pod: Value<'_>) -> bool {
    is_cordoned(node) || imposed_taints(node, pod).next().is_some()
}

/// The taints that somebody has set on a Node, each as `dedicated=gpu:NoExecute`. Those beside its conditions are left out.
pub fn set_taints(node: Value<'_>) -> impl Iterator<Item = String> {
    let taints = node.items_at(&["spec", "taints"]).map(text);
    taints.filter(|taint| !taint.starts_with(CONDITION_TAINTS))
}

/// The taints that somebody has set on a Node and that keep a Pod away from it.
pub fn imposed_taints<'a>(node: Value<'a>, pod: Value<'a>) -> impl Iterator<Item = String> {
    let taints = untolerated_taints(node, pod);
    taints.filter(|taint| !taint.starts_with(CONDITION_TAINTS))
}

/// The taints of a Node that keep a Pod away from it, each as `dedicated=gpu:NoExecute`. A taint with the effect
/// `PreferNoSchedule` keeps no Pod away.
pub fn untolerated_taints<'a>(node: Value<'a>, pod: Value<'a>) -> impl Iterator<Item = String> {
    untolerated(node, pod, |effect| effect != "PreferNoSchedule")
}

/// The taints of a Pod's Node that evict the Pod.
pub fn evicting_taints<'a>(node: Value<'a>, pod: Value<'a>) -> impl Iterator<Item = String> {
    untolerated(node, pod, |effect| effect == "NoExecute")
}

fn untolerated<'a>(
    node: Value<'a>,
    pod: Value<'a>,
    matters: fn(&str) -> bool,
) -> impl Iterator<Item = String> {
    let taints = node.items_at(&["spec", "taints"]);
    let untolerated = taints.filter(move |taint| {
        let effect = taint.text_at(&["effect"]).unwrap_or_default();
        let mut tolerations = pod.items_at(&["spec", "tolerations"]);
        matters(&effect) && !tolerations.any(|toleration| tolerates(toleration, *taint))
    });
    untolerated.map(text)
}

/// Whether a toleration matches a taint
/// (<https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#concepts>).
fn tolerates(toleration: Value<'_>, taint: Value<'_>) -> bool {
    let own = |key: &str| toleration.text_at(&[key]).filter(|text| !text.is_empty());
    let is_same =
        |key: &str| own(key).is_none_or(|text| taint.text_at(&[key]).as_ref() == Some(&text));
    let has_value =
        || own("value").unwrap_or_default() == taint.text_at(&["value"]).unwrap_or_default();
    let exists = own("operator").as_deref() == Some("Exists");
    is_same("key") && is_same("effect") && (exists || (own("key").is_some() && has_value()))
}

fn text(taint: Value<'_>) -> String {
    let part = |key: &str| taint.text_at(&[key]).unwrap_or_default();
    let value = part("value");
    let equals = if value.is_empty() { "" } else { "=" };
    format!("{}{equals}{value}:{}", part("key"), part("effect"))
}
