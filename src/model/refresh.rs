//! Assesses the changed objects of the model.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::Links;
use crate::object::{ObjectRef, Uid};
use crate::source::{Form, printed};
use crate::status::{Assessment, Rules, is_starting, review_at};

use super::Model;
use super::evidence_sources::subject_of;
use super::needed::{is_running_well, needed};
use super::neighbour_rules::daemon_set::looked_at_sets;
use super::neighbour_rules::selects_none::selecting_none;
use super::neighbour_rules::to_judge_again;

impl Model {
    /// Whether there is something to show: every source has answered, or does not answer.
    pub fn is_presentable(&self) -> bool {
        self.is_fresh() && self.store.coverage.has_answers()
    }

    /// Assesses the objects that events or the time have changed since the last call. Returns every object
    /// that may be different now, with its owners, and the removed objects.
    pub fn refresh(&mut self, now: Timestamp) -> BTreeSet<Uid> {
        if self.was_settled {
            self.listed.clear();
        }
        self.store.refreshed = now;
        let mut changed = std::mem::take(&mut self.changed);
        changed.extend(self.take_due(now));
        // Owners before and after.
        let mut touched = self.store.graph.with_above(&changed);
        let links = changed.iter().filter_map(|uid| {
            let links = self.assess(uid, now)?;
            Some((uid.clone(), links))
        });
        let links: Vec<(Uid, Links)> = links.collect();
        self.store.graph.link(links);
        touched.extend(self.store.graph.with_above(&changed));
        let expired = self.expired(now);
        touched.extend(self.store.graph.with_above(&expired));
        for uid in &expired {
            changed.extend(self.remove(uid));
        }
        changed.extend(self.take_explained());
        changed.extend(to_judge_again(self.around(), &touched));
        let judged = self.judge(changed, now);
        touched.extend(self.store.graph.with_above(&judged));
        for group in self.store.graph.bottom_up(&touched) {
            self.roll_up(&group, now);
            for uid in &group {
                self.note_health(uid);
            }
        }
        self.was_settled = self.store.coverage.has_answers();
        touched
    }

    /// The objects with new evidence. Warnings about unknown objects are kept for a while.
    fn take_explained(&mut self) -> BTreeSet<Uid> {
        let news = std::mem::take(&mut self.store.evidence.news);
        let mut explained = news.about;
        if news.has_labels {
            explained.extend(self.store.unwell.iter().cloned());
            let looked_at = selecting_none(self.around()).chain(looked_at_sets(self.around()));
            explained.extend(looked_at.map(|node| node.uid.clone()));
        }
        if news.has_unknown_subjects {
            let nodes = self.store.graph.of_kind("Node");
            let nodes: BTreeSet<Arc<str>> = nodes.map(|node| node.object.name.clone()).collect();
            let around = self.around();
            let is_known = |about: &ObjectRef| {
                let is_node = &*about.kind == "Node" && nodes.contains(&about.name);
                is_node || subject_of(around, about).is_some()
            };
            let unknown = self.store.evidence.unknown_subjects(is_known);
            self.store.evidence.forget(&unknown);
        }
        explained
    }

    /// The objects that are due for a review by now.
    fn take_due(&mut self, now: Timestamp) -> Vec<Uid> {
        let mut due = Vec::new();
        while let Some((at, uid)) = self.reviews.pop_first() {
            if at > now {
                self.reviews.insert((at, uid));
                break;
            }
            due.push(uid);
        }
        due
    }

    /// Assesses an object alone. Returns its links, if it could be read.
    fn assess(&mut self, uid: &Uid, now: Timestamp) -> Option<Links> {
        let object = self.store.by_uid.get_mut(uid)?;
        let mut links = None;
        if let Some(review) = object.review.take() {
            self.reviews.remove(&(review, uid.clone()));
        }
        let assessment = match (object.departure, object.version()) {
            (Some((how, _)), _) => Assessment::departed(how),
            (None, None) => return None,
            (None, Some(version)) => match version.doc() {
                Err(error) => Assessment::unreadable(&error),
                Ok(doc) => {
                    self.store
                        .graph
                        .apply_in(object.form(), &object.object, doc.root());
                    object.is_starting = is_starting(doc.root(), now);
                    object.printed = printed(doc.root());
                    object.review = review_at(doc.root(), now);
                    let review = object.review.map(|review| (review, uid.clone()));
                    self.reviews.extend(review);
                    let mut assessment = Assessment::of(doc.root(), now, self.store.rules);
                    // kstatus looks at no other object.
                    if self.store.rules == Rules::Spy {
                        if object.form() != Form::Metadata
                            && self.store.types.has_status(&object.object)
                        {
                            assessment = assessment.expecting_status(doc.root());
                        }
                        object.needs = needed(doc.root(), &assessment, now);
                        if is_running_well(doc.root(), &assessment) {
                            object.needs = self.store.needs_of_well_pods;
                        }
                        let upto = object.needs.max(self.store.links_upto);
                        links = Some(Links::of(doc.root(), upto, &self.store.types));
                    }
                    assessment
                }
            },
        };
        object.own = Arc::new(assessment);
        object.drop_tape();
        self.share_with_sibling(uid);
        links
    }

    /// Lets an object share the memory of its assessment with an equal sibling. Most Pods are alike.
    fn share_with_sibling(&mut self, uid: &Uid) {
        let (Some(node), Some(object)) = (self.store.graph.node(uid), self.object(uid)) else {
            return;
        };
        let siblings = self.store.graph.siblings(node);
        let mut siblings = siblings.filter_map(|sibling| self.object(&sibling.uid));
        let own =
            siblings.find_map(|sibling| (sibling.own == object.own).then(|| sibling.own.clone()));
        if let (Some(own), Some(object)) = (own, self.store.by_uid.get_mut(uid)) {
            object.own = own;
        }
    }

    /// The time of a change of state that happens now; `None` if it does not count as a change.
    pub(super) fn news(&self, uid: &Uid, now: Timestamp) -> Option<Timestamp> {
        (!self.listed.contains(uid)).then_some(now)
    }
}
