//! What a Deployment's trace keeps: the objects, the change that is being rolled out, and when its
//! phases were done.

use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::trace::objects::{Objects, is_gone, is_live};
use crate::commands::trace::target::{Presence, TracedObject};
use crate::graph::{Node, Selection, children_of_kind};
use crate::object::Uid;
use crate::watch::{Event, Select, SourceKey, Version, Why};

use super::change::{self, SpecChange};
use super::loaded::Loaded;
use super::phase::RolloutPhase;
use super::phase_times::{Moment, PhaseTimes};
use super::phases;
use super::rollout::{RolloutSnapshot, workload};

/// The trace of one Deployment.
pub(super) struct DeploymentState {
    pub(super) target: TracedObject,
    pub(super) objects: Objects,
    pub(super) presence: Presence,
    /// What has been read of its `ReplicaSets` and pods.
    pub(super) loaded: Loaded,
    /// The sources of its `ReplicaSets` and pods, by the selector it has, or had last.
    dependents: Vec<SourceKey>,
    /// The change, from the Deployment alone.
    seen: SpecChange,
    /// The change, completed from other objects.
    pub(super) change: SpecChange,
    pub(super) phases: Vec<RolloutPhase>,
    pub(super) phase_times: PhaseTimes,
    /// Pods that no longer match the selector, the last ones.
    pub(super) left: Vec<String>,
    arrived: Arrived,
}

/// What has arrived since the phases were last noted.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    /// When the latest event came.
    seen: Option<Timestamp>,
    /// Whether some of it may have happened long before it came.
    listed: bool,
}

/// How many pods that have left are remembered.
const LEFT: usize = 3;

impl DeploymentState {
    /// The trace of a Deployment of which nothing is known yet.
    pub(super) fn new(target: TracedObject) -> DeploymentState {
        DeploymentState {
            target,
            objects: Objects::default(),
            presence: Presence::Unread,
            loaded: Loaded::default(),
            dependents: Vec::new(),
            seen: SpecChange::default(),
            change: SpecChange::default(),
            phases: Vec::new(),
            phase_times: PhaseTimes::default(),
            left: Vec::new(),
            arrived: Arrived::default(),
        }
    }

    /// The uid of the Deployment, as it is or was.
    pub(super) fn uid(&self) -> Option<&Uid> {
        match &self.presence {
            Presence::There(uid) | Presence::Deleted(uid) => Some(uid),
            Presence::Unread | Presence::Absent => None,
        }
    }

    /// The rollout as it is, unless the Deployment is not there.
    pub(super) fn rollout(&self, now: Timestamp) -> Option<RolloutSnapshot<'_>> {
        RolloutSnapshot::of(&self.objects, self.loaded, self.presence.uid()?, now)
    }

    /// A version of the Deployment has come.
    fn follow(&mut self, was: Option<&Uid>, prev: Option<&Version>, seen: Option<Timestamp>) {
        let Some(uid) = self.presence.uid() else {
            return;
        };
        let Some(deployment) = self.objects.get(uid) else {
            return;
        };
        let prev = prev.and_then(|prev| prev.doc().ok());
        let change = match &prev {
            Some(prev) if was == Some(uid) => SpecChange::between(prev.root(), deployment, seen),
            _ => Some(SpecChange::last(deployment)),
        };
        let kinds = children_of_kind(&self.target.resource.group_kind()).unwrap_or_default();
        let dependents: Vec<SourceKey> = kinds
            .iter()
            .filter_map(|child| {
                let select = match child.selection(deployment) {
                    Selection::Labels(labels) => Select::labelled(&labels),
                    Selection::All => Select::All,
                    Selection::Nothing => return None,
                };
                Some(self.target.selected(child.resource(), select))
            })
            .collect();
        if dependents != self.dependents {
            self.dependents = dependents;
            self.loaded = Loaded::default();
        }
        if let Some(change) = change {
            self.change = change.clone();
            self.seen = change;
            self.phase_times = PhaseTimes::default();
        }
        if was != Some(uid) {
            self.left.clear();
        }
    }

    /// Notes a pod that the selector no longer finds, if it was one of the rollout's.
    fn note_left(&mut self, why: Why, version: &Version) {
        if why == Why::LeftSelector && &*version.object.kind == "Pod" {
            if self.left.len() == LEFT {
                self.left.remove(0);
            }
            self.left.push(version.object.to_string());
        }
    }

    /// The change, completed from the `ReplicaSets`, which may come after the Deployment.
    fn complete(&self, rollout: &RolloutSnapshot<'_>) -> SpecChange {
        let mut change = self.seen.clone();
        change.what = change.what.or_else(|| self.find_what(rollout));
        if change.at == Moment::default() {
            change.at.server = Self::find_time(rollout);
        }
        change
    }

    /// What the change changed, as the pod templates tell: that of the last `ReplicaSet` before, and
    /// the Deployment's own.
    fn find_what(&self, rollout: &RolloutSnapshot<'_>) -> Option<String> {
        let revision = |set: &&Node| workload(set).and_then(|set| set.revision);
        let current = rollout.current.as_ref().and_then(revision);
        let before = rollout
            .old_sets()
            .filter(|set| current.is_none_or(|current| revision(set) < Some(current)))
            .max_by_key(revision);
        match (before, current) {
            (Some(before), _) => {
                let before = self.objects.get(&before.uid)?;
                change::what(before, rollout.deployment, ".spec.template")
            }
            (None, Some(_)) => Some("created".to_owned()),
            (None, None) => None,
        }
    }

    /// When the change was made, where the object's managers do not say: when what it led to came to
    /// be, unless that was there before.
    fn find_time(rollout: &RolloutSnapshot<'_>) -> Option<Timestamp> {
        let current = rollout.current?;
        let object = rollout.objects.get(&current.uid)?;
        phases::earlier_revision(object)
            .is_none()
            .then_some(current.created)?
    }
}

impl DeploymentState {
    /// The sources that show the rollout, as far as it is known.
    pub(super) fn wanted(&self) -> Vec<SourceKey> {
        let mut wanted = vec![self.target.source()];
        wanted.extend(self.dependents.iter().cloned());
        wanted
    }

    /// Takes one event.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event) {
        let mut uid = None;
        let mut live = None;
        match event {
            Event::Object { why, now, seen, .. } => {
                uid = self.objects.apply(key, *why, now);
                live = is_live(*why).then_some(*seen);
                self.arrived.seen = Some(*seen);
                self.arrived.listed |= live.is_none();
                self.note_left(*why, now);
            }
            Event::Synced { .. } => {
                self.objects.synced(key);
                self.loaded.note(&key.resource.kind);
            }
            Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        if self.target.is_source(key) {
            let was = self.presence.uid().cloned();
            self.presence.apply(event, uid.as_ref());
            if let Event::Object { why, prev, .. } = event
                && !is_gone(*why)
            {
                self.follow(was.as_ref(), prev.as_deref(), live);
            }
        }
    }

    /// Notes how far the rollout is, after a batch of events and as time goes on.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let arrived = std::mem::take(&mut self.arrived);
        let Some(rollout) = self.rollout(now) else {
            self.phases.clear();
            return;
        };
        let change = self.complete(&rollout);
        let old_pods = self.phase_times.old_pods.max(rollout.old_left());
        let phases = phases::of(&rollout, old_pods);
        self.change = change;
        self.phase_times.old_pods = old_pods;
        self.phases = phases;
        let seen = arrived.seen.filter(|_| !arrived.listed);
        self.phase_times.note(&self.phases, seen);
    }
}
