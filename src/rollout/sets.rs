//! The rollout of a `StatefulSet` or a `DaemonSet`: its revisions are `ControllerRevisions`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::graph::{Node, Standing};
use crate::model::Model;
use crate::object::{Uid, Value, counted, first_updated, partition};

use super::deployment::{RollingUpdateLimits, UpdateStrategy, strategy, strategy_with_limits};
use super::pods::{self, PodGroup, pods_of};
use super::snapshot::{RolloutSnapshot, WorkloadKind, count, spec};
use super::stage::{RolloutStage, stage_of_rollout};

/// The kind `apps/StatefulSet`.
pub(super) struct StatefulSet;

impl WorkloadKind for StatefulSet {
    fn group_kind(&self) -> &'static str {
        "ControllerRevision"
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let mut facts = vec![strategy(object, "updateStrategy")];
        if let partition @ 1.. = partition(object) {
            facts.push(format!("partition {partition}"));
        }
        facts.extend(
            object
                .str_at(&["spec", "podManagementPolicy"])
                .filter(|policy| policy == "Parallel")
                .map(Cow::into_owned),
        );
        vec![self.amount(spec(object, "replicas", 1)), facts.join(", ")]
    }

    /// As `kubectl rollout status` decides it, with the wanted number of Pods.
    fn is_complete(&self, rollout: &RolloutSnapshot<'_>) -> bool {
        let counts = rollout.counts;
        counts.there == counts.wanted
            && counts.available >= counts.wanted
            && counts.updated >= counts.goal
    }

    /// Pods below the partition keep their revision.
    fn replaces(&self, object: Value<'_>, pod: &Node) -> bool {
        pod.ordinal()
            .is_none_or(|ordinal| ordinal >= first_updated(object))
    }
}

/// The kind `apps/DaemonSet`.
pub(super) struct DaemonSet;

impl WorkloadKind for DaemonSet {
    fn group_kind(&self) -> &'static str {
        "ControllerRevision"
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let wanted = count(object, "desiredNumberScheduled");
        let strategy = strategy_with_limits(object, UpdateStrategy::DAEMON_SET, wanted);
        vec![self.amount(wanted), strategy]
    }

    /// As `kubectl rollout status` decides it.
    fn is_complete(&self, rollout: &RolloutSnapshot<'_>) -> bool {
        let counts = rollout.counts;
        counts.updated >= counts.wanted && counts.available >= counts.wanted
    }

    fn stage(&self, rollout: &RolloutSnapshot<'_>) -> RolloutStage {
        if rollout.is_complete() && rollout.counts.wanted == 0 {
            return RolloutStage::new("runs on no node");
        }
        stage_of_rollout(rollout)
    }

    fn limits(&self, rollout: &RolloutSnapshot<'_>) -> Vec<String> {
        let object = rollout.object();
        let wanted = rollout.counts.wanted;
        let limits = RollingUpdateLimits::of(object, UpdateStrategy::DAEMON_SET, wanted);
        let used = limits.and_then(|limits| limits.used_up(rollout));
        let misscheduled = count(object, "numberMisscheduled");
        let misscheduled = (misscheduled > 0).then(|| {
            let nodes = counted(misscheduled, "node runs", "nodes run");
            format!("{nodes} a pod but must not (numberMisscheduled)")
        });
        used.into_iter().chain(misscheduled).collect()
    }

    fn amount(&self, count: i64) -> String {
        counted(count, "node", "nodes")
    }
}

/// The label of a Pod with its revision: the name of the revision, or the hash at the end of that name.
const HASH: &str = "controller-revision-hash";

/// The Pods of a workload by revision. Pods whose revision was not read make a group of their own.
pub(super) fn groups<'a>(model: &'a Model, uid: &Uid) -> Vec<PodGroup<'a>> {
    let graph = model.graph();
    let mut standings = graph.standings();
    let mut by_hash: BTreeMap<Option<&str>, Vec<&Node>> = BTreeMap::new();
    for pod in pods_of(graph, uid) {
        by_hash.entry(pod.label(HASH)).or_default().push(pod);
    }
    let mut revisions = graph.children(uid);
    revisions.retain(|revision| &*revision.object.kind == "ControllerRevision");
    let newest = newest(model, uid, &revisions);
    let mut groups = Vec::new();
    for revision in revisions {
        let names = [Some(&*revision.object.name), revision.label(HASH)];
        let pods = names.into_iter().flatten();
        let pods = pods.flat_map(|name| by_hash.remove(&Some(name)).unwrap_or_default());
        let pods: Vec<&Node> = pods.collect();
        let standing = match pods.first() {
            Some(pod) => standings.of(&pod.uid),
            None if newest.is_some_and(|newest| newest == &revision.uid) => Standing::Current,
            None => Standing::Idle,
        };
        groups.push(PodGroup {
            object: Some(revision),
            name: Some(revision.object.to_string()),
            number: number(model, &revision.uid),
            standing,
            ..PodGroup::of_pods(model, pods)
        });
    }
    for (hash, pods) in by_hash {
        let standing = pods
            .first()
            .map_or(Standing::Current, |pod| standings.of(&pod.uid));
        groups.push(PodGroup {
            name: Some(format!("revision {}", hash.unwrap_or("unknown"))),
            standing,
            ..PodGroup::of_pods(model, pods)
        });
    }
    pods::sort(&mut groups);
    groups
}

/// The revision of the current Pod template: the one that a `StatefulSet` names, else the one with the highest
/// number. A rollback gives an old revision a new number.
fn newest<'a>(model: &Model, uid: &Uid, revisions: &[&'a Node]) -> Option<&'a Uid> {
    let named = model.doc(uid);
    let named = named.and_then(|owner| owner.root().text_at(&["status", "updateRevision"]));
    let found = match named {
        Some(name) => revisions
            .iter()
            .find(|revision| revision.object.name == name),
        None => revisions
            .iter()
            .max_by_key(|revision| number(model, &revision.uid)),
    };
    found.map(|revision| &revision.uid)
}

fn number(model: &Model, revision: &Uid) -> Option<i64> {
    model.doc(revision)?.root().i64_at(&["revision"])
}

#[cfg(test)]
mod tests {
    use crate::object::Doc;

    use super::*;

    #[test]
    fn a_daemon_set_rounds_its_unavailable_pods_up() {
        let set = r#"{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":"10%"}}},"status":{"desiredNumberScheduled":15}}"#;
        let set = Doc::parse(set.to_owned()).expect("JSON");
        let facts = DaemonSet.facts(set.root());
        assert_eq!(facts, ["15 nodes", "RollingUpdate, surge 0, unavailable 2"]);
    }
}
