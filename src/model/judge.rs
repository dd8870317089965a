//! Judges an object with the objects that it names: one that does not exist, or that does not work, is a problem
//! of the objects that need it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::{IfAbsent, Node, Reference, Tier};
use crate::object::{EventFacts, Uid};
use crate::source::SourceKey;
use crate::status::{Cause, Finding, Rules, Status};

use super::Model;
use super::around::Around;
use super::facts::facts;
use super::members::member_findings;
use super::neighbour_rules::neighbour_findings;
use super::object::{ModelObject, Surroundings};
use super::reference_findings::{at_next_start, reference_finding, unallocated};
use super::service::endpoints_finding;

/// The most rounds of judging in one refresh. Without it, objects that name each other would never end.
const MAX_ROUNDS: usize = 8;

impl Model {
    /// Judges objects, and the objects that name them, again. Returns those with another assessment.
    pub(super) fn judge(&mut self, changed: BTreeSet<Uid>, now: Timestamp) -> BTreeSet<Uid> {
        let mut due = changed;
        if std::mem::take(&mut self.has_news_of_sources) {
            due.extend(self.store.graph.all_referrers().cloned());
            due.extend(
                self.store
                    .graph
                    .services()
                    .map(|service| service.uid.clone()),
            );
            let ingresses = self.store.graph.of_kind("Ingress");
            due.extend(ingresses.map(|ingress| ingress.uid.clone()));
        }
        let served: Vec<Uid> = due
            .iter()
            .flat_map(|uid| services_of(self.around(), uid))
            .collect();
        due.extend(served);
        let mut others = BTreeSet::new();
        for round in 0..MAX_ROUNDS {
            let mut next = BTreeSet::new();
            for uid in due {
                let (around, news) = (surroundings(self.around(), &uid), self.news(&uid, now));
                let Some(object) = self.store.by_uid.get_mut(&uid) else {
                    continue;
                };
                let is_other = object.take_surroundings(around, news);
                // An object that appears or goes matters to those that name it, whatever its state.
                if is_other || round == 0 {
                    next.extend(self.store.graph.referrers(&object.object).cloned());
                }
                if is_other {
                    others.insert(uid);
                }
            }
            if next.is_empty() {
                break;
            }
            due = next;
        }
        others
    }
}

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
    // A claim that names its volume waits for that one, whatever its class.
    let mut targets = references
        .clone()
        .map(|reference| &*reference.target.kind.kind);
    let names_volume = targets.any(|kind| kind == "PersistentVolume");
    references.filter(move |reference| {
        let is_in_use = is_well && reference.tier() == Tier::Unwell;
        let matters = match &*reference.target.kind.kind {
            "ConfigMap" | "Secret" => !is_in_use || reference.if_absent() == IfAbsent::Fails,
            "Node" => !is_in_use && !is_explained,
            "StorageClass" => !is_in_use && !names_volume,
            _ => !is_in_use,
        };
        let is_needed = !reference.relation.lists_members() && !is_default;
        reference.tier() <= upto && is_needed && matters
    })
}

/// What is known around an object.
pub(in crate::model) fn surroundings(around: Around<'_>, uid: &Uid) -> Surroundings {
    let object = around.object(uid).filter(|_| around.rules() == Rules::Spy);
    let Some(object) = object else {
        return Surroundings::default();
    };
    let findings = findings(around, uid);
    let is_problem = |finding: &Finding| finding.status != Status::Current;
    let is_well = object.own.is_well() && !findings.iter().any(is_problem);
    Surroundings {
        facts: if is_well {
            Vec::new()
        } else {
            facts(around, uid)
        },
        warnings: warnings(around, object),
        findings,
    }
}

/// The warnings about an object. Those of the scheduler explain nothing once a Pod has its node.
fn warnings(around: Around<'_>, object: &ModelObject) -> Vec<Arc<EventFacts>> {
    let mut warnings = around.evidence().warnings(&object.object);
    let node = around.graph().node(&object.object.identity());
    if node.is_some_and(Node::is_placed) {
        warnings.retain(|warning| &*warning.reason != "FailedScheduling");
    }
    warnings
}

/// What is wrong with an object's endpoints and with the objects that it names, each problem once.
pub(super) fn findings(around: Around<'_>, uid: &Uid) -> Vec<Finding> {
    let cluster = around.cluster_of(uid);
    // kstatus looks at no other object.
    let Some(cluster) = cluster.filter(|_| around.rules() == Rules::Spy) else {
        return Vec::new();
    };
    let node = around.graph().node(uid);
    let endpoints = node.and_then(|node| endpoints_finding(around, node));
    let mut findings = Vec::from_iter(endpoints);
    findings.retain(|finding| finding.status != Status::Current);
    let is_well = around
        .object(uid)
        .is_some_and(|object| object.own.is_well());
    let is_placed = node.is_some_and(Node::is_placed);
    for reference in needed_by(around, uid) {
        // It may be absent, or have any state. A rule of its own looks at it.
        if reference.if_absent() == IfAbsent::Works {
            continue;
        }
        let found = reference_finding(around, cluster, reference);
        let found = found.or_else(|| unallocated(around, reference).filter(|_| !is_placed));
        let found = if is_well && reference.tier() == Tier::Unwell {
            found.and_then(|found| at_next_start(&found))
        } else {
            found
        };
        findings.extend(found.filter(|found| !findings.contains(found)));
    }
    findings.extend(member_findings(around, uid));
    findings.extend(
        node.into_iter()
            .flat_map(|node| neighbour_findings(around, node)),
    );
    findings
}

/// The Services that a slice or a Pod belongs to.
pub(in crate::model) fn services_of(around: Around<'_>, uid: &Uid) -> Vec<Uid> {
    let services = around.graph().services_of(uid).into_iter();
    services.map(|service| service.uid.clone()).collect()
}
