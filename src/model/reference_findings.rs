//! What is wrong with an object that another one names: it does not exist, it does not work, or it lacks a part.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::{Facts, IfAbsent, Node, Reference, Tier};
use crate::source::ClusterId;
use crate::status::{Assessment, CauseRule, Finding, Status};

use super::Absence;
use super::around::Around;
use super::facts::near_names::near_names;
use super::service::{absent_port, has_no_endpoints, ports_of};

/// The causes of a node that is short of space.
const SHORT_OF_SPACE: [CauseRule; 3] = [
    CauseRule::DiskPressure,
    CauseRule::MemoryPressure,
    CauseRule::PIDPressure,
];

/// The causes of a node that explain no Pod which it has: they are about new Pods, or about a drain.
const ONLY_OF_NODES: [CauseRule; 6] = [
    CauseRule::BudgetViolated,
    CauseRule::Cordoned,
    CauseRule::EvictionsBlocked,
    CauseRule::MaxPods,
    CauseRule::Overcommitted,
    CauseRule::Tainted,
];

/// What is wrong with a named object.
pub(in crate::model) fn reference_finding(
    around: Around<'_>,
    cluster: &ClusterId,
    reference: &Reference,
) -> Option<Finding> {
    match around.graph().referenced(&reference.target) {
        Some(node) if around.is_there(&node.uid) => problem_of(around, reference, node),
        Some(_) => Some(absent(around, cluster, reference)),
        None => match around.absence(reference.source(cluster, around.types()).as_ref()) {
            Absence::Missing => Some(absent(around, cluster, reference)),
            Absence::Refused => unseen(reference),
            Absence::NotInFile | Absence::Unserved | Absence::Unread => None,
        },
    }
}

/// The problem of an object that names one which does not exist. It names those that it may have meant.
fn absent(around: Around<'_>, cluster: &ClusterId, reference: &Reference) -> Finding {
    let near = near_names(around, cluster, reference).join(", ");
    let (words, status) = (Absence::Missing.words(), status_if_absent(reference));
    let text = match &*near {
        "" => format!("{reference} {words}"),
        near => format!("{reference} {words}; there is {near}"),
    };
    Finding::new(CauseRule::MissingReference, status, text)
}

/// The problem of an object that exists, for an object that names it.
fn problem_of(around: Around<'_>, reference: &Reference, node: &Node) -> Option<Finding> {
    match &node.facts {
        Facts::Data(keys) => {
            if let Some(missing) = missing_key(reference, keys) {
                return Some(missing);
            }
        }
        Facts::Service(service) => {
            if let Some(port) = absent_port(reference, service) {
                let text = format!("{reference} has no port {port}{}", ports_of(service));
                let status = status_if_absent(reference);
                return Some(Finding::new(CauseRule::MissingPort, status, text));
            }
        }
        Facts::Workload(_) | Facts::Pod(_) | Facts::Slice(_) | Facts::Other => {}
    }
    let own = &around.object(&node.uid)?.assessment;
    let is_always = reference.relation.tier == Tier::Always;
    if is_always && node.service().is_some() && own.is_well() && has_no_endpoints(around, node) {
        let text = format!("{reference}: no endpoints");
        let status = status_if_absent(reference);
        return Some(Finding::new(CauseRule::FailedReference, status, text));
    }
    let (rule, status) = match own.status() {
        Status::Failed if is_always => match node.facts {
            Facts::Data(_) | Facts::Service(_) => {
                (CauseRule::FailedReference, status_if_absent(reference))
            }
            Facts::Workload(_) | Facts::Pod(_) | Facts::Slice(_) | Facts::Other => return None,
        },
        Status::Unknown if is_always && node.service().is_some() => {
            (CauseRule::UnreadReference, Status::Unknown)
        }
        Status::InProgress if is_harmless(own) => return None,
        // The object is not well anyway: this only says why.
        Status::Failed | Status::InProgress if !is_always => {
            (CauseRule::FailedReference, Status::InProgress)
        }
        Status::Failed
        | Status::InProgress
        | Status::Unknown
        | Status::Current
        | Status::Terminating
        | Status::NotFound => return None,
    };
    let words = if is_always {
        &own.verdict.message
    } else {
        words_for_others(own)
    };
    Some(Finding::new(rule, status, format!("{reference}: {words}")))
}

/// The problem of a claim without devices, for a Pod that names it and has no node. The scheduler allocates them when it
/// places the Pod.
pub(in crate::model) fn unallocated(around: Around<'_>, reference: &Reference) -> Option<Finding> {
    let claim = around.graph().referenced(&reference.target)?;
    let own = &around.object(&claim.uid)?.assessment;
    let mut causes = own.causes.iter();
    let cause = causes.find(|cause| cause.rule == CauseRule::Unallocated)?;
    let text = format!("{reference}: {}", cause.text);
    let waits = reference.tier() == Tier::Unwell && around.is_there(&claim.uid);
    waits.then(|| Finding::new(CauseRule::FailedReference, Status::InProgress, text))
}

/// The first cause of the state of an object that also matters to those that name it, or else the state itself.
fn words_for_others(own: &Assessment) -> &str {
    let mut causes = own.causes.iter();
    let cause = causes.find(|cause| !ONLY_OF_NODES.contains(&cause.rule));
    cause.map_or(&own.verdict.message, |cause| &cause.text)
}

/// Whether an object that is not well keeps no other from working: a claim that waits for its Pod, or a node that is short of
/// space but runs its Pods.
fn is_harmless(own: &Assessment) -> bool {
    let is_short = !own.causes.is_empty()
        && own
            .causes
            .iter()
            .all(|cause| SHORT_OF_SPACE.contains(&cause.rule));
    is_short || own.has_cause(CauseRule::WaitsForPod)
}

/// The first key that an object needs and a `ConfigMap` or a Secret does not have.
fn missing_key(reference: &Reference, keys: &BTreeSet<Arc<str>>) -> Option<Finding> {
    let missing = reference.keys.iter().find(|key| !keys.contains(*key))?;
    let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
    let there = if keys.is_empty() {
        "it is empty".to_owned()
    } else {
        format!("it has {}", keys.join(", "))
    };
    let text = format!("{reference}: missing key \"{missing}\"; {there}");
    let status = status_if_absent(reference);
    Some(Finding::new(CauseRule::MissingKey, status, text))
}

/// The problem for a Pod that runs and is well: only a new container misses what the Pod names.
pub(super) fn at_next_start(found: &Finding) -> Option<Finding> {
    let rule = found.cause.rule;
    let is_missing = matches!(rule, CauseRule::MissingReference | CauseRule::MissingKey);
    let text = format!("{}; no new container could start", found.cause.text);
    is_missing.then(|| Finding::new(rule, Status::Current, text))
}

/// The state of an object that does not find what it names.
fn status_if_absent(reference: &Reference) -> Status {
    match reference.if_absent() {
        IfAbsent::Fails => Status::Failed,
        IfAbsent::Delays => Status::InProgress,
        IfAbsent::Works => Status::Current,
    }
}

/// An object is never called well for lack of rights.
fn unseen(reference: &Reference) -> Option<Finding> {
    (reference.tier() == Tier::Always).then(|| {
        let text = format!("{reference} {}", Absence::Refused.words());
        Finding::new(CauseRule::UnreadReference, Status::Unknown, text)
    })
}
