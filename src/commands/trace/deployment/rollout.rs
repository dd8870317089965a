//! `RolloutSnapshot`: the state of a rollout at one time, from the objects alone.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::loaded::Loaded;
use crate::commands::trace::traced::Traced;
use crate::graph::{Graph, Node};
use crate::object::{Doc, StatusCondition, Uid, Value, condition};

/// A Deployment, its `ReplicaSets` and its pods.
pub(super) struct RolloutSnapshot<'a> {
    pub(super) loaded: Loaded,
    pub(super) traced: &'a Traced,
    /// The Deployment.
    pub(super) doc: Doc,
    /// The `ReplicaSet` of the current pod template.
    pub(super) current: Option<&'a Node>,
    /// All its `ReplicaSets`: the current one first, then the newest.
    pub(super) sets: Vec<&'a Node>,
    /// The pods of the current `ReplicaSet`.
    pub(super) new_pods: Vec<&'a Node>,
    /// The pods of the other `ReplicaSets`.
    pub(super) old_pods: Vec<&'a Node>,
    /// Pods that match its selector and have no owner.
    pub(super) orphans: Vec<&'a Node>,
}

impl<'a> RolloutSnapshot<'a> {
    /// Reads the rollout of the traced Deployment; `None` if that does not exist.
    pub(super) fn of(traced: &'a Traced, loaded: Loaded) -> Option<RolloutSnapshot<'a>> {
        let graph = traced.graph();
        let doc = traced.doc()?;
        let uid = traced.uid()?;
        let current = graph.current_replica_set(uid);
        let sets = sets(graph, uid, current);
        let is_current = |set: &&Node| current.is_some_and(|current| current.uid == set.uid);
        let (new, old): (Vec<&Node>, Vec<&Node>) = sets.iter().copied().partition(is_current);
        let mut orphans = graph.selected_pods(uid);
        orphans.retain(|pod| pod.owners.is_empty());
        Some(RolloutSnapshot {
            loaded,
            traced,
            doc,
            current,
            new_pods: pods_of(graph, &new),
            old_pods: pods_of(graph, &old),
            orphans,
            sets,
        })
    }

    /// The Deployment.
    pub(super) fn deployment(&self) -> Value<'_> {
        self.doc.root()
    }

    /// How many pods are wanted.
    pub(super) fn wanted(&self) -> i64 {
        self.deployment().i64_at(&["spec", "replicas"]).unwrap_or(1)
    }

    /// The generation of the object, and the one that the controller has observed.
    pub(super) fn generations(&self) -> (i64, i64) {
        let number = |path: &[&str]| self.deployment().i64_at(path).unwrap_or(0);
        (
            number(&["metadata", "generation"]),
            number(&["status", "observedGeneration"]),
        )
    }

    /// Whether the controller has observed the newest generation.
    pub(super) fn is_observed(&self) -> bool {
        let (generation, observed) = self.generations();
        observed >= generation
    }

    /// Whether the rollout is paused.
    pub(super) fn is_paused(&self) -> bool {
        let paused = self.deployment().bool_at(&["spec", "paused"]);
        paused.unwrap_or(false)
    }

    /// Whether it is being deleted.
    pub(super) fn is_deleting(&self) -> bool {
        self.deployment()
            .str_at(&["metadata", "deletionTimestamp"])
            .is_some()
    }

    /// A count of its status. The API leaves out counts of 0.
    pub(super) fn count(&self, key: &str) -> i64 {
        self.deployment().i64_at(&["status", key]).unwrap_or(0)
    }

    /// How many pods of the current `ReplicaSet` are available.
    pub(super) fn new_available(&self) -> i64 {
        self.current.map_or(0, available)
    }

    /// How many pods of the other `ReplicaSets` are available.
    pub(super) fn old_available(&self) -> i64 {
        self.old_sets().map(available).sum()
    }

    /// How many pods of older revisions are left, including terminating ones.
    pub(super) fn old_left(&self) -> i64 {
        let there = self.old_sets().filter_map(Node::workload);
        let counted = there.map(|set| set.replicas).sum();
        i64::try_from(self.old_pods.len())
            .unwrap_or(i64::MAX)
            .max(counted)
    }

    /// The `ReplicaSets` that are not the current one.
    pub(super) fn old_sets(&self) -> impl Iterator<Item = &'a Node> {
        let current = self.current.map(|set| &set.uid);
        self.sets
            .iter()
            .copied()
            .filter(move |set| Some(&set.uid) != current)
    }

    /// The condition of a type.
    pub(super) fn condition(&self, kind: &str) -> Option<StatusCondition<'_>> {
        condition(self.deployment(), kind)
    }

    /// The condition that reports the rollout as failed, because its progress deadline is exceeded.
    pub(super) fn deadline_exceeded(&self) -> Option<StatusCondition<'_>> {
        self.condition("Progressing").filter(|condition| {
            condition.status == "False" && condition.reason == "ProgressDeadlineExceeded"
        })
    }

    /// The condition that reports that pods cannot be created or deleted.
    pub(super) fn replica_failure(&self) -> Option<StatusCondition<'_>> {
        self.condition("ReplicaFailure")
            .filter(|condition| condition.status == "True")
    }

    /// Whether the rollout is complete, by the controller's rule (`DeploymentComplete` in
    /// `k8s.io/kubernetes/pkg/controller/deployment/util`). The current `ReplicaSet` must agree, because the
    /// counts of the Deployment may be older than the change. If `ReplicaSets` are not read, the Deployment
    /// alone decides.
    pub(super) fn is_complete(&self) -> bool {
        let wanted = self.wanted();
        let counts = ["replicas", "updatedReplicas", "availableReplicas"];
        self.is_observed()
            && (!self.loaded.sets || self.new_available() == wanted)
            && counts.iter().all(|count| self.count(count) == wanted)
    }

    /// When the progress deadline ends, unless there is progress before.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let progressing = self.condition("Progressing")?;
        let is_running = progressing.status == "True"
            && progressing.reason != "NewReplicaSetAvailable"
            && !self.is_paused();
        // The API server sets 600 by default. The largest number means no deadline.
        let seconds = self
            .deployment()
            .i64_at(&["spec", "progressDeadlineSeconds"])
            .filter(|seconds| *seconds < i64::from(i32::MAX))?;
        let from = progressing.updated().filter(|_| is_running)?;
        from.checked_add(jiff::SignedDuration::from_secs(seconds))
            .ok()
    }
}

/// The `ReplicaSets` that an object owns, the current one first, then the newest revision.
pub(super) fn sets<'a>(graph: &'a Graph, uid: &Uid, current: Option<&Node>) -> Vec<&'a Node> {
    let mut sets = graph.children(uid);
    sets.retain(|set| &*set.object.kind == "ReplicaSet");
    sets.sort_by_key(|set| {
        let is_current = current.is_some_and(|current| current.uid == set.uid);
        (!is_current, Reverse(set.revision()))
    });
    sets
}

fn pods_of<'a>(graph: &'a Graph, sets: &[&Node]) -> Vec<&'a Node> {
    sets.iter()
        .flat_map(|set| graph.children(&set.uid))
        .filter(|pod| pod.pod().is_some())
        .collect()
}

fn available(set: &Node) -> i64 {
    set.workload().map_or(0, |set| set.available)
}
