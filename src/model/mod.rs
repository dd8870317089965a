//! The live model: the objects of a view's sources, their relations and their states.
//!
//! [`Model::apply`] stores one event. [`Model::refresh`] then assesses all changed objects together. The
//! model is pure: it knows nothing of streams and views, and each call gets the time.

mod coverage;
mod judge;
mod needed;
mod object;
mod service;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::graph::Graph;
use crate::object::{Doc, Uid};
use crate::source::{Event, SourceKey, Version, Why};
use crate::status::{Assessment, Rules, review_at};

use needed::needed;

pub use coverage::{Coverage, Reading};
pub use object::ModelObject;

/// How long the model keeps an object that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// Until the next refresh.
    None,
    /// For this long, and as long as any of its dependents is there.
    For(SignedDuration),
}

/// The objects of some sources, their relations and their states.
#[derive(Debug)]
pub struct Model {
    rules: Rules,
    retention: Retention,
    coverage: Coverage,
    graph: Graph,
    objects: BTreeMap<Uid, ModelObject>,
    /// The objects that changed since the last refresh.
    changed: BTreeSet<Uid>,
    /// Whether a source that may show a named object was read, or could not be read, since the last refresh.
    has_news_of_sources: bool,
    /// When to assess objects again without an event.
    reviews: BTreeSet<(Timestamp, Uid)>,
    /// The objects that are gone and still kept.
    departed: BTreeSet<Uid>,
}

impl Model {
    /// A model without objects that assesses them by `rules`.
    pub fn new(rules: Rules, retention: Retention) -> Model {
        Model {
            rules,
            retention,
            coverage: Coverage::default(),
            graph: Graph::default(),
            objects: BTreeMap::new(),
            changed: BTreeSet::new(),
            has_news_of_sources: false,
            reviews: BTreeSet::new(),
            departed: BTreeSet::new(),
        }
    }

    /// Replaces the sources that the model follows. Objects of the old sources stay until all new sources are
    /// read, because a new selector usually finds them again.
    pub fn follow(&mut self, sources: Vec<SourceKey>) {
        self.coverage.follow(sources);
    }

    /// The sources that the model follows, and how much of each has been read.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The relations of the objects, as of the last refresh.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The object with this uid.
    pub fn object(&self, uid: &Uid) -> Option<&ModelObject> {
        self.objects.get(uid)
    }

    /// Every object, by uid.
    pub fn objects(&self) -> impl Iterator<Item = (&Uid, &ModelObject)> {
        self.objects.iter()
    }

    /// The newest version of an object, parsed. `None` if the object is gone or does not parse.
    pub fn doc(&self, uid: &Uid) -> Option<Doc> {
        self.objects.get(uid)?.version()?.doc().ok()
    }

    /// Whether no event has changed an assessment since the last refresh.
    pub fn is_fresh(&self) -> bool {
        self.changed.is_empty() && !self.has_news_of_sources
    }

    /// Applies one event. Events of sources that the model does not follow change nothing.
    pub fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        if !self.coverage.apply(source, event) {
            return;
        }
        let Event::Object {
            why, now: version, ..
        } = event
        else {
            let tells_of_source = matches!(event, Event::Synced { .. } | Event::State(_));
            let has_neighbours = self.graph.all_referrers().next().is_some()
                || self.graph.services().next().is_some();
            self.has_news_of_sources |= tells_of_source && has_neighbours;
            return;
        };
        if !why.is_gone() {
            return self.put(source, version, *why);
        }
        let uid = version.object.identity();
        if let Some(object) = self.objects.get_mut(&uid) {
            object.lose(source, *why, now);
            if object.departure.is_some() {
                self.departed.insert(uid.clone());
            }
            self.changed.insert(uid);
        }
    }

    fn put(&mut self, source: &Arc<SourceKey>, version: &Arc<Version>, why: Why) {
        let uid = version.object.identity();
        let new = || ModelObject::new(version.object.clone(), why != Why::Listed);
        let object = self.objects.entry(uid.clone()).or_insert_with(new);
        if object.put(source, version) {
            self.departed.remove(&uid);
            self.changed.insert(uid);
        }
    }
}

