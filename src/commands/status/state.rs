//! The state of `status`: what was asked for, and the live model of it and of what it owns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::model::{Farewell, Model, Reading};
use crate::object::Uid;
use crate::source::{Event, SourceKey, Why};
use crate::status::{Assessment, RolloutCounts, Rules, Status};

/// How long the row of an object that is gone is still shown.
const FAREWELL: SignedDuration = SignedDuration::from_secs(5);

/// How many objects of sources without a name may have their dependents followed. Each costs a list and a watch for
/// every kind of them.
pub(super) const TREES: usize = 8;

/// The objects that were asked for and what they own.
#[derive(Debug)]
pub(super) struct StatusState {
    pub(super) model: Model,
    asked: Vec<SourceKey>,
    roots: BTreeMap<Uid, Root>,
    /// Whether the roots or their dependents have changed since the last plan.
    is_plan_old: bool,
    /// Whether there are roots whose dependents are not followed.
    pub(super) is_flat: bool,
    /// Since when it is watched.
    pub(super) started: Timestamp,
    /// When an object last changed. What was there at the start does not count.
    pub(super) last: Option<Timestamp>,
    pub(super) not_found: Assessment,
    pub(super) unread: Assessment,
}

/// An object that was asked for.
#[derive(Debug)]
struct Root {
    /// The index of the first source asked for that has shown it.
    asked: usize,
    /// The sources of what it owns.
    dependents: Vec<SourceKey>,
}

impl StatusState {
    /// The state before anything of these sources is known.
    pub(super) fn new(asked: Vec<SourceKey>, rules: Rules, started: Timestamp) -> StatusState {
        let mut model = Model::new(rules, Farewell::For(FAREWELL));
        model.follow(asked);
        StatusState {
            asked: model.coverage().sources().cloned().collect(),
            model,
            roots: BTreeMap::new(),
            is_plan_old: false,
            is_flat: false,
            started,
            last: None,
            not_found: Assessment::not_found(),
            unread: Assessment::unread(),
        }
    }

    /// Takes one event.
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
        if let Some(asked) = self.asked.iter().position(|asked| *asked == **source)
            && !why.is_gone()
        {
            let root = Root {
                asked,
                dependents: Vec::new(),
            };
            self.roots.entry(version.object.identity()).or_insert(root);
        }
    }

    /// Works out what has changed since the last call. Returns whether anything has.
    pub(super) fn refresh(&mut self, now: Timestamp) -> bool {
        let touched = self.model.refresh(now);
        self.update_roots(&touched);
        if std::mem::take(&mut self.is_plan_old) {
            self.follow_dependents();
            self.model.refresh(now);
        }
        !touched.is_empty()
    }

    /// Looks up again what these objects own.
    fn update_roots(&mut self, touched: &BTreeSet<Uid>) {
        for uid in touched {
            if self.model.object(uid).is_none() {
                self.is_plan_old |= self.roots.remove(uid).is_some();
            }
            if let Some(root) = self.roots.get_mut(uid)
                && let Some(node) = self.model.graph().node(uid)
            {
                let dependents = node.dependent_sources(&self.asked[root.asked].cluster);
                self.is_plan_old |= dependents != root.dependents;
                root.dependents = dependents;
            }
        }
    }

    /// Follows what the roots own, unless there are too many of them.
    fn follow_dependents(&mut self) {
        let is_wide = |root: &Root| !is_name(&self.asked[root.asked]);
        let is_many = self.roots.values().filter(|root| is_wide(root)).count() > TREES;
        let owners = self
            .roots
            .values()
            .filter(|root| !root.dependents.is_empty());
        let (flat, followed): (Vec<&Root>, Vec<&Root>) =
            owners.partition(|root| is_many && is_wide(root));
        self.is_flat = !flat.is_empty();
        let dependents = followed.into_iter().flat_map(|root| &root.dependents);
        let sources = self.asked.iter().chain(dependents).cloned().collect();
        self.model.follow(sources);
    }
}

