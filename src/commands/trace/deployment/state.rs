//! `DeploymentState`: the objects of a Deployment's trace, the current change, and the times of its phases.

use jiff::Timestamp;

use crate::commands::trace::traced::{Presence, Traced};
use crate::graph::Node;
use crate::object::Uid;
use crate::source::{Event, SourceKey, Version, Why};

use super::change::{self, SpecChange};
use super::loaded::Loaded;
use super::moment::Moment;
use super::phase::RolloutPhase;
use super::phases;
use super::rollout::RolloutSnapshot;

/// The trace of one Deployment.
pub(super) struct DeploymentState {
    pub(super) traced: Traced,
    /// The sources of its `ReplicaSets` and pods, by its current or last selector.
    dependents: Vec<SourceKey>,
    /// The change, from the Deployment alone.
    pub(super) change: SpecChange,
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

impl DeploymentState {
    /// The trace of a Deployment before any event.
    pub(super) fn new(source: SourceKey) -> DeploymentState {
        DeploymentState {
            traced: Traced::new(source),
            dependents: Vec::new(),
            change: SpecChange::default(),
            phases: Vec::new(),
            old_pods: 0,
            left: Vec::new(),
            arrived: Arrived::default(),
        }
    }

    /// The uid of the Deployment, even if it is deleted.
    pub(super) fn uid(&self) -> Option<&Uid> {
        match &self.traced.presence {
            Presence::There(uid) | Presence::Deleted(uid) => Some(uid),
            Presence::Unread | Presence::Absent => None,
        }
    }

    /// The current rollout; `None` if the Deployment does not exist.
    pub(super) fn rollout(&self) -> Option<RolloutSnapshot<'_>> {
        let loaded = Loaded::of(&self.traced, &self.dependents);
        RolloutSnapshot::of(&self.traced, loaded)
    }

    /// The sources that show the rollout, as far as it is known.
    pub(super) fn plan(&mut self) -> Vec<SourceKey> {
        let source = &self.traced.source;
        if let Some(node) = self.traced.node() {
            self.dependents = node.dependent_sources(&source.cluster);
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

    /// Records the change in a version of the Deployment. `seen` is when the version arrived, if it arrived
    /// live.
    fn note_change(&mut self, now: &Version, prev: Option<&Version>, seen: Option<Timestamp>) {
        let Ok(deployment) = now.doc() else {
            return;
        };
        let is_same = self.traced.uid() == Some(&now.object.identity());
        if !is_same {
            self.left.clear();
        }
        let prev = prev.and_then(|prev| prev.doc().ok()).filter(|_| is_same);
        let change = match prev {
            Some(prev) => SpecChange::between(prev.root(), deployment.root(), seen),
            None => Some(SpecChange::last(deployment.root())),
        };
        if let Some(change) = change {
            self.phases = vec![RolloutPhase::change(&change)];
            self.old_pods = 0;
            self.change = change;
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

    /// The change, completed from the `ReplicaSets`, which may arrive after the Deployment.
    fn complete(&self, rollout: &RolloutSnapshot<'_>) -> SpecChange {
        let mut change = self.change.clone();
        change.what = change.what.or_else(|| self.find_what(rollout));
        if change.at == Moment::default() {
            change.at.server = Self::find_time(rollout);
        }
        change
    }

    /// What the change changed: the difference between the pod templates of the last `ReplicaSet` before it
    /// and of the Deployment.
    fn find_what(&self, rollout: &RolloutSnapshot<'_>) -> Option<String> {
        let revision = |set: &&Node| set.revision();
        let current = rollout.current.and_then(Node::revision);
        let before = rollout
            .old_sets()
            .filter(|set| current.is_none_or(|current| revision(set) < Some(current)))
            .max_by_key(revision);
        match (before, current) {
            (Some(before), _) => {
                let before = self.traced.model.doc(&before.uid)?;
                change::what(before.root(), rollout.deployment(), ".spec.template")
            }
            (None, Some(_)) => Some("created".to_owned()),
            (None, None) => None,
        }
    }

    /// When the change was made, if the managed fields do not show it: when its `ReplicaSet` was created.
    /// `None` if that `ReplicaSet` is older than the change.
    fn find_time(rollout: &RolloutSnapshot<'_>) -> Option<Timestamp> {
        let current = rollout.current?;
        let set = rollout.traced.model.doc(&current.uid)?;
        phases::earlier_revision(set.root())
            .is_none()
            .then_some(current.created)?
    }

    /// Records the progress of the rollout, after a batch of events and as time passes.
    pub(super) fn settle(&mut self) {
        let arrived = std::mem::take(&mut self.arrived);
        let Some(rollout) = self.rollout() else {
            self.phases.clear();
            return;
        };
        let change = RolloutPhase::change(&self.complete(&rollout));
        let old_pods = self.old_pods.max(rollout.old_left());
        let seen = arrived.seen.filter(|_| !arrived.listed);
        let phases = phases::of(&rollout, old_pods).into_iter();
        let phases = phases.map(|phase| phase.since(&self.phases, seen));
        self.phases = std::iter::once(change).chain(phases).collect();
        self.old_pods = old_pods;
    }
}
