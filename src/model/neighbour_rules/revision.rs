//! A `ReplicaSet` of an old revision that still has replicas.

use crate::graph::Node;
use crate::object::Uid;
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;

/// The note of a `ReplicaSet` that a rollout replaces and that still has replicas. There is no rollout before the
/// newest `ReplicaSet` exists.
pub(in crate::model) fn old_revision(around: Around<'_>, set: &Node) -> Vec<Finding> {
    let owner = around.graph().owners(&set.uid).next();
    let current = owner.and_then(|owner| around.graph().current_replica_set(&owner.uid));
    let replicas = set
        .workload()
        .and_then(|set| set.counts)
        .map_or(0, |counts| counts.there);
    if replicas <= 0 || current.is_none_or(|current| current.uid == set.uid) {
        return Vec::new();
    }
    let rule = CauseRule::OldReplicas;
    vec![Finding::new(rule, Status::Current, to_remove(replicas))]
}

/// The `ReplicaSets` of a Deployment that have replicas or want some.
pub(in crate::model) fn busy_sets<'m>(
    around: Around<'m>,
    deployment: &Uid,
) -> impl Iterator<Item = &'m Node> {
    let is_deployment = |node: &&Node| &*node.object.kind == "Deployment";
    let deployment = around.graph().node(deployment).filter(is_deployment);
    let sets = deployment.map(|deployment| around.graph().children(&deployment.uid));
    sets.into_iter().flatten().filter(|set| !set.is_idle())
}

fn to_remove(replicas: i64) -> String {
    match replicas {
        1 => "old revision, 1 replica is still to be removed".to_owned(),
        _ => format!("old revision, {replicas} replicas are still to be removed"),
    }
}
