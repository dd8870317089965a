//! Revisions: which dependents of a workload have its current pod template.

use std::collections::BTreeMap;

use crate::object::Uid;

use super::{Graph, Node, Workload};

/// How a dependent relates to its workload's rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It has the current revision, or its workload has no revisions.
    Current,
    /// It has an older revision, and is a replica or still has one.
    Old,
    /// It is a `ReplicaSet` of an older revision with 0 replicas, kept for rollback.
    Idle,
}

impl Graph {
    /// The dependents and members of an object, without those of an older revision, in the order of siblings in a tree.
    pub fn current_children(&self, uid: &Uid) -> Vec<&Node> {
        let mut standings = self.standings();
        let below = self.directly_below(uid).filter(|child| child.uid != *uid);
        let mut children: Vec<&Node> = below
            .filter(|child| standings.of(&child.uid) == Standing::Current)
            .collect();
        children.sort_by_cached_key(|node| node.place());
        children.dedup_by(|one, other| one.uid == other.uid);
        children
    }

    /// The `ReplicaSet` for a Deployment's current pod template; `None` if it does not exist yet. It is the
    /// oldest one with the same template, as in the Deployment controller (`FindNewReplicaSet` in
    /// `k8s.io/kubernetes/pkg/controller/deployment/util`). If templates cannot be compared, it is the one
    /// with the Deployment's revision number.
    pub fn current_replica_set(&self, deployment: &Uid) -> Option<&Node> {
        let asked = self.node(deployment)?.workload()?;
        let sets = self.directly_below(deployment);
        let sets = sets.filter(|child| &*child.object.kind == "ReplicaSet");
        let mut sets: Vec<_> = sets
            .filter_map(|child| Some((child, child.workload()?)))
            .collect();
        sets.sort_by_key(|(set, _)| (set.created, &set.object.name));
        let comparable = sets.iter().any(|(_, set)| set.template.is_some());
        let is_current = |set: &Workload| {
            if asked.template.is_some() && comparable {
                set.template == asked.template
            } else {
                set.revision.is_some() && set.revision == asked.revision
            }
        };
        sets.into_iter()
            .find_map(|(node, set)| is_current(set).then_some(node))
    }

    /// A lookup of how objects relate to the rollouts of their workloads.
    pub fn standings(&self) -> Standings<'_> {
        Standings {
            graph: self,
            current: BTreeMap::new(),
        }
    }

    /// The dependents of `uid` at every depth, without those of an older revision. Their worst state is the
    /// state of the rollout.
    pub fn current_dependents(&self, uid: &Uid) -> Vec<Uid> {
        let mut outline = self.tree(uid).into_iter().peekable();
        let mut standings = self.standings();
        let mut current = Vec::new();
        while let Some((depth, dependent)) = outline.next() {
            if depth == 0 {
                continue;
            }
            if standings.of(&dependent) == Standing::Current {
                current.push(dependent);
            } else {
                while outline.next_if(|(deeper, _)| *deeper > depth).is_some() {}
            }
        }
        current
    }
}

/// Looks up how objects relate to the rollouts of their workloads. It examines each workload once, however
/// many dependents the workload has.
#[derive(Debug)]
pub struct Standings<'g> {
    graph: &'g Graph,
    /// The current `ReplicaSet` of each Deployment examined so far.
    current: BTreeMap<&'g Uid, Option<&'g Uid>>,
}

impl<'g> Standings<'g> {
    /// How an object relates to the rollout of the workload that controls it.
    pub fn of(&mut self, uid: &Uid) -> Standing {
        let graph = self.graph;
        let (Some(node), Some(owner)) = (graph.node(uid), graph.owners(uid).next()) else {
            return Standing::Current;
        };
        match (&*owner.object.kind, &*node.object.kind) {
            ("Deployment", "ReplicaSet") => match self.current(&owner.uid) {
                Some(current) if current == uid => Standing::Current,
                _ if node.is_idle() => Standing::Idle,
                _ => Standing::Old,
            },
            ("ReplicaSet", "Pod") => match self.of(&owner.uid) {
                Standing::Current => Standing::Current,
                Standing::Old | Standing::Idle => Standing::Old,
            },
            ("StatefulSet" | "DaemonSet", "Pod") => {
                let newest = owner.workload().and_then(|set| set.newest.as_ref());
                match newest {
                    Some((label, value)) if node.label(label) != Some(value) => Standing::Old,
                    _ => Standing::Current,
                }
            }
            _ => Standing::Current,
        }
    }

    fn current(&mut self, deployment: &'g Uid) -> Option<&'g Uid> {
        let graph = self.graph;
        let find = || Some(&graph.current_replica_set(deployment)?.uid);
        *self.current.entry(deployment).or_insert_with(find)
    }
}
