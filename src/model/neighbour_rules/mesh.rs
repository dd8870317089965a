//! A route of Istio to a Service or a subset that does not exist.

use crate::graph::{Node, Reference, service_of_host};
use crate::object::{Doc, Value};
use crate::status::{CauseRule, Finding, Status};

use super::super::Model;

/// The lists of routes of a `VirtualService`.
const PROTOCOLS: [&str; 3] = ["http", "tls", "tcp"];

impl Model {
    /// The destinations of a `VirtualService` that do not exist: Services, and subsets that no `DestinationRule` for
    /// the Service defines. Without such a rule, the model may not have read it.
    pub(super) fn missing_destinations(&self, service: &Node) -> Vec<Finding> {
        let Some(doc) = self.doc(&service.uid) else {
            return Vec::new();
        };
        let routes = PROTOCOLS
            .iter()
            .flat_map(|protocol| doc.root().items_at(&["spec", protocol]));
        let routes = routes.flat_map(|route| route.items_at(&["route"]));
        let destinations = routes.filter_map(|route| route.at(&["destination"]));
        let mut findings = Vec::new();
        for destination in destinations {
            let found = self.missing_destination(service, destination);
            findings.extend(found.filter(|found| !findings.contains(found)));
        }
        findings
    }

    fn missing_destination(&self, service: &Node, destination: Value<'_>) -> Option<Finding> {
        let host = destination.text_at(&["host"])?;
        let target = service_of_host(&host, &service.object)?;
        let references = self.graph.references_of(&service.uid).iter();
        let mut references = references.filter(|found| found.relation.name == "destination");
        let reference = references.find(|found| found.target == target)?;
        let missing = |text| {
            let rule = CauseRule::MissingDestination;
            Some(Finding::new(rule, Status::Current, text))
        };
        let there = self.graph.referenced(&reference.target);
        if there.is_none() && self.is_absent(service, reference) {
            return missing(format!("{reference} does not exist"));
        }
        let subset = destination.text_at(&["subset"])?;
        let rules = self.destination_rules(reference);
        let has_subset = |rule: &Doc| {
            let mut subsets = rule.root().items_at(&["spec", "subsets"]);
            subsets.any(|own| own.text_at(&["name"]).as_ref() == Some(&subset))
        };
        if rules.is_empty() || rules.iter().any(has_subset) {
            return None;
        }
        missing(format!(
            "no DestinationRule of {host} has the subset {subset}"
        ))
    }

    /// The `DestinationRules` of a Service.
    fn destination_rules(&self, service: &Reference) -> Vec<Doc> {
        let service = service.target.object(&self.types);
        let rules = self.graph.referrers(&service);
        let is_rule = |uid: &&_| {
            let node = self.graph.node(uid);
            node.is_some_and(|node| &*node.object.kind == "DestinationRule") && self.is_there(uid)
        };
        rules
            .filter(is_rule)
            .filter_map(|uid| self.doc(uid))
            .collect()
    }
}
