//! `StatusState`: the requested objects, and the live model of them and their dependents.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::absent_members::AbsentMembers;
use super::recent_changes::RecentChanges;
use super::roots::{Collapsed, Rank, RankClock, Root, Roots};
use super::sort_by::Sorting;
use crate::commands::sources::named;
use crate::commands::{CommandError, LastChanges};
use crate::graph::Node;
use crate::model::{JudgementPlan, Model, Retention};
use crate::object::{PodCounts, Uid};
use crate::source::{Event, Scope, Select, SourceKey, Why};
use crate::status::{Assessment, Status};

/// How long the row of a deleted object stays.
pub(super) const RETENTION: Retention = Retention::For(SignedDuration::from_secs(5));

/// The requested objects and their dependents.
#[derive(Debug)]
pub(super) struct StatusState {
    pub(super) model: Model,
    pub(super) requested: Vec<SourceKey>,
    pub(super) roots: Roots,
    pub(super) recent: RecentChanges,
    /// The sources that decide and explain the states of the objects.
    pub(super) plan: JudgementPlan,
    /// The sources of dependents that are followed.
    pub(super) dependents: Vec<SourceKey>,
    /// Whether the roots, their dependents or their references have changed since the last plan.
    pub(super) is_plan_old: bool,
    /// Whether the sources were read once.
    has_loaded: bool,
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
        if requested.iter().all(|key| named(key).is_some()) {
            model = model.of_few();
        }
        model.follow(requested);
        let requested: Vec<SourceKey> = model.coverage().sources().cloned().collect();
        let is_everywhere =
            |key: &SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
        StatusState {
            roots: Roots::new(requested.len() > 1 && requested.iter().any(is_everywhere)),
            requested,
            model,
            recent: RecentChanges::default(),
            plan: JudgementPlan::default(),
            dependents: Vec::new(),
            is_plan_old: false,
            has_loaded: false,
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
        let is_named = |uid: &Uid| self.roots.get(uid).is_some_and(Root::is_named);
        let objects = self.roots.named_or_unwell();
        let is_free = |uid: &Uid| graph.owners(uid).all(Node::is_custom);
        let objects = objects.filter(|uid| is_named(uid) || is_free(uid));
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
            let rank = if named(&self.requested[requested]).is_some() {
                Rank::Named
            } else {
                Rank::Well
            };
            self.is_plan_old |= self.roots.add(&version.object, requested, rank);
        }
    }

    /// Applies the changes since the last call. Returns whether anything has changed.
    pub(super) fn refresh(&mut self, now: Timestamp) -> bool {
        let touched = self.model.refresh(now);
        self.update_roots(&touched);
        self.rank_roots(&touched, now);
        if let Some(sorting) = &mut self.sorting {
            let roots = touched.iter().filter(|uid| self.roots.get(uid).is_some());
            sorting.update(roots, &self.model);
        }
        self.update_plan();
        let is_plan_old = std::mem::take(&mut self.is_plan_old);
        if is_plan_old {
            self.follow_dependents();
        }
        if is_plan_old || !self.model.is_fresh() {
            let touched = self.model.refresh(now);
            self.rank_roots(&touched, now);
        }
        self.has_loaded |= self.model.coverage().has_answers();
        !touched.is_empty()
    }

    /// Moves requested objects to their places, and notes which of them have changed.
    fn rank_roots(&mut self, touched: &BTreeSet<Uid>, now: Timestamp) {
        let rank = |uid: &Uid| {
            let status = self.model.object(uid)?.assessment.status();
            let is_failed = status == Status::Failed;
            Some(Rank::of(
                status,
                is_failed && self.model.repeats_its_pods(uid),
            ))
        };
        let clock = if self.has_loaded {
            RankClock::Live(now)
        } else {
            RankClock::Loading
        };
        self.is_plan_old |= self.roots.rank(touched, rank, clock);
        let is_news = |uid: &&Uid| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.changed == Some(now))
        };
        let news = touched.iter().filter(is_news).cloned();
        self.recent.add(news, now);
    }
}

impl StatusState {
    /// The requested sources.
    pub(super) fn requested(&self) -> &[SourceKey] {
        &self.requested
    }

    /// The requested objects that have been there.
    pub(super) fn roots(&self) -> impl Iterator<Item = (&Uid, &Root)> {
        self.roots.iter()
    }

    /// The requested object with this uid; `None` if the object was not requested.
    pub(super) fn root(&self, uid: &Uid) -> Option<&Root> {
        self.roots.get(uid)
    }

    /// The objects whose dependents are hidden.
    pub(super) fn collapsed(&self) -> Collapsed {
        self.roots.collapsed
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
        self.model.objects().next().is_none() && self.requested.iter().all(is_read)
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
        let requested = self.requested.iter().enumerate();
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
        self.requested
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

/// Whether a requested source shows everything that another one does.
pub(super) fn covers(requested: &SourceKey, other: &SourceKey) -> bool {
    requested.resource == other.resource
        && requested.select == Select::All
        && (requested.scope == Scope::Cluster || requested.scope == other.scope)
}
