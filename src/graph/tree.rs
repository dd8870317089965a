//! The owners of an object, and the tree of its dependents. Each object appears once, in a stable order. The members
//! of an inventory are its dependents, too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::object::Uid;

use super::{Graph, Node};

/// The order of kinds among siblings. Other kinds follow by name.
const KINDS: [&str; 10] = [
    "CronJob",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "Service",
    "EndpointSlice",
];

/// The sort key among siblings: kind, newest revision first, namespace, name (`web-2` before `web-10`).
pub(super) type Place = (
    usize,
    Arc<str>,
    Reverse<Option<i64>>,
    Option<Arc<str>>,
    (Arc<str>, u64),
    Uid,
);

impl Node {
    pub(super) fn place(&self) -> Place {
        let kind = &self.object.kind;
        let rank = KINDS.iter().position(|known| *known == &**kind);
        (
            rank.unwrap_or(KINDS.len()),
            kind.clone(),
            Reverse(self.revision()),
            self.object.namespace.clone(),
            ordinal(&self.object.name),
            self.uid.clone(),
        )
    }
}

/// Splits off the number at the end of a name, as in the names of `StatefulSet` pods.
fn ordinal(name: &Arc<str>) -> (Arc<str>, u64) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match name[stem.len()..].parse() {
        Ok(number) => (stem.into(), number),
        Err(_) => (name.clone(), 0),
    }
}

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

    /// Whether an object in the graph has dependents or members there.
    pub fn has_dependents(&self) -> bool {
        let owners = self.dependents.keys();
        let names = self.references.names.values();
        let mut above = owners.chain(names.flat_map(|name| &name.inventories));
        above.any(|uid| self.nodes.contains_key(uid))
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
