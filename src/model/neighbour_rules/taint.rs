//! A Pod whose node has a taint that the Pod does not tolerate.

use crate::graph::Node;
use crate::object::Value;
use crate::status::{CauseRule, Finding, Status};

use super::super::Model;

/// Kubernetes sets the taints of this group beside conditions of the node, which have rules of their own.
const OF_CONDITIONS: &str = "node.kubernetes.io/";

impl Model {
    /// The taints of a Pod's node that the Pod does not tolerate. A Pod that is well has been placed before, so nothing
    /// looks at its node.
    pub(super) fn untolerated_taints(&self, pod: &Node) -> Vec<Finding> {
        let judged = self.objects.get(&pod.uid);
        if judged.is_some_and(|object| object.own.is_well()) {
            return Vec::new();
        }
        let references = self.graph.references_of(&pod.uid).iter();
        let mut nodes = references.filter(|found| found.relation.name == "node");
        let node = nodes.find_map(|found| self.graph.referenced(&found.target));
        let docs = node.and_then(|node| Some((node, self.doc(&node.uid)?, self.doc(&pod.uid)?)));
        let Some((node, tainted, pod)) = docs else {
            return Vec::new();
        };
        let taints = tainted.root().items_at(&["spec", "taints"]);
        let taints = taints.filter(|taint| must_tolerate(*taint));
        let untolerated = taints.filter(|taint| {
            let mut tolerations = pod.root().items_at(&["spec", "tolerations"]);
            !tolerations.any(|toleration| tolerates(toleration, *taint))
        });
        let findings = untolerated.map(|taint| {
            let text = format!(
                "untolerated taint {} of node {}",
                words(taint),
                node.object.name
            );
            Finding::new(CauseRule::Untolerated, Status::Current, text)
        });
        findings.collect()
    }
}

fn must_tolerate(taint: Value<'_>) -> bool {
    let key = taint.text_at(&["key"]).unwrap_or_default();
    let effect = taint.text_at(&["effect"]).unwrap_or_default();
    !key.starts_with(OF_CONDITIONS) && &*effect != "PreferNoSchedule"
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

/// `dedicated=gpu:NoExecute`.
fn words(taint: Value<'_>) -> String {
    let part = |key: &str| taint.text_at(&[key]).unwrap_or_default();
    let value = part("value");
    let equals = if value.is_empty() { "" } else { "=" };
    format!("{}{equals}{value}:{}", part("key"), part("effect"))
}
