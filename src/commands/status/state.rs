//! `StatusState`: the requested objects, and the live model of them and their dependents.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::absent_members::AbsentMembers;
use super::recent_changes::RecentChanges;
use super::sort_by::Sorting;
use crate::commands::sources::named;
use crate::commands::{CommandError, LastChanges};
use crate::graph::Node;
use crate::model::{Collapsed, Model, Retention, Root};
use crate::object::{PodCounts, Uid};
use crate::source::{Event, SourceKey, Why};
use crate::status::Assessment;

/// How long the row of a deleted object stays.
pub(super) const RETENTION: Retention = Retention::For(SignedDuration::from_secs(5));

/// The requested objects and their dependents.
#[derive(Debug)]
pub(super) struct StatusState {
    pub(super) model: Model,
    pub(super) recent: RecentChanges,
    /// The start of the watch.
    pub(super) started: Timestamp,
    /// When an object last changed. The first listing does not count.
    pub(super) last: Option<Timestamp>,
    pub(super) not_found: Arc<Assessment>,
    pub(super) unread: Arc<Assessment>,
    pub(super) absent_members: AbsentMembers,
    /// The field that orders the requested objects; `None`: the worst come first.
    pub(super) sorting: Option<Sorting>,
    /// What changed before requested objects failed; `None` without a look-back.
    pub(super) last_changes: Option<LastChanges>,
}

impl StatusState {
    /// The state before any event.
    pub(super) fn new(model: Model, requested: Vec<SourceKey>, started: Timestamp) -> StatusState {
        let mut model = model;
        model.request(requested);
        StatusState {
            model,
            recent: RecentChanges::default(),
            started,
            last: None,
            not_found: Arc::new(Assessment::not_found()),
            unread: Arc::new(Assessment::unread()),
            absent_members: AbsentMembers::default(),
            sorting: None,
            last_changes: None,
        }
    }

    /// The same state, which also looks up what changed before an object failed.
    pub(super) fn looking_back(self, last_changes: LastChanges) -> StatusState {
        StatusState {
            last_changes: Some(last_changes),
            ..self
        }
    }

    /// Looks up what changed before requested objects failed. Returns whether look-ups are on their way.
    pub(super) fn look_back(&mut self, now: Timestamp) -> bool {
        let Some(last_changes) = &mut self.last_changes else {
            return false;
        };
        // A change of a dependent is its owner's, or its controller's. What a custom resource owns may have changes of its own.
        let graph = self.model.graph();
        let roots = self.model.roots();
        let is_named = |uid: &Uid| roots.get(uid).is_some_and(Root::is_named);
        let is_well = |uid: &Uid| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.assessment.is_well())
        };
        let objects = roots.named_or_unwell();
        let is_free = |uid: &Uid| graph.owners(uid).all(Node::is_custom);
        let objects = objects.filter(|uid| is_named(uid) || is_free(uid));
        let is_listed = |uid: &Uid| roots.get(uid).is_some_and(|root| !root.is_named());
        let sets = graph.of_kind("DaemonSet").map(|set| set.uid.clone());
        let objects = objects.chain(sets.filter(|uid| is_listed(uid) && is_well(uid)));
        last_changes.look_up(&self.model, objects, now);
        last_changes.is_busy()
    }

    /// The error if objects exist and none has the field to sort by.
    pub(super) fn sort_error(&self) -> Option<CommandError> {
        self.sorting.as_ref()?.error(&self.model)
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.model.apply(source, event, now);
        if let Event::Object { why, seen, .. } = event
            && *why != Why::Listed
        {
            self.last = Some(*seen);
        }
    }

    /// Applies the changes since the last call. Returns whether anything has changed.
    pub(super) fn refresh(&mut self, now: Timestamp) -> bool {
        let touched = self.model.step(now, Vec::new());
        let roots = self.model.roots();
        if let Some(sorting) = &mut self.sorting {
            let roots = touched.iter().filter(|uid| roots.get(uid).is_some());
            sorting.update(roots, &self.model);
        }
        let is_news = |uid: &&Uid| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.changed == Some(now))
        };
        let news = touched.iter().filter(is_news).cloned();
        self.recent.add(news, now);
        !touched.is_empty()
    }
}

impl StatusState {
    /// The requested sources.
    pub(super) fn requested(&self) -> &[SourceKey] {
        self.model.requested()
    }

    /// The requested objects that have been there.
    pub(super) fn roots(&self) -> impl Iterator<Item = (&Uid, &Root)> {
        self.model.roots().iter()
    }

    /// The requested object with this uid; `None` if the object was not requested.
    pub(super) fn root(&self, uid: &Uid) -> Option<&Root> {
        self.model.roots().get(uid)
    }

    /// The objects whose dependents are hidden.
    pub(super) fn collapsed(&self) -> Collapsed {
        self.model.roots().collapsed()
    }

    /// The progress of the rollout of an object; `None` for kinds without rollouts.
    pub(super) fn rollout(&self, uid: &Uid) -> Option<PodCounts> {
        PodCounts::of_rollout(self.model.doc(uid)?.root())
    }

    /// Whether every source has been read or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        self.model.is_fresh() && self.model.coverage().is_settled()
    }

    /// Whether no objects of the requested types exist. One absent object that was requested by name does not
    /// show that its type has no objects.
    pub(super) fn is_empty(&self) -> bool {
        let is_read = |requested: &SourceKey| self.is_read(requested) && named(requested).is_none();
        self.model.objects().next().is_none() && self.requested().iter().all(is_read)
    }

    /// The objects that were requested by name and never existed, each with its index. Their sources have
    /// been read.
    pub(super) fn absent(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let nameless = self.without_object();
        nameless.filter(|(_, requested)| self.is_read(requested))
    }

    /// The objects that were requested by name and have not appeared, each with its index.
    pub(super) fn without_object(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let is_there = |index| self.roots().any(|(_, root)| root.place.requested == index);
        let requested = self.requested().iter().enumerate();
        requested.filter(move |(index, requested)| named(requested).is_some() && !is_there(*index))
    }

    /// Whether all requested sources are read, and all requested objects exist and are Current. An object that has left
    /// a source without a name does not count.
    pub(super) fn is_well(&self) -> bool {
        let is_well = |uid: &Uid, root: &Root| {
            self.model.object(uid).is_none_or(|object| {
                let is_over = object.departure.is_some() && !root.is_named();
                is_over || object.assessment.is_well()
            })
        };
        self.requested()
            .iter()
            .all(|requested| self.is_read(requested))
            && self.absent().next().is_none()
            && self.roots().all(|(uid, root)| is_well(uid, root))
    }

    /// Whether a source has been read.
    pub(super) fn is_read(&self, source: &SourceKey) -> bool {
        self.model.coverage().is_read(source)
    }
}
