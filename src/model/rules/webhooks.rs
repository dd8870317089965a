//! Rules about webhooks that cannot be called: what the API server then does, and which configuration refuses Pods.

use std::sync::Arc;

use crate::graph::{IfAbsent, KnownRelation, Node, well_known};
use crate::model::around::Around;
use crate::model::rules::references::reference_finding;
use crate::object::{ObjectRef, Uid, Value};
use crate::source::{ClusterId, Form, Scope, Select, SourceKey};
use crate::status::{Cause, CauseRule, Finding, Status, uncalled_webhook};

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
        let is_webhook = reference.relation.is(KnownRelation::Webhook);
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

/// The kinds that configure webhooks.
const KINDS: [&str; 2] = [
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
];

/// The sources of the configurations of webhooks, if one refuses the Pods of a workload.
pub(in crate::model) fn webhook_sources(around: Around<'_>, node: &Node) -> Vec<SourceKey> {
    let cluster = around.cluster_of(&node.uid);
    let cluster = cluster.filter(|_| refusing_webhook(around, &node.uid).is_some());
    let sources = cluster.map(|cluster| KINDS.map(|kind| source(cluster, kind)));
    sources.into_iter().flatten().collect()
}

/// The configuration of the webhook that refuses the Pods of a workload.
pub(in crate::model) fn webhook_facts(around: Around<'_>, node: &Node) -> Vec<Cause> {
    let fact = || {
        let webhook = refusing_webhook(around, &node.uid)?;
        let configurations = refusing_configurations(around, &node.uid);
        let configuration = configurations.first()?;
        let text = format!("{configuration} has the webhook {webhook}");
        Some(Cause::new(CauseRule::Fact, text))
    };
    Vec::from_iter(fact())
}

/// The configurations that have the webhook which refuses the Pods of a workload, as far as they are read.
pub fn refusing_configurations(around: Around<'_>, workload: &Uid) -> Vec<Arc<ObjectRef>> {
    let webhook = refusing_webhook(around, workload);
    let Some((cluster, webhook)) = around.cluster_of(workload).zip(webhook) else {
        return Vec::new();
    };
    let has_webhook = |configuration: Value<'_>| {
        let mut webhooks = configuration.items_at(&["webhooks"]);
        webhooks.any(|own| own.str_at(&["name"]).as_deref() == Some(webhook))
    };
    let sources = KINDS.map(|kind| source(cluster, kind));
    let evidence = sources
        .iter()
        .flat_map(|source| around.evidence().objects(source));
    let evidence = evidence.filter(|(_, doc)| has_webhook(doc.root()));
    let evidence = evidence.map(|(object, _)| object.clone());
    let own = around
        .objects()
        .filter(|(_, object)| KINDS.contains(&&*object.object.kind));
    let own = own.filter(|(uid, _)| around.doc(uid).is_some_and(|doc| has_webhook(doc.root())));
    evidence
        .chain(own.map(|(_, object)| object.object.clone()))
        .collect()
}

/// The name of the webhook that refuses the Pods of a workload.
fn refusing_webhook<'m>(around: Around<'m>, workload: &Uid) -> Option<&'m str> {
    let mut causes = around.object(workload)?.assessment.causes.iter();
    let refusal = causes.find(|cause| cause.rule == CauseRule::FailedCreate)?;
    uncalled_webhook(&refusal.text)
}

fn source(cluster: &ClusterId, kind: &str) -> SourceKey {
    SourceKey {
        cluster: cluster.clone(),
        resource: well_known("admissionregistration.k8s.io", kind),
        scope: Scope::Cluster,
        select: Select::All,
        form: Form::Full,
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rules::tests::Read;

    #[test]
    fn the_configuration_of_a_webhook_that_refuses_pods_is_named() {
        let refusal = r#"Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: Post "https://guard.shop.svc:443/?timeout=10s": service "guard" not found"#;
        let deployment = format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: shop, generation: 1}}, spec: {{replicas: 2}}, status: {{observedGeneration: 1, replicas: 1, conditions: [{{type: ReplicaFailure, status: 'True', reason: FailedCreate, message: '{refusal}'}}]}}}}"
        );
        let configuration = |name: &str, webhook: &str| {
            format!(
                "{{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {{name: {name}}}, webhooks: [{{name: a.example.com}}, {{name: {webhook}}}]}}"
            )
        };
        let line = "Fact: mutatingwebhookconfiguration/guard has the webhook b.example.com";
        for (webhook, is_named) in [("b.example.com", true), ("c.example.com", false)] {
            let mut read = Read::for_status(&deployment);
            let others = [
                configuration("other", "c.example.com"),
                configuration("guard", webhook),
            ];
            let state = read.explain(&others).state("web");
            assert_eq!(state.lines().any(|own| own == line), is_named, "{state}");
        }
    }
}
