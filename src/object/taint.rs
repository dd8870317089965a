//! What keeps a Pod away from a Node: a cordon, or taints that the Pod does not tolerate.

use super::Value;

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
