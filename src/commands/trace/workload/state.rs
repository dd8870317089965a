//! `WorkloadState`: the objects of a workload's trace, the current change, and the times of its phases.

use jiff::Timestamp;

use crate::commands::trace::traced::{Presence, Traced};
use crate::object::Uid;
use crate::source::{Event, SourceKey, Version, Why};

use super::change::{ChangedFields, SpecChange};
use super::moment::Moment;
use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::phases::earlier_revision;
use super::rollout::{Loaded, RolloutSnapshot, WorkloadKind};

/// The trace of one workload.
pub(super) struct WorkloadState {
    pub(super) kind: &'static dyn WorkloadKind,
    pub(super) traced: Traced,
    /// The sources of its revisions and pods, by its current or last selector.
    dependents: Vec<SourceKey>,
    /// The change that the rollout follows, from the workload alone.
    pub(super) change: SpecChange,
    /// The same, completed from other objects.
    completed: SpecChange,
    /// The last change of another part of the spec since.
    later: Option<SpecChange>,
    /// The phases of the rollout. The first one is the change, completed from other objects.
    pub(super) phases: Vec<RolloutPhase>,
    /// The highest number of old pods since the change.
    old_pods: i64,
    /// The last pods that stopped matching the selector.
    pub(super) left: Vec<String>,
    arrived: Arrived,
}

/// The events since the phases were last recorded.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    /// When the latest event arrived.
    seen: Option<Timestamp>,
    /// Whether any of them may have happened long before it arrived.
    listed: bool,
}

/// How many pods that left the selector are kept.
const LEFT: usize = 3;

impl WorkloadState {
    /// The trace of a workload before any event.
    pub(super) fn new(kind: &'static dyn WorkloadKind, traced: Traced) -> WorkloadState {
        WorkloadState {
            kind,
            traced,
            dependents: Vec::new(),
            change: SpecChange::default(),
            completed: SpecChange::default(),
            later: None,
            phases: Vec::new(),
            old_pods: 0,
            left: Vec::new(),
            arrived: Arrived::default(),
        }
    }

    /// The uid of the workload, even if it is deleted.
    pub(super) fn uid(&self) -> Option<&Uid> {
        match &self.traced.presence {
            Presence::There(uid) | Presence::Deleted(uid) => Some(uid),
            Presence::Unread | Presence::Absent => None,
        }
    }

