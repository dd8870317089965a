//! Owners and dependents: the tree below an object, its revisions, and the order from below to above.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use crate::object::Uid;

use super::index::Graph;
use super::node::Node;
use super::workload::Workload;

impl Graph {
    /// The objects that name this one as an owner, in the order of siblings in a tree. The owner itself need
    /// not be in the graph.
    pub fn children(&self, uid: &Uid) -> Vec<&Node> {
        let mut children: Vec<_> = self
            .dependents
            .get(uid)
            .into_iter()
            .flatten()
            .filter_map(|child| self.node(child))
            .collect();
        children.sort_by_cached_key(|node| node.place());
        children
    }

    /// The owners of an object that are in the graph, the managing controller first.
    pub fn owners(&self, uid: &Uid) -> impl Iterator<Item = &Node> {
        let owners = self.node(uid).into_iter().flat_map(Node::owners_by_rank);
        owners.filter_map(|owner| self.node(&owner.uid))
    }

    /// The owners above an object: its controller (or only owner), the controller of that, and so on.
    pub fn ancestors(&self, uid: &Uid) -> Vec<&Node> {
        let mut chain: Vec<&Node> = Vec::new();
        let mut seen = BTreeSet::from([uid]);
        let mut at = uid;
        while let Some(owner) = self.owners(at).next() {
            if !seen.insert(&owner.uid) {
                break;
            }
            chain.push(owner);
            at = &owner.uid;
        }
        chain
    }

    /// `root` and all its dependents and members, direct and indirect, as pairs of depth and uid. `root` comes first, and
    /// each object comes before its dependents. An object appears once: under its controller if the tree
    /// contains it, else under its first owner in the tree, else under an inventory. Cycles are cut. If `root` is not in the
    /// graph, its direct dependents have depth 0.
    pub fn tree(&self, root: &Uid) -> Vec<(usize, Uid)> {
        self.tree_beyond(root, |_| false)
    }

    /// The same tree without the known objects, and without what is below them.
    pub fn tree_beyond(&self, root: &Uid, is_known: impl Fn(&Uid) -> bool) -> Vec<(usize, Uid)> {
        let distances = self.distances(root, is_known);
        let mut below: BTreeMap<&Uid, Vec<&Node>> = BTreeMap::new();
        for (child, parent) in self.parents(root, &distances) {
            if let Some(node) = self.node(child) {
                below.entry(parent).or_default().push(node);
            }
        }
        for siblings in below.values_mut() {
            siblings.sort_by_cached_key(|node| Reverse(node.place()));
        }
        let mut outline = Vec::with_capacity(distances.len());
        let mut stack = vec![(0, root)];
        while let Some((depth, uid)) = stack.pop() {
            outline.push((depth, uid.clone()));
            let siblings = below.remove(uid).unwrap_or_default();
            stack.extend(siblings.into_iter().map(|node| (depth + 1, &node.uid)));
        }
        if self.node(root).is_none() {
            outline.remove(0);
            for (depth, _) in &mut outline {
                *depth -= 1;
            }
        }
        outline
    }

