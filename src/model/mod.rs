//! The live model: the objects of a view's sources, their relations and their states.
//!
//! [`Model::apply`] stores one event. [`Model::refresh`] then assesses all changed objects together. The
//! model is pure: it knows nothing of streams and views, and each call gets the time.

mod coverage;
mod departed;
mod judge;
mod needed;
mod object;
mod roll_up;
mod service;
#[cfg(test)]
mod tests;

use std::collections::btree_map::Entry;
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
    /// Whether an object that no source has does not exist.
    knows_absence: bool,
    coverage: Coverage,
    graph: Graph,
    objects: BTreeMap<Uid, ModelObject>,
    /// The objects that changed since the last refresh.
    changed: BTreeSet<Uid>,
    /// Whether a source that may show a named object was read, or could not be read, since the last refresh.
    has_news_of_sources: bool,
    /// The objects whose states so far are no changes: they were listed, and their neighbours were not read yet.
    listed: BTreeSet<Uid>,
    /// Whether every source had answered at the end of the last refresh.
    was_settled: bool,
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
            knows_absence: true,
            coverage: Coverage::default(),
            graph: Graph::default(),
            objects: BTreeMap::new(),
            changed: BTreeSet::new(),
            has_news_of_sources: false,
            listed: BTreeSet::new(),
            was_settled: false,
            reviews: BTreeSet::new(),
            departed: BTreeSet::new(),
        }
    }

    /// The same model for an excerpt of a cluster, such as a file. An object that is not in it may exist.
    #[must_use]
    pub fn of_excerpt(self) -> Model {
        Model {
            knows_absence: false,
            ..self
        }
    }

    /// Replaces the sources that the model follows. Objects of the old sources stay until all new sources are
    /// read, because a new selector usually finds them again.
    pub fn follow(&mut self, sources: Vec<SourceKey>) {
        self.coverage.follow(sources);
        self.was_settled &= self.coverage.has_answers();
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
        let object = match self.objects.entry(uid.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                if why == Why::Listed {
                    self.listed.insert(uid.clone());
                }
                entry.insert(ModelObject::new(version.object.clone()))
            }
        };
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
        if self.was_settled {
            self.listed.clear();
        }
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
        self.was_settled = self.coverage.has_answers();
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

    /// The time of a change of state that happens now; `None` if it does not count as a change.
    fn news(&self, uid: &Uid, now: Timestamp) -> Option<Timestamp> {
        (!self.listed.contains(uid)).then_some(now)
    }
}