impl StatusState {
    /// The sources that were asked for.
    pub(super) fn asked(&self) -> &[SourceKey] {
        &self.asked
    }

    /// The objects that were asked for and have been there, each with the index of its source.
    pub(super) fn roots(&self) -> impl Iterator<Item = (&Uid, usize)> {
        self.roots.iter().map(|(uid, root)| (uid, root.asked))
    }

    /// Whether an object was asked for, in whatever way.
    pub(super) fn is_root(&self, uid: &Uid) -> bool {
        self.roots.contains_key(uid)
    }

    /// Whether an object was asked for by its name.
    pub(super) fn is_named(&self, uid: &Uid) -> bool {
        let root = self.roots.get(uid);
        root.is_some_and(|root| is_name(&self.asked[root.asked]))
    }

    /// How far the rollout of an object is.
    pub(super) fn rollout(&self, uid: &Uid) -> Option<RolloutCounts> {
        RolloutCounts::of(self.model.doc(uid)?.root())
    }

    /// Whether every source has been read or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        self.model.is_fresh() && self.model.coverage().is_settled()
    }

    /// Whether what is known can be shown: every source has answered, or does not answer.
    pub(super) fn is_presentable(&self) -> bool {
        self.model.is_fresh() && self.model.coverage().has_answers()
    }

    /// Whether there are no objects of the types that were asked for. That one named object is absent says nothing
    /// about its type.
    pub(super) fn is_empty(&self) -> bool {
        let is_read = |asked: &SourceKey| self.is_read(asked) && !is_name(asked);
        self.model.objects().next().is_none() && self.asked.iter().all(is_read)
    }

    /// Whether nothing that was asked for can be read.
    pub(super) fn is_refused(&self) -> bool {
        let coverage = self.model.coverage();
        let is_refused = |asked| coverage.reading(asked) == Some(&Reading::Refused);
        !self.asked.is_empty() && self.asked.iter().all(is_refused)
    }

    /// The error of a source that does not answer after this many attempts.
    pub(super) fn silence(&self, patience: u32) -> Option<Arc<str>> {
        self.model
            .coverage()
            .readings()
            .find_map(|reading| match reading {
                Reading::Silent { attempts, cause } if *attempts >= patience => Some(cause.clone()),
                _ => None,
            })
    }

    /// The objects that were asked for by name and were never there, each with its index. Their sources have
    /// been read.
    pub(super) fn absent(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let nameless = self.without_object();
        nameless.filter(|(_, asked)| self.is_read(asked))
    }

    /// The named objects of which nothing has been seen, each with its index.
    pub(super) fn without_object(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let is_there = |index| self.roots.values().any(|root| root.asked == index);
        let asked = self.asked.iter().enumerate();
        asked.filter(move |(index, asked)| is_name(asked) && !is_there(*index))
    }

    /// Whether all that was asked for is read, there and Current, and nothing that it owns has failed. An object
    /// that a source without a name no longer has does not count.
    pub(super) fn is_well(&self) -> bool {
        let is_well = |uid: &Uid, root: &Root| {
            self.model.object(uid).is_none_or(|object| {
                let is_over = object.departure.is_some() && !is_name(&self.asked[root.asked]);
                let has_failed = object.worst == Some(Status::Failed);
                is_over || (object.assessment.is_well() && !has_failed)
            })
        };
        self.asked.iter().all(|asked| self.is_read(asked))
            && self.absent().next().is_none()
            && self.roots.iter().all(|(uid, root)| is_well(uid, root))
    }

    /// Whether a source has been read.
    pub(super) fn is_read(&self, source: &SourceKey) -> bool {
        self.model.coverage().is_read(source)
    }
}

/// Whether a source is about one object.
fn is_name(source: &SourceKey) -> bool {
    source.select.name().is_some()
}