    /// The distance of each object from `root`: the least number of owner references and entries of inventories between
    /// them. Known objects are left out.
    fn distances<'a>(
        &'a self,
        root: &'a Uid,
        is_known: impl Fn(&Uid) -> bool,
    ) -> BTreeMap<&'a Uid, usize> {
        let mut distances = BTreeMap::from([(root, 0)]);
        let mut queue = VecDeque::from([(root, 0)]);
        while let Some((uid, distance)) = queue.pop_front() {
            let below = self.directly_below(uid).map(|node| &node.uid);
            for child in below.filter(|child| !is_known(child)) {
                distances.entry(child).or_insert_with(|| {
                    queue.push_back((child, distance + 1));
                    distance + 1
                });
            }
        }
        distances
    }

    /// The parent of each object in the tree. Controllers may form a cycle without `root`. An object whose
    /// preferred parents do not lead to `root` gets an owner that is nearer to `root`; such owners always
    /// lead there.
    fn parents<'a>(
        &'a self,
        root: &Uid,
        distances: &BTreeMap<&'a Uid, usize>,
    ) -> BTreeMap<&'a Uid, &'a Uid> {
        let mut preferred: BTreeMap<&Uid, &Uid> = BTreeMap::new();
        let mut nearer: BTreeMap<&Uid, &Uid> = BTreeMap::new();
        for (child, distance) in distances.iter().filter(|(child, _)| **child != root) {
            let node = self.node(child).into_iter();
            let parents = node.flat_map(|node| {
                let owners = node.owners_by_rank().map(|owner| &owner.uid);
                owners.chain(self.inventories_of(node).map(|inventory| &inventory.uid))
            });
            for parent in parents {
                if let Some(above) = distances.get(parent) {
                    preferred.entry(child).or_insert(parent);
                    if above < distance {
                        nearer.entry(child).or_insert(parent);
                    }
                }
            }
        }
        for child in lost(root, &preferred) {
            if let Some(owner) = nearer.get(child) {
                preferred.insert(child, owner);
            }
        }
        preferred
    }
}

/// The objects whose chains of parents do not end at `root`.
fn lost<'a>(root: &Uid, parents: &BTreeMap<&'a Uid, &'a Uid>) -> Vec<&'a Uid> {
    let mut leads: BTreeMap<&Uid, bool> = BTreeMap::from([(root, true)]);
    for child in parents.keys() {
        let mut chain = Vec::new();
        let mut at = *child;
        let does_lead = loop {
            if let Some(known) = leads.get(at) {
                break *known;
            }
            // A chain that comes back here is a cycle.
            leads.insert(at, false);
            chain.push(at);
            match parents.get(at) {
                Some(parent) => at = parent,
                None => break false,
            }
        };
        leads.extend(chain.into_iter().map(|uid| (uid, does_lead)));
    }
    let children = parents.keys().copied();
    children
        .filter(|child| leads.get(child) != Some(&true))
        .collect()
}

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

impl Graph {
    /// The owners of an object that are in the graph, and the inventories there that list it.
    fn directly_above(&self, uid: &Uid) -> impl Iterator<Item = &Uid> {
        let inventories = self.node(uid).into_iter();
        let inventories = inventories.flat_map(|node| self.inventories_of(node));
        let above = self.owners(uid).chain(inventories);
        above.map(|node| &node.uid)
    }

    /// The dependents and the members of an object that are in the graph, in no order. An object may appear twice.
    pub fn directly_below(&self, uid: &Uid) -> impl Iterator<Item = &Node> {
        let dependents = self.dependents.get(uid).into_iter().flatten();
        let dependents = dependents.filter_map(|child| self.node(child));
        dependents.chain(self.members(uid))
    }

