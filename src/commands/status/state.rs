//! `StatusState`: the requested objects, and the live model of them and their dependents.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::{Model, Reading, Retention};
use crate::object::Uid;
use crate::source::{Event, SourceKey, Why};
use crate::status::{Assessment, RolloutCounts, Rules, Status};

/// How long the row of a deleted object stays.
const RETENTION: SignedDuration = SignedDuration::from_secs(5);

/// How many of the objects that other objects name are read. Each costs a list and a watch.
const MAX_REFERENCES: usize = 24;

/// If sources without a name show more objects than this, the dependents of these objects are not followed.
/// Each object costs a list and a watch for every kind of dependents.
pub(super) const MAX_EXPANDED: usize = 8;

/// The requested objects and their dependents.
#[derive(Debug)]
pub(super) struct StatusState {
    pub(super) model: Model,
    requested: Vec<SourceKey>,
    roots: BTreeMap<Uid, Root>,
    /// The sources of the objects that decide the states of others.
    neighbours: Vec<SourceKey>,
    /// Whether the roots, their dependents or their references have changed since the last plan.
    is_plan_old: bool,
    /// Whether the dependents of some roots are hidden.
    pub(super) hides_dependents: bool,
    /// The start of the watch.
    pub(super) started: Timestamp,
    /// When an object last changed. The first listing does not count.
    pub(super) last: Option<Timestamp>,
    pub(super) not_found: Assessment,
    pub(super) unread: Assessment,
}

/// A requested object.
#[derive(Debug)]
struct Root {
    /// The index of the first requested source that showed it.
    requested: usize,
    /// The sources of its dependents.
    dependents: Vec<SourceKey>,
}

impl StatusState {
    /// The state before any event.
    pub(super) fn new(requested: Vec<SourceKey>, rules: Rules, started: Timestamp) -> StatusState {
        let mut model = Model::new(rules, Retention::For(RETENTION));
        model.follow(requested);
        StatusState {
            requested: model.coverage().sources().cloned().collect(),
            model,
            roots: BTreeMap::new(),
            neighbours: Vec::new(),
            is_plan_old: false,
            hides_dependents: false,
            started,
            last: None,
            not_found: Assessment::not_found(),
            unread: Assessment::unread(),
        }
    }

    /// The same state for a file. An object that is not in it may exist.
    pub(super) fn of_excerpt(self) -> StatusState {
        StatusState {
            model: self.model.of_excerpt(),
            ..self
        }
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.model.apply(source, event, now);
        let Event::Object {
            why,
            seen,
            now: version,
            ..
        } = event
        else {
            return;
        };
        if *why != Why::Listed {
            self.last = Some(*seen);
        }
        if let Some(requested) = self
            .requested
            .iter()
            .position(|requested| *requested == **source)
            && !why.is_gone()
        {
            self.add_root(version.object.identity(), requested);
        }
    }

    fn add_root(&mut self, uid: Uid, requested: usize) {
        if let Entry::Vacant(entry) = self.roots.entry(uid) {
            // Another root counts towards the limit, even if it has no dependents.
            self.is_plan_old = true;
            entry.insert(Root {
                requested,
                dependents: Vec::new(),
            });
        }
    }

    /// Applies the changes since the last call. Returns whether anything has changed.
    pub(super) fn refresh(&mut self, now: Timestamp) -> bool {
        let touched = self.model.refresh(now);
        self.update_roots(&touched);
        let mut neighbours = self.model.service_sources();
        neighbours.extend(self.model.reference_sources(MAX_REFERENCES));
        self.is_plan_old |= neighbours != self.neighbours;
        self.neighbours = neighbours;
        if std::mem::take(&mut self.is_plan_old) {
            self.follow_dependents();
            self.model.refresh(now);
        }
        !touched.is_empty()
    }

    /// Updates the sources for the dependents of these objects.
    fn update_roots(&mut self, touched: &BTreeSet<Uid>) {
        for uid in touched {
            if self.model.object(uid).is_none() {
                self.is_plan_old |= self.roots.remove(uid).is_some();
            }
            if let Some(root) = self.roots.get_mut(uid)
                && let Some(node) = self.model.graph().node(uid)
            {
                let dependents = node.dependent_sources(&self.requested[root.requested].cluster);
                self.is_plan_old |= dependents != root.dependents;
                root.dependents = dependents;
            }
        }
    }