    /// The current rollout; `None` if the workload does not exist.
    pub(super) fn rollout(&self) -> Option<RolloutSnapshot<'_>> {
        let loaded = Loaded::of(self.kind.group_kind(), &self.traced, &self.dependents);
        RolloutSnapshot::of(self.kind, &self.traced, loaded)
    }

    /// The sources that show the rollout, as far as it is known.
    pub(super) fn plan(&mut self) -> Vec<SourceKey> {
        let source = &self.traced.source;
        if let Some(node) = self.traced.node() {
            self.dependents = node.dependent_sources(&source.cluster);
            self.dependents
                .extend(node.revision_source(&source.cluster));
        }
        let mut sources = vec![source.clone()];
        sources.extend(self.dependents.iter().cloned());
        sources
    }

    /// Records the effect of an event, before the model applies it.
    pub(super) fn note(&mut self, source: &SourceKey, event: &Event) {
        let Event::Object {
            why,
            now,
            prev,
            seen,
            ..
        } = event
        else {
            return;
        };
        self.arrived.seen = Some(*seen);
        self.arrived.listed |= !why.is_live();
        self.note_left(*why, now);
        if *source == self.traced.source && !why.is_gone() {
            self.note_change(now, prev.as_deref(), why.is_live().then_some(*seen));
        }
    }

    /// Records the change in a version of the workload. `seen` is when the version arrived, if it arrived
    /// live.
    fn note_change(&mut self, now: &Version, prev: Option<&Version>, seen: Option<Timestamp>) {
        let Ok(workload) = now.doc() else {
            return;
        };
        let is_same = self.traced.uid() == Some(&now.object.identity());
        if !is_same {
            self.left.clear();
        }
        let prev = prev.and_then(|prev| prev.doc().ok()).filter(|_| is_same);
        let change = match &prev {
            Some(prev) => SpecChange::between(prev, &workload, seen),
            None => Some(SpecChange::last(workload.root())),
        };
        let Some(change) = change else {
            return;
        };
        let fields = change.fields.as_ref();
        let is_rollout = fields.is_none_or(ChangedFields::has_template);
        if prev.is_some() && !is_rollout && self.is_underway() {
            // A scale or a pause does not take the cause of a rollout away.
            self.later = Some(change);
            return;
        }
        self.phases = vec![RolloutPhase::change(PhaseName::Change, &change)];
        self.old_pods = 0;
        self.completed = change.clone();
        self.change = change;
        self.later = None;
    }

    /// Whether the last change is not rolled out yet.
    fn is_underway(&self) -> bool {
        let is_open = |phase: &RolloutPhase| {
            phase.name == PhaseName::Complete && phase.progress != PhaseProgress::Done
        };
        self.phases.len() == 1 || self.phases.iter().any(is_open)
    }

    /// Whether the phases show what changed before the rollout.
    pub(super) fn has_fields(&self) -> bool {
        self.completed.fields.is_some()
    }

    /// The change that a phase is about.
    pub(super) fn change_of(&self, phase: PhaseName) -> Option<&SpecChange> {
        match phase {
            PhaseName::Change => Some(&self.completed),
            PhaseName::LaterChange => self.later.as_ref(),
            PhaseName::Observed
            | PhaseName::ReplicaSet
            | PhaseName::Revision
            | PhaseName::Started
            | PhaseName::Scheduled
            | PhaseName::Images
            | PhaseName::Available
            | PhaseName::Succeeded
            | PhaseName::OldPods
            | PhaseName::Complete
            | PhaseName::LastRun
            | PhaseName::NextRun => None,
        }
    }

    /// Records a pod that no longer matches the selector.
    fn note_left(&mut self, why: Why, version: &Version) {
        if why == Why::LeftSelector && &*version.object.kind == "Pod" {
            if self.left.len() == LEFT {
                self.left.remove(0);
            }
            self.left.push(version.object.to_string());
        }
    }

    /// The change, completed from the revisions, which may arrive after the workload.
    fn complete(&self, rollout: &RolloutSnapshot<'_>) -> SpecChange {
        let created = Self::find_time(rollout);
        if self.change.fields.is_none()
            && let Some(fields) = self.find_fields(rollout)
        {
            return SpecChange::last_of_template(rollout.object(), fields, created);
        }
        let mut change = self.change.clone();
        if change.at == Moment::default() {
            change.at.server = created;
        }
        change
    }

    /// What the change changed: the difference between the pod template of the last revision before it and that
    /// of the workload.
    fn find_fields(&self, rollout: &RolloutSnapshot<'_>) -> Option<ChangedFields> {
        let current = rollout.current().and_then(|group| group.number);
        let before = rollout
            .old_groups()
            .filter(|group| group.number.is_some())
            .filter(|group| current.is_none_or(|current| group.number < Some(current)))
            .max_by_key(|group| group.number)?;
        let template = before.template(&self.traced)?;
        ChangedFields::of_template(&template, &self.traced.doc()?)
    }

    /// When the change was made, if the managed fields do not show it: when its revision was created. `None` if
    /// that revision is older than the change.
    fn find_time(rollout: &RolloutSnapshot<'_>) -> Option<Timestamp> {
        let current = rollout.current()?;
        earlier_revision(rollout, current)
            .is_none()
            .then(|| current.created())?
    }

    /// Records the progress of the rollout, after a batch of events and as time passes.
    pub(super) fn settle(&mut self) {
        let arrived = std::mem::take(&mut self.arrived);
        let Some(rollout) = self.rollout() else {
            self.phases.clear();
            return;
        };
        let completed = self.complete(&rollout);
        let old_pods = self.old_pods.max(rollout.old_left());
        let seen = arrived.seen.filter(|_| !arrived.listed);
        let phases = self.kind.phases(&rollout, old_pods).into_iter();
        let phases = phases.map(|phase| phase.since(&self.phases, seen));
        let later = self.later.iter();
        let later = later.map(|change| RolloutPhase::change(PhaseName::LaterChange, change));
        let change = RolloutPhase::change(PhaseName::Change, &completed);
        self.phases = std::iter::once(change).chain(later).chain(phases).collect();
        self.old_pods = old_pods;
        self.completed = completed;
    }
}