impl Model {
    /// Assesses the objects that events or the time have changed since the last call. Returns every object
    /// that may be different now, with its owners, and the removed objects.
    pub fn refresh(&mut self, now: Timestamp) -> BTreeSet<Uid> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.extend(self.take_due(now));
        let mut touched = BTreeSet::new();
        for uid in &changed {
            touched.extend(self.with_owners(uid));
            self.assess(uid, now);
            touched.extend(self.with_owners(uid));
        }
        for uid in self.expired(now) {
            touched.extend(self.with_owners(&uid));
            changed.extend(self.remove(&uid));
        }
        for uid in self.judge(changed, now) {
            touched.extend(self.with_owners(&uid));
        }
        for uid in &touched {
            self.roll_up(uid, now);
        }
        touched
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

    /// An object and all its ancestors.
    fn with_owners(&self, uid: &Uid) -> Vec<Uid> {
        let owners = self.graph.ancestors(uid).into_iter();
        let owners = owners.map(|owner| owner.uid.clone());
        owners.chain([uid.clone()]).collect()
    }

    fn assess(&mut self, uid: &Uid, now: Timestamp) {
        let Some(object) = self.objects.get_mut(uid) else {
            return;
        };
        if let Some(review) = object.review.take() {
            self.reviews.remove(&(review, uid.clone()));
        }
        let assessment = match (object.departure, object.version()) {
            (Some((how, _)), _) => Assessment::departed(how),
            (None, None) => return,
            (None, Some(version)) => match version.doc() {
                Err(error) => Assessment::unreadable(&error),
                Ok(doc) => {
                    self.graph.apply_as(&object.object, doc.root());
                    object.review = review_at(doc.root(), now);
                    let review = object.review.map(|review| (review, uid.clone()));
                    self.reviews.extend(review);
                    let assessment = Assessment::of(doc.root(), now, self.rules);
                    // kstatus looks at no other object.
                    if self.rules == Rules::Spy {
                        let references = needed(doc.root(), &assessment, now);
                        self.graph.refer(uid, references);
                    }
                    assessment
                }
            },
        };
        object.own = assessment;
        object.drop_tape();
    }

    /// Computes the worst state among the dependents of an object's current revision.
    fn roll_up(&mut self, uid: &Uid, now: Timestamp) {
        let dependents = self.graph.current_dependents(uid).into_iter();
        let worst = dependents
            .filter_map(|dependent| self.objects.get(&dependent))
            .filter(|object| object.departure.is_none())
            .map(|object| object.assessment.status())
            .max();
        if let Some(object) = self.objects.get_mut(uid) {
            object.take_worst(worst, now);
        }
    }

    /// The objects to remove: those that have been gone for long enough and, once all sources are read, those
    /// that no followed source shows.
    fn expired(&mut self, now: Timestamp) -> Vec<Uid> {
        let mut expired: Vec<Uid> = self.departed.iter().cloned().collect();
        expired.retain(|uid| self.has_expired(uid, now));
        if self.coverage.take_replaced() {
            for (uid, object) in &mut self.objects {
                object.retain_sources(|source| self.coverage.follows(source));
                if object.version().is_none() && object.departure.is_none() {
                    expired.push(uid.clone());
                }
            }
        }
        expired
    }

    fn has_expired(&self, uid: &Uid, now: Timestamp) -> bool {
        let departure = self.objects.get(uid).and_then(|object| object.departure);
        match (self.retention, departure) {
            (Retention::For(time), Some((_, at))) => {
                now.duration_since(at) >= time && !self.owns_any(uid)
            }
            (Retention::None, _) | (_, None) => true,
        }
    }

    /// Whether any dependent of the object is there.
    fn owns_any(&self, uid: &Uid) -> bool {
        let mut below = self.graph.tree(uid).into_iter().map(|(_, below)| below);
        below.any(|below| {
            let object = self.objects.get(&below);
            below != *uid && object.is_some_and(|object| object.departure.is_none())
        })
    }

    /// Removes an object. Returns the objects to judge again: those that name it, and its Services.
    fn remove(&mut self, uid: &Uid) -> Vec<Uid> {
        self.departed.remove(uid);
        let mut around = self.services_of(uid);
        self.graph.delete(uid);
        let Some(object) = self.objects.remove(uid) else {
            return around;
        };
        if let Some(review) = object.review {
            self.reviews.remove(&(review, uid.clone()));
        }
        around.extend(self.graph.referrers(&object.object).cloned());
        around
    }
}
