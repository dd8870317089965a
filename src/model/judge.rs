//! Judges an object with the objects that it names: one that does not exist, or that does not work, is a problem
//! of the objects that need it.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::graph::{IfAbsent, Node, Reference, Tier};
use crate::object::Uid;
use crate::source::{ClusterId, SourceKey};
use crate::status::{CauseRule, Finding, Rules, Status};

use super::{Model, Reading};

/// How often an object is judged in one refresh. Objects that name each other in a circle stop here.
const MOST_ROUNDS: usize = 8;

impl Model {
    /// Judges objects, and the objects that name them, again. Returns those with another assessment.
    pub(super) fn judge(&mut self, changed: BTreeSet<Uid>, now: Timestamp) -> BTreeSet<Uid> {
        let mut due = changed;
        if std::mem::take(&mut self.has_news_of_sources) {
            due.extend(self.graph.all_referrers().cloned());
            due.extend(self.graph.services().map(|service| service.uid.clone()));
        }
        let served: Vec<Uid> = due.iter().flat_map(|uid| self.services_of(uid)).collect();
        due.extend(served);
        let mut others = BTreeSet::new();
        for round in 0..MOST_ROUNDS {
            let mut next = BTreeSet::new();
            for uid in due {
                let (findings, news) = (self.findings(&uid), self.news(&uid, now));
                let Some(object) = self.objects.get_mut(&uid) else {
                    continue;
                };
                let is_other = object.take_findings(findings, news);
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

    /// The sources of the named objects, each once, at most `limit`.
    pub fn reference_sources(&self, limit: usize) -> Vec<SourceKey> {
        let mut sources = Vec::new();
        for uid in self.graph.all_referrers() {
            let Some(cluster) = self.cluster_of(uid) else {
                continue;
            };
            for reference in self.graph.references_of(uid) {
                if sources.len() == limit {
                    return sources;
                }
                let source = reference.target.source(cluster);
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        sources
    }

    /// What is wrong with an object's endpoints and with the objects that it names, each problem once.
    pub(super) fn findings(&self, uid: &Uid) -> Vec<Finding> {
        let cluster = self.cluster_of(uid);
        // kstatus looks at no other object.
        let Some(cluster) = cluster.filter(|_| self.rules == Rules::Spy) else {
            return Vec::new();
        };
        let node = self.graph.node(uid);
        let endpoints = node.and_then(|node| self.endpoints_finding(node));
        let mut findings = Vec::from_iter(endpoints);
        findings.retain(|finding| finding.status != Status::Current);
        for reference in self.graph.references_of(uid) {
            let found = match self.graph.referenced(&reference.target) {
                Some(node) if self.is_there(&node.uid) => self.problem_of(reference, node),
                Some(_) => Some(absent(reference)),
                None => match self.coverage.reading(&reference.target.source(cluster)) {
                    Some(Reading::All) => self.knows_absence.then(|| absent(reference)),
                    Some(Reading::Refused) => unseen(reference),
                    Some(Reading::Partial | Reading::Retrying { .. }) | None => None,
                },
            };
            findings.extend(found.filter(|found| !findings.contains(found)));
        }
        findings
    }

    /// The problem of an object that exists, for an object that names it.
    fn problem_of(&self, reference: &Reference, node: &Node) -> Option<Finding> {
        let service = node.service()?;
        let named = reference.to_string();
        if let Some(port) = reference
            .port
            .as_ref()
            .filter(|port| !service.has_port(port))
        {
            let text = format!("{named} has no port {port}");
            return Some(Finding::new(CauseRule::MissingPort, Status::Failed, text));
        }
        let own = &self.objects.get(&node.uid)?.assessment;
        let rule = match own.status() {
            Status::Failed => CauseRule::FailedReference,
            Status::Unknown => CauseRule::UnreadReference,
            Status::Current | Status::InProgress | Status::Terminating | Status::NotFound => {
                return None;
            }
        };
        let text = format!("{named}: {}", own.verdict.message);
        Some(Finding::new(rule, own.status(), text))
    }

    /// The Services that a slice or a Pod belongs to.
    pub(super) fn services_of(&self, uid: &Uid) -> Vec<Uid> {
        let services = self.graph.services_of(uid).into_iter();
        services.map(|service| service.uid.clone()).collect()
    }

    fn is_there(&self, uid: &Uid) -> bool {
        let object = self.objects.get(uid);
        object.is_some_and(|object| object.departure.is_none())
    }

    pub(super) fn cluster_of(&self, uid: &Uid) -> Option<&ClusterId> {
        self.objects.get(uid)?.cluster()
    }
}

fn absent(reference: &Reference) -> Finding {
    let status = match reference.relation.if_absent {
        IfAbsent::Fails => Status::Failed,
        IfAbsent::Delays => Status::InProgress,
    };
    let text = format!("{reference} does not exist");
    Finding::new(CauseRule::MissingReference, status, text)
}

/// An object is never called well for lack of rights.
fn unseen(reference: &Reference) -> Option<Finding> {
    (reference.relation.tier == Tier::Always).then(|| {
        let text = format!("{reference} cannot be read");
        Finding::new(CauseRule::UnreadReference, Status::Unknown, text)
    })
}