    /// Follows the dependents of the roots, unless there are too many roots.
    fn follow_dependents(&mut self) {
        let is_wide = |root: &Root| !is_name(&self.requested[root.requested]);
        let is_many = self.roots.values().filter(|root| is_wide(root)).count() > MAX_EXPANDED;
        let owners = self
            .roots
            .values()
            .filter(|root| !root.dependents.is_empty());
        let (flat, followed): (Vec<&Root>, Vec<&Root>) =
            owners.partition(|root| is_many && is_wide(root));
        self.hides_dependents = !flat.is_empty();
        let dependents = followed.into_iter().flat_map(|root| &root.dependents);
        let sources = self.requested.iter().chain(dependents);
        let sources = sources.chain(&self.neighbours).cloned().collect();
        self.model.follow(sources);
    }
}

impl StatusState {
    /// The requested sources.
    pub(super) fn requested(&self) -> &[SourceKey] {
        &self.requested
    }

    /// The requested objects that have been there, each with the index of its source.
    pub(super) fn roots(&self) -> impl Iterator<Item = (&Uid, usize)> {
        self.roots.iter().map(|(uid, root)| (uid, root.requested))
    }

    /// Whether the object was requested, by name or not.
    pub(super) fn is_root(&self, uid: &Uid) -> bool {
        self.roots.contains_key(uid)
    }

    /// Whether the object was requested by name.
    pub(super) fn is_named(&self, uid: &Uid) -> bool {
        let root = self.roots.get(uid);
        root.is_some_and(|root| is_name(&self.requested[root.requested]))
    }

    /// The progress of the rollout of an object.
    pub(super) fn rollout(&self, uid: &Uid) -> Option<RolloutCounts> {
        RolloutCounts::of(self.model.doc(uid)?.root())
    }

    /// Whether every source has been read or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        self.model.is_fresh() && self.model.coverage().is_settled()
    }

    /// Whether there is something to show: every source has answered, or does not answer.
    pub(super) fn is_presentable(&self) -> bool {
        self.model.is_fresh() && self.model.coverage().has_answers()
    }

    /// Whether no objects of the requested types exist. One absent object that was requested by name does not
    /// show that its type has no objects.
    pub(super) fn is_empty(&self) -> bool {
        let is_read = |requested: &SourceKey| self.is_read(requested) && !is_name(requested);
        self.model.objects().next().is_none() && self.requested.iter().all(is_read)
    }

    /// Whether none of the requested sources can be read.
    pub(super) fn is_refused(&self) -> bool {
        let coverage = self.model.coverage();
        let is_refused = |requested| coverage.reading(requested) == Some(&Reading::Refused);
        !self.requested.is_empty() && self.requested.iter().all(is_refused)
    }

    /// The error of a source that has not answered after this many attempts.
    pub(super) fn connection_error(&self, patience: u32) -> Option<Arc<str>> {
        self.model
            .coverage()
            .readings()
            .find_map(|reading| match reading {
                Reading::Retrying { attempts, cause } if *attempts >= patience => {
                    Some(cause.clone())
                }
                _ => None,
            })
    }

    /// The objects that were requested by name and never existed, each with its index. Their sources have
    /// been read.
    pub(super) fn absent(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let nameless = self.without_object();
        nameless.filter(|(_, requested)| self.is_read(requested))
    }

    /// The objects that were requested by name and have not appeared, each with its index.
    pub(super) fn without_object(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let is_there = |index| self.roots.values().any(|root| root.requested == index);
        let requested = self.requested.iter().enumerate();
        requested.filter(move |(index, requested)| is_name(requested) && !is_there(*index))
    }

    /// Whether all requested sources are read, all requested objects exist and are Current, and none of their
    /// dependents has failed. An object that has left a source without a name does not count.
    pub(super) fn is_well(&self) -> bool {
        let is_well = |uid: &Uid, root: &Root| {
            self.model.object(uid).is_none_or(|object| {
                let is_over =
                    object.departure.is_some() && !is_name(&self.requested[root.requested]);
                let has_failed = object.worst == Some(Status::Failed);
                is_over || (object.assessment.is_well() && !has_failed)
            })
        };
        self.requested
            .iter()
            .all(|requested| self.is_read(requested))
            && self.absent().next().is_none()
            && self.roots.iter().all(|(uid, root)| is_well(uid, root))
    }

    /// Whether a source has been read.
    pub(super) fn is_read(&self, source: &SourceKey) -> bool {
        self.model.coverage().is_read(source)
    }
}

/// Whether a source selects one name.
fn is_name(source: &SourceKey) -> bool {
    source.select.name().is_some()
}
