//! What becomes of requests while the API server cannot call a webhook.

use crate::graph::{Node, Reference};
use crate::object::Value;
use crate::status::{CauseRule, Finding, Status};

use super::super::Model;

impl Model {
    /// What the API server does with the requests of each webhook whose Service does not work.
    pub(super) fn uncalled_webhooks(&self, configuration: &Node) -> Vec<Finding> {
        let Some(doc) = self.doc(&configuration.uid) else {
            return Vec::new();
        };
        let webhooks = doc.root().items_at(&["webhooks"]);
        let findings = webhooks.filter_map(|webhook| {
            let service = self.broken_service(configuration, webhook)?;
            let name = webhook.text_at(&["name"])?;
            let text = if service.is_optional {
                format!("no request waits for {name}: its failurePolicy is Ignore")
            } else {
                format!("each request for {name} is refused: its failurePolicy is Fail")
            };
            Some(Finding::new(
                CauseRule::UncalledWebhook,
                Status::Current,
                text,
            ))
        });
        findings.collect()
    }

    /// The Service of a webhook, if it does not work.
    fn broken_service(&self, configuration: &Node, webhook: Value<'_>) -> Option<&Reference> {
        let service = |key| webhook.text_at(&["clientConfig", "service", key]);
        let (namespace, name) = (service("namespace"), service("name")?);
        let mut references = self.graph.references_of(&configuration.uid).iter();
        let reference = references.find(|reference| {
            let target = &reference.target;
            target.namespace == namespace && target.name == name
        })?;
        let cluster = self.cluster_of(&configuration.uid)?;
        let problem = self.reference_finding(cluster, reference)?;
        (problem.cause.rule != CauseRule::UnreadReference).then_some(reference)
    }
}