    /// These objects and all that are above them: their owners and the inventories that list them, and so on.
    pub fn with_above<'u>(&self, uids: impl IntoIterator<Item = &'u Uid>) -> BTreeSet<Uid> {
        let mut open: Vec<Uid> = uids.into_iter().cloned().collect();
        let mut found: BTreeSet<Uid> = open.iter().cloned().collect();
        while let Some(at) = open.pop() {
            for next in self.directly_above(&at) {
                if found.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        found
    }

    /// These objects and all that are below them: their dependents and members, and so on.
    pub fn with_below<'u>(&self, uids: impl IntoIterator<Item = &'u Uid>) -> BTreeSet<Uid> {
        let mut found = BTreeSet::new();
        for uid in uids {
            self.visit_below(uid, &mut found);
        }
        found
    }

    /// Adds an object and those below it that were not found before.
    fn visit_below(&self, uid: &Uid, found: &mut BTreeSet<Uid>) {
        let mut open = Vec::from_iter(found.insert(uid.clone()).then(|| uid.clone()));
        while let Some(at) = open.pop() {
            for next in self.directly_below(&at) {
                if found.insert(next.uid.clone()) {
                    open.push(next.uid.clone());
                }
            }
        }
    }

    /// Those of these objects that are below none of the others. Of objects that are below each other, it is one.
    pub fn tops<'u>(&self, uids: impl IntoIterator<Item = &'u Uid>) -> Vec<&'u Uid> {
        let first = self.not_below_earlier(uids);
        // None of these is below an earlier one, but it may be below a later one.
        let mut tops = self.not_below_earlier(first.into_iter().rev());
        tops.reverse();
        tops
    }

    /// Those of these objects that are below none before them.
    fn not_below_earlier<'u>(&self, uids: impl IntoIterator<Item = &'u Uid>) -> Vec<&'u Uid> {
        let mut found = BTreeSet::new();
        let mut first = Vec::new();
        for uid in uids {
            if !found.contains(uid) {
                first.push(uid);
                if self.node(uid).is_some() {
                    self.visit_below(uid, &mut found);
                }
            }
        }
        first
    }

    /// These objects in groups, each before the groups above it. Objects that are above each other form one group.
    pub fn bottom_up(&self, uids: &BTreeSet<Uid>) -> Vec<BTreeSet<Uid>> {
        let mut grouping = Grouping {
            graph: self,
            uids,
            numbers: FxHashMap::default(),
            open: Vec::new(),
            groups: Vec::new(),
        };
        for uid in uids {
            grouping.visit(uid);
        }
        grouping.groups.reverse();
        grouping.groups
    }
}

/// Finds the objects that are above each other, by Tarjan's algorithm
/// (<https://en.wikipedia.org/wiki/Tarjan%27s_strongly_connected_components_algorithm>), without recursion.
struct Grouping<'g> {
    graph: &'g Graph,
    /// The objects to group.
    uids: &'g BTreeSet<Uid>,
    /// The number of each object in the order of the visits; [`GROUPED`] once it has a group.
    numbers: FxHashMap<&'g Uid, usize>,
    /// The visited objects without a group.
    open: Vec<&'g Uid>,
    /// The groups, each after the groups above it.
    groups: Vec<BTreeSet<Uid>>,
}

/// Later than every number of a visit.
const GROUPED: usize = usize::MAX;

/// An object of the path that is visited.
struct Visit<'g> {
    uid: &'g Uid,
    number: usize,
    /// The earliest open object that is above it, as far as this is known.
    earliest: usize,
    /// The objects directly above it that are still to visit.
    above: std::vec::IntoIter<&'g Uid>,
}

impl<'g> Grouping<'g> {
    fn visit(&mut self, start: &'g Uid) {
        if self.numbers.contains_key(start) {
            return;
        }
        let mut path = vec![self.enter(start)];
        while let Some(at) = path.last_mut() {
            if let Some(next) = at.above.next() {
                match self.numbers.get(next) {
                    Some(number) => at.earliest = at.earliest.min(*number),
                    None => path.push(self.enter(next)),
                }
                continue;
            }
            let (uid, number, earliest) = (at.uid, at.number, at.earliest);
            path.pop();
            if let Some(below) = path.last_mut() {
                below.earliest = below.earliest.min(earliest);
            }
            if earliest == number {
                self.close(uid);
            }
        }
    }

    fn enter(&mut self, uid: &'g Uid) -> Visit<'g> {
        let number = self.numbers.len();
        self.numbers.insert(uid, number);
        self.open.push(uid);
        let above = self.graph.directly_above(uid);
        let above: Vec<&Uid> = above.filter_map(|above| self.uids.get(above)).collect();
        Visit {
            uid,
            number,
            earliest: number,
            above: above.into_iter(),
        }
    }

    /// Makes a group of an object and the open objects after it.
    fn close(&mut self, uid: &Uid) {
        let from = self.open.iter().rposition(|open| *open == uid);
        let group = self.open.split_off(from.unwrap_or_default());
        self.numbers.extend(group.iter().map(|uid| (*uid, GROUPED)));
        self.groups.push(group.into_iter().cloned().collect());
    }
}

#[cfg(test)]
mod tests;
