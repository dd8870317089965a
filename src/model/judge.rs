//! Judges an object with the objects that it names: one that does not exist, or that does not work, is a problem
//! of the objects that need it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::{IfAbsent, Node, Reference, Tier};
use crate::object::{EventFacts, Uid};
use crate::source::{ClusterId, SourceKey};
use crate::status::{Cause, Finding, Rules, Status};

use super::Model;
use super::facts::facts;
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
            due.extend(self.graph.all_referrers().cloned());
            due.extend(self.graph.services().map(|service| service.uid.clone()));
            let ingresses = self.graph.of_kind("Ingress");
            due.extend(ingresses.map(|ingress| ingress.uid.clone()));
        }
        let served: Vec<Uid> = due.iter().flat_map(|uid| self.services_of(uid)).collect();
        due.extend(served);
        let mut others = BTreeSet::new();
        for round in 0..MAX_ROUNDS {
            let mut next = BTreeSet::new();
            for uid in due {
                let (around, news) = (self.surroundings(&uid), self.news(&uid, now));
                let Some(object) = self.objects.get_mut(&uid) else {
                    continue;
                };
                let is_other = object.take_surroundings(around, news);
                // An object that appears or goes matters to those that name it, whatever its state.
                if is_other || round == 0 {
                    next.extend(self.graph.referrers(&object.object).cloned());
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

    /// The sources of the named objects, each once. Those that the worst objects name come first.
    pub(super) fn reference_sources(&self) -> Vec<SourceKey> {
        let status = |uid: &&Uid| {
            self.objects
                .get(*uid)
                .map(|object| object.assessment.status())
        };
        let mut referrers: Vec<&Uid> = self.graph.all_referrers().collect();
        referrers.sort_by_cached_key(|uid| Reverse(status(uid)));
        let (mut sources, mut seen) = (Vec::new(), HashSet::new());
        for uid in referrers {
            let Some(cluster) = self.cluster_of(uid) else {
                continue;
            };
            for reference in self.needed_by(uid) {
                let source = reference.source(cluster, &self.types);
                sources.extend(source.filter(|source| seen.insert(source.clone())));
            }
        }
        sources
    }

    /// The named objects that matter to the state of an object, without the members of an inventory. The node of a Pod
    /// matters only if nothing else explains the state of the Pod. What a Pod that runs holds, such as its claims, is there.
    pub(super) fn needed_by(&self, uid: &Uid) -> impl Iterator<Item = &Reference> {
        let object = self.object(uid);
        let upto = object.map_or(Tier::Always, |object| object.needs);
        let is_well = object.is_some_and(|object| object.own.is_well());
        let is_explained =
            object.is_some_and(|object| object.own.causes.iter().any(Cause::is_specific));
        let is_default = self.graph.node(uid).is_some_and(Node::is_default_binding);
        let references = self.graph.references_of(uid).iter();
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
    pub(super) fn surroundings(&self, uid: &Uid) -> Surroundings {
        let object = self.objects.get(uid).filter(|_| self.rules == Rules::Spy);
        let Some(object) = object else {
            return Surroundings::default();
        };
        let findings = self.findings(uid);
        let is_problem = |finding: &Finding| finding.status != Status::Current;
        let is_well = object.own.is_well() && !findings.iter().any(is_problem);
        Surroundings {
            facts: if is_well {
                Vec::new()
            } else {
                facts(self.around(), uid)
            },
            warnings: self.warnings(object),
            findings,
        }
    }

    /// The warnings about an object. Those of the scheduler explain nothing once a Pod has its node.
    fn warnings(&self, object: &ModelObject) -> Vec<Arc<EventFacts>> {
        let mut warnings = self.evidence.warnings(&object.object);
        let node = self.graph.node(&object.object.identity());
        if node.is_some_and(Node::is_placed) {
            warnings.retain(|warning| &*warning.reason != "FailedScheduling");
        }
        warnings
    }

    /// What is wrong with an object's endpoints and with the objects that it names, each problem once.
    pub(super) fn findings(&self, uid: &Uid) -> Vec<Finding> {
        let cluster = self.cluster_of(uid);
        // kstatus looks at no other object.
        let Some(cluster) = cluster.filter(|_| self.rules == Rules::Spy) else {
            return Vec::new();
        };
        let node = self.graph.node(uid);
        let endpoints = node.and_then(|node| endpoints_finding(self.around(), node));
        let mut findings = Vec::from_iter(endpoints);
        findings.retain(|finding| finding.status != Status::Current);
        let is_well = self.object(uid).is_some_and(|object| object.own.is_well());
        let is_placed = node.is_some_and(Node::is_placed);
        for reference in self.needed_by(uid) {
            // It may be absent, or have any state. A rule of its own looks at it.
            if reference.if_absent() == IfAbsent::Works {
                continue;
            }
            let found = reference_finding(self.around(), cluster, reference);
            let found =
                found.or_else(|| unallocated(self.around(), reference).filter(|_| !is_placed));
            let found = if is_well && reference.tier() == Tier::Unwell {
                found.and_then(|found| at_next_start(&found))
            } else {
                found
            };
            findings.extend(found.filter(|found| !findings.contains(found)));
        }
        findings.extend(self.member_findings(uid));
        findings.extend(
            node.into_iter()
                .flat_map(|node| neighbour_findings(self.around(), node)),
        );
        findings
    }

    /// The Services that a slice or a Pod belongs to.
    pub(super) fn services_of(&self, uid: &Uid) -> Vec<Uid> {
        let services = self.graph.services_of(uid).into_iter();
        services.map(|service| service.uid.clone()).collect()
    }

    pub(super) fn is_there(&self, uid: &Uid) -> bool {
        let object = self.objects.get(uid);
        object.is_some_and(|object| object.departure.is_none())
    }

    pub(super) fn cluster_of(&self, uid: &Uid) -> Option<&ClusterId> {
        self.objects.get(uid)?.cluster()
    }
}
