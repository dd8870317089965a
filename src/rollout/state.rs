//! `RolloutState`: the change that a rollout follows, its phases, and their times, as the events of its objects show them.

use jiff::Timestamp;

use crate::graph::Node;
use crate::model::Model;
use crate::object::Uid;
use crate::source::{Event, SourceKey, Version, Why};

use super::change::{ChangedFields, Moment, SpecChange, TEMPLATE};
use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::phases::earlier_revision;
use super::pods::PodGroup;
use super::snapshot::{RolloutSnapshot, WorkloadKind};

/// The rollout or the runs of one workload.
pub struct RolloutState {
    /// What is different for its kind.
    pub kind: &'static dyn WorkloadKind,
    /// The source of the workload, which selects its name.
    source: SourceKey,
    /// The sources of its revisions and pods, by its current or last selector.
    dependents: Vec<SourceKey>,
    /// The change that the rollout follows, from the workload alone.
    change: SpecChange,
    /// The last change of another part of the spec since.
    later: Option<SpecChange>,
    /// The phases of the rollout. The first one is the change, completed from other objects.
    pub phases: Vec<RolloutPhase>,
    /// The highest number of old pods since the change.
    old_pods: i64,
    /// When the rollout was first complete since the change; `None` if it has not been. The time may be unknown.
    completed: Option<Moment>,
    /// The last pods that stopped matching the selector.
    pub left: Vec<String>,
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

impl RolloutState {
    /// The state before any event. The source selects the name of the workload.
    pub fn new(kind: &'static dyn WorkloadKind, source: SourceKey) -> RolloutState {
        RolloutState {
            kind,
            source,
            dependents: Vec::new(),
            change: SpecChange::default(),
            later: None,
            phases: Vec::new(),
            old_pods: 0,
            completed: None,
            left: Vec::new(),
            arrived: Arrived::default(),
        }
    }

    /// The rollout of the workload with this uid as it is; `None` if it does not exist.
    pub fn snapshot<'m>(&self, model: &'m Model, uid: Option<&Uid>) -> Option<RolloutSnapshot<'m>> {
        RolloutSnapshot::of(self.kind, model, uid?, &self.dependents)
    }

    /// The sources that show the rollout, as far as they are known. They follow from the workload, if that is there.
    pub fn plan(&mut self, workload: Option<&Node>) -> Vec<SourceKey> {
        let cluster = &self.source.cluster;
        if let Some(node) = workload {
            self.dependents = node.dependent_sources(cluster);
            self.dependents.extend(node.revision_source(cluster));
        }
        let mut sources = vec![self.source.clone()];
        sources.extend(self.dependents.iter().cloned());
        sources
    }

    /// The generation of the change; `None` if it is unknown.
    pub fn generation(&self) -> Option<i64> {
        self.change.generation
    }

    /// Records the effect of an event, before the model applies it. Until then, the workload has this uid.
    pub fn note(&mut self, source: &SourceKey, event: &Event, uid: Option<&Uid>) {
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
        if *why == Why::LeftSelector && &*now.object.kind == "Pod" {
            if self.left.len() == LEFT {
                self.left.remove(0);
            }
            self.left.push(now.object.to_string());
        }
        if *source == self.source && !why.is_gone() {
            let is_same = uid == Some(&now.object.identity());
            if !is_same {
                self.left.clear();
            }
            let prev = prev.as_deref().filter(|_| is_same);
            self.note_change(now, prev, why.is_live().then_some(*seen));
        }
    }

    /// Records the change in a version of the workload. `seen` is when the version arrived, if it arrived
    /// live.
    fn note_change(&mut self, now: &Version, prev: Option<&Version>, seen: Option<Timestamp>) {
        let Ok(workload) = now.doc() else {
            return;
        };
        let prev = prev.and_then(|prev| prev.doc().ok());
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
        self.completed = None;
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

    /// The change, completed from the revisions, which may arrive after the workload.
    fn complete(&self, rollout: &RolloutSnapshot<'_>) -> SpecChange {
        // The managed fields may not show the time. A revision that is older than the change has another one.
        let current = rollout.current();
        let current = current.filter(|current| earlier_revision(rollout, current).is_none());
        let created = current.and_then(PodGroup::created);
        if self.change.fields.is_none()
            && let Some(fields) = Self::find_fields(rollout)
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
    fn find_fields(rollout: &RolloutSnapshot<'_>) -> Option<ChangedFields> {
        let current = rollout.current().and_then(|group| group.number);
        let before = rollout
            .old_groups()
            .filter(|group| group.number.is_some())
            .filter(|group| current.is_none_or(|current| group.number < Some(current)))
            .max_by_key(|group| group.number)?;
        let template = before.template(rollout.model)?;
        ChangedFields::of(&template, &rollout.doc, TEMPLATE)
    }

    /// Records the progress of the rollout, after a batch of events and as time passes. The workload has this uid, if it exists.
    pub fn settle(&mut self, model: &Model, uid: Option<&Uid>) {
        let arrived = std::mem::take(&mut self.arrived);
        let Some(rollout) = self.snapshot(model, uid) else {
            self.phases.clear();
            return;
        };
        let old_pods = self.old_pods.max(rollout.old_left());
        let seen = arrived.seen.filter(|_| !arrived.listed);
        let phases = self.kind.phases(&rollout, old_pods).into_iter();
        let phases = phases.map(|phase| phase.since(&self.phases, seen));
        let later = self.later.iter();
        let later = later.map(|change| RolloutPhase::change(PhaseName::LaterChange, change));
        let change = RolloutPhase::change(PhaseName::Change, &self.complete(&rollout));
        self.phases = std::iter::once(change).chain(later).chain(phases).collect();
        self.settle_completion();
        self.bound_times_of_pods();
        self.old_pods = old_pods;
    }

    /// Keeps the time of the first completion. Only a Deployment reports it: a set is incomplete again while a Pod of it is
    /// replaced.
    fn settle_completion(&mut self) {
        let mut phases = self.phases.iter_mut();
        let complete = phases.find(|phase| phase.name == PhaseName::Complete);
        let Some(complete) = complete.filter(|it| it.progress == PhaseProgress::Done) else {
            return;
        };
        let first = *self.completed.get_or_insert(complete.at);
        if complete.at.server.is_none() {
            complete.at = first;
        }
    }

    /// Leaves out the times of Pods that are later than the completion: they took the place of those of the rollout, or
    /// started again since. When the ones before reached a phase is unknown. If the time of the completion is unknown, such Pods
    /// cannot be told from those of the rollout.
    fn bound_times_of_pods(&mut self) {
        let Some(complete) = self.completed else {
            return;
        };
        let is_undated = complete.time().is_none();
        let is_before =
            |change: &RolloutPhase| change.at.time().is_some() && !change.at.is_after(complete);
        if !is_undated && !self.phases.first().is_some_and(is_before) {
            return;
        }
        let of_pods = [
            PhaseName::Scheduled,
            PhaseName::Images,
            PhaseName::Available,
        ];
        for phase in &mut self.phases {
            if !of_pods.contains(&phase.name) {
                continue;
            }
            phase.is_at_most = is_undated && phase.at.seen.is_none();
            if phase.at.is_after(complete) || (is_undated && phase.at.seen.is_some()) {
                phase.at = Moment::default();
            }
        }
    }
}
