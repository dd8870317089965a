//! The objects that another one names: which of them matter to it, and what is wrong with them: one does not exist, does not
//! work, or lacks a part.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::graph::{Facts, IfAbsent, Node, Reference, Tier};
use crate::model::around::Around;
use crate::model::objects::Absence;
use crate::object::{Uid, near};
use crate::source::{ClusterId, Form, SourceKey};
use crate::status::{Assessment, Cause, CauseRule, Finding, Status};

use super::services::{absent_port, has_no_endpoints, ports_of};
use super::storage::bypasses_scheduler;

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

/// The kinds of which a cluster may have too many objects to list them for a name.
const TOO_MANY: [&str; 3] = ["Node", "PersistentVolume", "Pod"];

/// How many names a cause suggests.
const MAX_NAMES: usize = 2;

/// The sources of the named objects, each once. Those that the worst objects name come first.
pub(in crate::model) fn reference_sources(around: Around<'_>) -> Vec<SourceKey> {
    let status = |uid: &&Uid| around.object(uid).map(|object| object.assessment.status());
    let mut referrers: Vec<&Uid> = around.graph().all_referrers().collect();
    referrers.sort_by_cached_key(|uid| Reverse(status(uid)));
    let (mut sources, mut seen) = (Vec::new(), HashSet::new());
    for uid in referrers {
        let Some(cluster) = around.cluster_of(uid) else {
            continue;
        };
        for reference in needed_by(around, uid) {
            let source = reference.source(cluster, around.types());
            sources.extend(source.filter(|source| seen.insert(source.clone())));
        }
    }
    sources
}

/// The named objects that matter to the state of an object, without the members of an inventory. The node of a Pod
/// matters only if nothing else explains the state of the Pod. What a Pod that runs holds, such as its claims, is there.
pub(in crate::model) fn needed_by<'m>(
    around: Around<'m>,
    uid: &Uid,
) -> impl Iterator<Item = &'m Reference> {
    let object = around.object(uid);
    let upto = object.map_or(Tier::Always, |object| object.needs);
    let is_well = object.is_some_and(|object| object.own.is_well());
    let is_explained =
        object.is_some_and(|object| object.own.causes.iter().any(Cause::is_specific));
    let is_default = around
        .graph()
        .node(uid)
        .is_some_and(Node::is_default_binding);
    let references = around.graph().references_of(uid).iter();
    references.filter(move |reference| {
        let is_in_use = is_well && reference.tier() == Tier::Unwell;
        let matters = match &*reference.target.kind.kind {
            "ConfigMap" | "Secret" => !is_in_use || reference.if_absent() == IfAbsent::Fails,
            "Node" => !is_in_use && !is_explained,
            _ => !is_in_use,
        };
        let is_needed = !reference.relation.lists_members() && !is_default;
        reference.tier() <= upto && is_needed && matters
    })
}

/// What is wrong with the objects that an object names, each problem once.
pub(in crate::model) fn reference_findings(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let Some((cluster, object)) = around.cluster_of(&node.uid).zip(around.object(&node.uid)) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for reference in needed_by(around, &node.uid) {
        // It may be absent, or have any state. A rule of its own looks at it.
        if reference.if_absent() == IfAbsent::Works {
            continue;
        }
        let found = reference_finding(around, cluster, reference);
        let found = found.or_else(|| unready_claim(around, node, reference));
        let found = if object.own.is_well() && reference.tier() == Tier::Unwell {
            found.and_then(|found| at_next_start(&found))
        } else {
            found
        };
        findings.extend(found.filter(|found| !findings.contains(found)));
    }
    findings
}

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
        Facts::Workload(_)
        | Facts::Pod(_)
        | Facts::Slice(_)
        | Facts::Ingress { .. }
        | Facts::Other => {}
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
            Facts::Workload(_)
            | Facts::Pod(_)
            | Facts::Slice(_)
            | Facts::Ingress { .. }
            | Facts::Other => return None,
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
        // The first cause that also matters to others, or else the state itself.
        let mut causes = own.causes.iter();
        let cause = causes.find(|cause| !ONLY_OF_NODES.contains(&cause.rule));
        cause.map_or(&own.verdict.message, |cause| &cause.text)
    };
    Some(Finding::new(rule, status, format!("{reference}: {words}")))
}

