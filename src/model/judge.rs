//! Judges objects with those around them: one that does not exist, or that does not work, is a problem of the objects that
//! need it, and the dependents of an object decide whether it works.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::Node;
use crate::object::{EventFacts, Uid};
use crate::status::{Finding, Rules, Status};

use super::around::Around;
use super::object::{ModelObject, Parts, Surroundings};
use super::objects::Objects;
use super::rules::dependents::problems_of_dependents;
use super::rules::{facts, findings};

/// The most rounds of judging in one refresh. Without it, objects that name each other would never end.
const MAX_ROUNDS: usize = 8;

/// Judges objects, and the objects that name them, again. Returns those with another assessment.
pub(super) fn judge(
    objects: &mut Objects,
    changed: BTreeSet<Uid>,
    now: Timestamp,
) -> BTreeSet<Uid> {
    let mut due = changed;
    if std::mem::take(&mut objects.has_news_of_sources) {
        due.extend(objects.graph.all_referrers().cloned());
        let services = objects.graph.services();
        due.extend(services.map(|service| service.uid.clone()));
        let ingresses = objects.graph.of_kind("Ingress");
        due.extend(ingresses.map(|ingress| ingress.uid.clone()));
    }
    let served: Vec<Uid> = due
        .iter()
        .flat_map(|uid| services_of(Around::of(objects), uid))
        .collect();
    due.extend(served);
    let mut others = BTreeSet::new();
    for round in 0..MAX_ROUNDS {
        let mut next = BTreeSet::new();
        for uid in due {
            let (around, news) = (
                surroundings(Around::of(objects), &uid),
                objects.news(&uid, now),
            );
            let Some(object) = objects.by_uid.get_mut(&uid) else {
                continue;
            };
            let is_other = object.take_surroundings(around, news);
            // An object that appears or goes matters to those that name it, whatever its state.
            if is_other || round == 0 {
                next.extend(objects.graph.referrers(&object.object).cloned());
            }
            if is_other {
                objects.state_changes += 1;
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

/// Judges objects by the dependents of their current revisions. Each of several objects is above the others.
pub(super) fn roll_up(objects: &mut Objects, group: &BTreeSet<Uid>, now: Timestamp) {
    for uid in group {
        let node = objects.graph.node(uid);
        let node = node.filter(|_| objects.rules == Rules::Spy);
        let problems = node.map(|node| problems_of_dependents(Around::of(objects), node));
        let around = surroundings(Around::of(objects), uid);
        let news = objects.news(uid, now);
        if let Some(object) = objects.by_uid.get_mut(uid) {
            object.pod_problems = problems.unwrap_or_default();
            objects.state_changes += u64::from(object.take_surroundings(around, news));
        }
    }
    let Below { worst, parts, .. } = below(Around::of(objects), group);
    let parts = (parts != Parts::default()).then(|| Box::new(parts));
    for uid in group {
        let news = objects.news(uid, now);
        if let Some(object) = objects.by_uid.get_mut(uid) {
            objects.state_changes += u64::from(object.take_worst(worst, news));
            object.parts.clone_from(&parts);
        }
    }
}

/// What is known around an object.
pub(in crate::model) fn surroundings(around: Around<'_>, uid: &Uid) -> Surroundings {
    let object = around.object(uid).filter(|_| around.rules() == Rules::Spy);
    let Some(object) = object else {
        return Surroundings::default();
    };
    let node = around.graph().node(uid);
    let findings = node.map_or_else(Vec::new, |node| findings(around, node));
    let is_problem = |finding: &Finding| finding.status != Status::Current;
    let is_well = object.own.is_well() && !findings.iter().any(is_problem);
    Surroundings {
        facts: match node {
            Some(node) if !is_well => facts(around, node, &findings),
            _ => Vec::new(),
        },
        warnings: warnings(around, object),
        findings,
    }
}

/// The warnings about an object. Those of the scheduler explain nothing once a Pod has its node, and one that misses an object
/// does not once that exists.
fn warnings(around: Around<'_>, object: &ModelObject) -> Vec<Arc<EventFacts>> {
    let mut warnings = around.evidence().warnings(&object.object);
    let node = around.graph().node(&object.object.identity());
    if node.is_some_and(Node::is_placed) {
        warnings.retain(|warning| &*warning.reason != "FailedScheduling");
    }
    warnings.retain(|warning| {
        let missing = warning.missing();
        !missing.is_some_and(|missing| exists_now(around, &object.object.identity(), missing))
    });
    warnings
}

/// Whether an object names one of this type, such as `storageclass.storage.k8s.io` or `secrets`, and of this name, and that
/// one exists.
fn exists_now(around: Around<'_>, referrer: &Uid, [resource, name]: [&str; 2]) -> bool {
    let word = resource.split('.').next().unwrap_or_default();
    let mut references = around.graph().references_of(referrer).iter();
    references.any(|reference| {
        let target = &reference.target;
        let kind = target.kind.kind.to_lowercase();
        let ending = word.strip_prefix(&*kind);
        let is_named =
            *target.name == *name && ending.is_some_and(|it| ["", "s", "es"].contains(&it));
        let found = around.graph().referenced(target).filter(|_| is_named);
        found.is_some_and(|found| around.is_there(&found.uid))
    })
}

/// The Services that a slice or a Pod belongs to.
pub(in crate::model) fn services_of(around: Around<'_>, uid: &Uid) -> Vec<Uid> {
    let services = around.graph().services_of(uid).into_iter();
    services.map(|service| service.uid.clone()).collect()
}

/// What is below the objects of a group, as the objects directly below know it.
fn below<'m>(around: Around<'m>, group: &BTreeSet<Uid>) -> Below<'m> {
    let mut below = Below {
        around,
        worst: None,
        parts: Parts::default(),
    };
    for uid in group {
        let is_deployment = around.graph().node(uid);
        let is_deployment = is_deployment.is_some_and(|it| &*it.object.kind == "Deployment");
        for child in around.graph().current_children(uid) {
            // The Deployment may have made another set the current one. What that set found may be old.
            if is_deployment && &*child.object.kind == "ReplicaSet" {
                below.add_one(child);
                for pod in around.graph().current_children(&child.uid) {
                    below.add(pod, group);
                }
            } else {
                below.add(child, group);
            }
        }
    }
    below
}

/// What is below an object.
struct Below<'m> {
    around: Around<'m>,
    worst: Option<Status>,
    parts: Parts,
}

impl Below<'_> {
    /// Adds an object, and what it found below itself unless it is one of the group.
    fn add(&mut self, child: &Node, group: &BTreeSet<Uid>) {
        self.add_one(child);
        let around = self.around;
        let known = around.object(&child.uid);
        if let Some(object) = known.filter(|_| !group.contains(&child.uid)) {
            self.worst = self.worst.max(object.worst);
            let parts = object.parts.iter();
            let parts = parts.flat_map(|parts| parts.late.iter().chain(&parts.failed));
            for part in parts.filter_map(|uid| around.object(uid)) {
                self.add_part(part);
            }
        }
    }

    /// Adds an object alone.
    fn add_one(&mut self, child: &Node) {
        let object = self.around.object(&child.uid);
        if let Some(object) = object.filter(|object| object.departure.is_none()) {
            self.worst = self.worst.max(Some(object.assessment.status()));
            self.add_part(object);
        }
    }

    fn add_part(&mut self, part: &ModelObject) {
        let status = part.assessment.status();
        let is_part = part.departure.is_none() && !self.around.has_ended(part);
        if !is_part || status == Status::Terminating || part.assessment.is_well() {
            return;
        }
        self.parts
            .late
            .get_or_insert_with(|| part.object.identity());
        let recovery = |uid: &Uid| {
            let object = self.around.object(uid);
            object.map(|object| object.assessment.recovery())
        };
        let known = self.parts.failed.as_ref().and_then(recovery);
        if status == Status::Failed && Some(part.assessment.recovery()) >= known {
            self.parts.failed = Some(part.object.identity());
        }
    }
}
