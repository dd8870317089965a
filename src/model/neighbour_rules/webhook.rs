//! What the API server does while it cannot call a webhook.

use crate::graph::{IfAbsent, Node};
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;
use crate::model::reference_findings::reference_finding;

/// What the API server does without each Service of a webhook that does not work.
pub(in crate::model) fn uncalled_webhooks(
    around: Around<'_>,
    configuration: &Node,
) -> Vec<Finding> {
    let Some(cluster) = around.cluster_of(&configuration.uid) else {
        return Vec::new();
    };
    let references = around.graph().references_of(&configuration.uid).iter();
    let uncalled = references.filter(|reference| {
        let is_webhook = reference.relation.name == "webhook";
        let problem = reference_finding(around, cluster, reference);
        let problem = problem.filter(|_| is_webhook);
        problem.is_some_and(|problem| problem.cause.rule != CauseRule::UnreadReference)
    });
    let findings = uncalled.map(|webhook| {
        let (does, policy) = match webhook.if_absent() {
            IfAbsent::Fails => ("refuses matching requests", "Fail"),
            IfAbsent::Delays | IfAbsent::Works => ("lets matching requests pass", "Ignore"),
        };
        let service = &webhook.target.name;
        let text =
            format!("without service/{service}, the API server {does} (failurePolicy {policy})");
        Finding::new(CauseRule::UncalledWebhook, Status::Current, text)
    });
    findings.collect()
}
