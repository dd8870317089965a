//! Which objects only repeat the problems of others: a Service whose Pods fail, a `StatefulSet` whose Pod waits for a lost
//! claim, an Ingress whose Service has no endpoint.

use std::collections::BTreeSet;

use crate::graph::Node;
use crate::object::{Uid, label_selector};
use crate::status::{Cause, CauseRule};

use super::around::Around;
use crate::model::rules::services::repeats_its_pods;

/// The objects whose problems are the whole problem of this one. Empty if it is well or has a problem of its own.
pub fn repeated(around: Around<'_>, uid: &Uid) -> BTreeSet<Uid> {
    let (Some(object), Some(node)) = (around.object(uid), around.graph().node(uid)) else {
        return BTreeSet::new();
    };
    let assessment = &object.assessment;
    if assessment.is_well() || object.departure.is_some() {
        return BTreeSet::new();
    }
    if assessment.causes.is_empty() {
        return unwell_pods_below(around, node);
    }
    let mut repeated = BTreeSet::new();
    for cause in &assessment.causes {
        let origins = origins(around, node, cause);
        if origins.is_empty() {
            return BTreeSet::new();
        }
        repeated.extend(origins);
    }
    repeated
}

/// The objects that bring a problem of this one about; empty if it is a problem of its own.
fn origins(around: Around<'_>, node: &Node, cause: &Cause) -> BTreeSet<Uid> {
    match cause.rule {
        CauseRule::Endpoints if repeats_its_pods(around, &node.uid) => {
            let pods = around.graph().selected_pods(&node.uid).into_iter();
            unwell_among(around, pods)
        }
        CauseRule::BudgetViolated => unwell_pods_of_budget(around, node),
        CauseRule::BlockedByPod | CauseRule::FailedPods | CauseRule::ProgressDeadline => {
            unwell_pods_below(around, node)
        }
        CauseRule::FailedReference => {
            let references = around.graph().references_of(&node.uid).iter();
            let named = references.filter(|reference| {
                let rest = cause.text.strip_prefix(&reference.to_string());
                rest.is_some_and(|rest| rest.starts_with(':'))
            });
            let named = named.filter_map(|named| around.graph().referenced(&named.target));
            unwell_among(around, named)
        }
        // The scheduler names no other reason than claims: it looks at them before it looks at nodes.
        CauseRule::Unschedulable if cause.text.to_lowercase().contains("persistentvolumeclaim") => {
            let references = around.graph().references_of(&node.uid).iter();
            let claims = references.filter(|it| &*it.target.kind.kind == "PersistentVolumeClaim");
            let claims = claims.filter_map(|claim| around.graph().referenced(&claim.target));
            unwell_among(around, claims)
        }
        _ => BTreeSet::new(),
    }
}

/// The Pods of the current revision of a workload that are not well.
fn unwell_pods_below(around: Around<'_>, workload: &Node) -> BTreeSet<Uid> {
    let below = around.graph().current_dependents(&workload.uid);
    let below = below.iter().filter_map(|uid| around.graph().node(uid));
    unwell_among(around, below.filter(|node| node.pod().is_some()))
}

/// The Pods of a budget that are not well, if the budget would be met without their problems.
fn unwell_pods_of_budget(around: Around<'_>, budget: &Node) -> BTreeSet<Uid> {
    let Some(doc) = around.doc(&budget.uid) else {
        return BTreeSet::new();
    };
    let count = |key| doc.root().i64_at(&["status", key]);
    let selector = doc.root().at(&["spec", "selector"]);
    let selector = selector.and_then(label_selector);
    let selector = selector.filter(|_| count("expectedPods") >= count("desiredHealthy"));
    let namespace = budget.object.namespace.as_ref();
    let pods = selector.iter();
    let pods = pods.flat_map(|selector| around.graph().pods_with(namespace, selector));
    unwell_among(around, pods)
}

fn unwell_among<'n>(around: Around<'_>, nodes: impl Iterator<Item = &'n Node>) -> BTreeSet<Uid> {
    let is_unwell = |node: &&Node| {
        let object = around.object(&node.uid);
        object.is_some_and(|object| {
            let is_there = object.departure.is_none() && !around.has_ended(object);
            is_there && !object.assessment.is_well()
        })
    };
    nodes
        .filter(is_unwell)
        .map(|node| node.uid.clone())
        .collect()
}
