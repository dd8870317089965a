//! The revisions of a `StatefulSet` or `DaemonSet`: its `ControllerRevisions` and its Pods, joined by the label
//! `controller-revision-hash`.

use std::collections::BTreeMap;

use crate::commands::trace::traced::Traced;
use crate::graph::{Node, Standing};
use crate::object::Uid;

use super::pod_group::{self, PodGroup, pods_of};

/// The label of a Pod with its revision: the name of the revision, or the hash at the end of that name.
const HASH: &str = "controller-revision-hash";

/// The Pods of a workload by revision. Pods whose revision was not read make a group of their own.
pub(super) fn groups<'a>(traced: &'a Traced, uid: &Uid) -> Vec<PodGroup<'a>> {
    let graph = traced.graph();
    let mut standings = graph.standings();
    let mut by_hash: BTreeMap<Option<&str>, Vec<&Node>> = BTreeMap::new();
    for pod in pods_of(graph, uid) {
        by_hash.entry(pod.label(HASH)).or_default().push(pod);
    }
    let mut revisions = graph.children(uid);
    revisions.retain(|revision| &*revision.object.kind == "ControllerRevision");
    let newest = newest(traced, uid, &revisions);
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
            number: number(traced, &revision.uid),
            standing,
            ..PodGroup::of_pods(traced, pods)
        });
    }
    for (hash, pods) in by_hash {
        let standing = pods
            .first()
            .map_or(Standing::Current, |pod| standings.of(&pod.uid));
        groups.push(PodGroup {
            name: Some(format!("revision {}", hash.unwrap_or("unknown"))),
            standing,
            ..PodGroup::of_pods(traced, pods)
        });
    }
    pod_group::sort(&mut groups);
    groups
}

/// The revision of the current Pod template: the one that a `StatefulSet` names, else the one with the highest
/// number. A rollback gives an old revision a new number.
fn newest<'a>(traced: &Traced, uid: &Uid, revisions: &[&'a Node]) -> Option<&'a Uid> {
    let named = traced.model.doc(uid);
    let named = named.and_then(|owner| owner.root().text_at(&["status", "updateRevision"]));
    let found = match named {
        Some(name) => revisions
            .iter()
            .find(|revision| revision.object.name == name),
        None => revisions
            .iter()
            .max_by_key(|revision| number(traced, &revision.uid)),
    };
    found.map(|revision| &revision.uid)
}

fn number(traced: &Traced, revision: &Uid) -> Option<i64> {
    traced.model.doc(revision)?.root().i64_at(&["revision"])
}
