//! What a network policy restricts.

use crate::graph::Node;
use crate::object::Value;
use crate::status::{CauseRule, Finding, Status};

use super::super::Model;

impl Model {
    /// The note about the directions of traffic that a policy restricts. Without `policyTypes`, it restricts ingress, and
    /// egress if it has rules for that.
    pub(super) fn restrictions(&self, policy: &Node) -> Vec<Finding> {
        let Some(doc) = self.doc(&policy.uid) else {
            return Vec::new();
        };
        let text = format!("{} restricted", directions(doc.root()).join(", "));
        let rule = CauseRule::Restricts;
        vec![Finding::new(rule, Status::Current, text)]
    }
}

fn directions(policy: Value<'_>) -> Vec<String> {
    let types = policy.items_at(&["spec", "policyTypes"]);
    let types: Vec<String> = types
        .filter_map(|kind| Some(kind.as_str()?.to_lowercase()))
        .collect();
    if !types.is_empty() {
        return types;
    }
    let has_egress = policy.items_at(&["spec", "egress"]).next().is_some();
    let directions = ["ingress", "egress"].into_iter();
    let directions = directions.take(if has_egress { 2 } else { 1 });
    directions.map(str::to_owned).collect()
}
