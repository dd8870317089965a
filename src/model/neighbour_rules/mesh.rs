//! A route of Istio to a subset that does not exist.

use crate::graph::{Node, ReferenceTarget, istio_destinations, service_of_host};
use crate::object::{Doc, Value};
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;

/// The subsets that a `VirtualService` routes to and that no `DestinationRule` for the Service defines. Without such a
/// rule, the model may not have read it.
pub(in crate::model) fn missing_subsets(around: Around<'_>, service: &Node) -> Vec<Finding> {
    let Some(doc) = around.doc(&service.uid) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for destination in istio_destinations(doc.root()) {
        let found = missing_subset(around, service, destination);
        findings.extend(found.filter(|found| !findings.contains(found)));
    }
    findings
}

fn missing_subset(around: Around<'_>, service: &Node, destination: Value<'_>) -> Option<Finding> {
    let subset = destination.text_at(&["subset"])?;
    let host = destination.text_at(&["host"])?;
    let target = service_of_host(&host, &service.object)?;
    let rules = destination_rules(around, &target);
    let has_subset = |rule: &Doc| {
        let mut subsets = rule.root().items_at(&["spec", "subsets"]);
        subsets.any(|own| own.text_at(&["name"]).as_ref() == Some(&subset))
    };
    let is_missing = !rules.is_empty() && !rules.iter().any(has_subset);
    is_missing.then(|| {
        let text = format!("no DestinationRule of {host} has the subset {subset}");
        Finding::new(CauseRule::MissingSubset, Status::Current, text)
    })
}

/// The `DestinationRules` of a Service.
fn destination_rules(around: Around<'_>, service: &ReferenceTarget) -> Vec<Doc> {
    let service = service.object(around.types());
    let rules = around.graph().referrers(&service);
    let is_rule = |uid: &&_| {
        let node = around.graph().node(uid);
        node.is_some_and(|node| &*node.object.kind == "DestinationRule") && around.is_there(uid)
    };
    rules
        .filter(is_rule)
        .filter_map(|uid| around.doc(uid))
        .collect()
}