/// The problem of a claim that lacks what the scheduler gives it when it places a Pod: devices, for a Pod without a node, or a
/// volume, for one that bypassed the scheduler.
fn unready_claim(around: Around<'_>, node: &Node, reference: &Reference) -> Option<Finding> {
    let claim = around.graph().referenced(&reference.target)?;
    let mut causes = around.object(&claim.uid)?.assessment.causes.iter();
    let text = if node.is_placed() {
        let waits = causes.any(|cause| cause.rule == CauseRule::WaitsForPod);
        (waits && bypasses_scheduler(claim, node)).then_some(())?;
        format!("{reference} is not bound: spec.nodeName bypasses the scheduler")
    } else {
        let cause = causes.find(|cause| cause.rule == CauseRule::Unallocated)?;
        format!("{reference}: {}", cause.text)
    };
    let waits = reference.tier() == Tier::Unwell && around.is_there(&claim.uid);
    waits.then(|| Finding::new(CauseRule::FailedReference, Status::InProgress, text))
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
fn at_next_start(found: &Finding) -> Option<Finding> {
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

/// The sources of the names beside those that an object names and that do not exist.
pub(in crate::model) fn near_names_sources(around: Around<'_>, node: &Node) -> Vec<SourceKey> {
    let Some(cluster) = around.cluster_of(&node.uid) else {
        return Vec::new();
    };
    let missing = needed_by(around, &node.uid).filter(|reference| {
        let source = reference.source(cluster, around.types());
        around.graph().referenced(&reference.target).is_none()
            && around.absence(source.as_ref()) == Absence::Missing
    });
    let sources = missing.filter_map(|reference| names_source(around, cluster, reference));
    sources.collect()
}

/// The few names that resemble most the one that an object names.
fn near_names(around: Around<'_>, cluster: &ClusterId, reference: &Reference) -> Vec<String> {
    let source = names_source(around, cluster, reference);
    let names = source
        .iter()
        .flat_map(|source| around.evidence().names(source));
    let wanted = &reference.target.name;
    let near = near(wanted, names.filter(|name| *name != &**wanted));
    near.into_iter().take(MAX_NAMES).collect()
}

/// The source of the names of all objects beside a named one.
fn names_source(
    around: Around<'_>,
    cluster: &ClusterId,
    reference: &Reference,
) -> Option<SourceKey> {
    let source = reference.source(cluster, around.types())?;
    let is_few = !TOO_MANY.contains(&&*source.resource.kind);
    is_few.then(|| SourceKey {
        form: Form::Metadata,
        ..source.of_all()
    })
}

#[cfg(test)]
mod tests {
    use crate::model::rules::tests::Read;
    use crate::source::{Scope, Select, SourceKey};

    #[test]
    fn a_missing_name_names_those_that_resemble_it() {
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: fsat}, status: {phase: Pending}}";
        let class = |name: &str| {
            format!(
                "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}}}"
            )
        };
        for (classes, expected) in [
            (vec![], ""),
            (vec![class("slow")], ""),
            (vec![class("slow"), class("fast")], "; there is fast"),
        ] {
            let mut read = Read::for_status(claim);
            assert!(
                !crate::model::evidence_sources::evidence_sources(read.model.around())
                    .iter()
                    .any(is_of_classes)
            );
            read.look(SourceKey {
                scope: Scope::Cluster,
                select: Select::Name("fsat".into()),
                ..SourceKey::all("storage.k8s.io", "StorageClass")
            });
            let state = read.explain(&classes).state("data");
            let line = format!("MissingReference: storageclass/fsat does not exist{expected}");
            assert!(state.lines().any(|own| own == line), "{state}");
        }
    }

    fn is_of_classes(source: &SourceKey) -> bool {
        &*source.resource.kind == "StorageClass"
    }
}
