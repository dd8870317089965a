//! The walk: everything that an object is connected to, side by side, each object once.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::object::Uid;

use super::index::Graph;
use super::neighbours::{Neighbour, RelationEnd, TraceSide, neighbours};
use super::node::Node;
use super::reference_target::ReferenceTarget;
use super::relations::{Follow, Relation};

/// How far a walk goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceReach {
    /// In which directions.
    pub way: Way,
    /// Over how many relations, one after the other.
    pub depth: usize,
    /// Over which relations, by their names; empty for all.
    pub relations: Vec<String>,
}

/// In which directions a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the objects in front, and to those that use the object.
    Up,
    /// To the objects behind, and to those that the object uses.
    Down,
    /// In both.
    Both,
}

impl Default for TraceReach {
    fn default() -> TraceReach {
        TraceReach {
            way: Way::Both,
            depth: usize::MAX,
            relations: Vec::new(),
        }
    }
}

impl TraceReach {
    /// Whether it includes a side of the object.
    pub fn includes(&self, side: TraceSide) -> bool {
        match (self.way, side) {
            (Way::Both, _)
            | (Way::Up, TraceSide::InFront | TraceSide::UsedBy)
            | (Way::Down, TraceSide::Behind | TraceSide::Uses) => true,
            (Way::Up, TraceSide::Behind | TraceSide::Uses)
            | (Way::Down, TraceSide::InFront | TraceSide::UsedBy) => false,
        }
    }

    /// Whether the user names a relation.
    pub(super) fn names(&self, relation: &Relation) -> bool {
        self.relations.iter().any(|name| name == relation.name)
    }

    /// Whether it follows a relation.
    pub(super) fn follows(&self, relation: &Relation) -> bool {
        self.relations.is_empty() || self.names(relation)
    }
}

/// One object of a walk.
#[derive(Clone, Debug)]
pub struct TraceStep<'g> {
    /// The side of the first object on which it stands.
    pub side: TraceSide,
    /// Its distance from the first object, as far as the outline shows it; 1 for the nearest.
    pub depth: usize,
    /// The object, or its name if the graph does not have it.
    pub end: RelationEnd<'g>,
    /// The relations to the object above it in the outline; for an owner of users, none.
    pub relations: Vec<&'static Relation>,
    /// Whether all fields that name it say that it need not exist.
    pub is_optional: bool,
    /// Whether the walk was there before. What lies beyond it is not repeated.
    pub is_repeat: bool,
    /// Whether the walk goes no further, because it would show too much.
    pub is_end: bool,
}

impl Neighbour<'_> {
    fn is_end(&self) -> bool {
        let mut relations = self.relations.iter();
        !self.relations.is_empty() && relations.all(|relation| relation.follow == Follow::Back)
    }
}

/// Everything that an object is connected to: what is in front of it, what uses it, what is behind it, and what it and
/// the objects behind it use. Each object is followed once.
pub fn walk<'g>(graph: &'g Graph, root: &Uid, reach: &TraceReach) -> Vec<TraceStep<'g>> {
    let Some(node) = graph.node(root) else {
        return Vec::new();
    };
    let mut walker = GraphWalker {
        graph,
        root: node,
        reach,
        seen: BTreeSet::from([ReferenceTarget::of(&node.object)]),
        found: FxHashMap::default(),
        steps: Vec::new(),
    };
    if reach.includes(TraceSide::InFront) {
        walker.follow(node, TraceSide::InFront, 1);
        walker.follow_users(node, 1);
    }
    if reach.includes(TraceSide::Behind) {
        walker.follow(node, TraceSide::Behind, 1);
        walker.follow_needs();
    }
    walker.steps
}

struct GraphWalker<'g, 'r> {
    graph: &'g Graph,
    root: &'g Node,
    reach: &'r TraceReach,
    seen: BTreeSet<ReferenceTarget>,
    /// The neighbours of objects on the sides to which the walk has not gone from there. Most objects are asked for two.
    found: FxHashMap<&'g Uid, Vec<Neighbour<'g>>>,
    steps: Vec<TraceStep<'g>>,
}

impl<'g> GraphWalker<'g, '_> {
    /// Takes the neighbours of an object on one side, as far as the reach goes.
    fn neighbours(&mut self, node: &'g Node, side: TraceSide) -> Vec<Neighbour<'g>> {
        let known = self.found.remove(&node.uid);
        let all = known.unwrap_or_else(|| self.all_neighbours(node));
        let (of_side, others): (Vec<_>, Vec<_>) =
            (all.into_iter()).partition(|neighbour| neighbour.side == side);
        self.found.insert(&node.uid, others);
        of_side
    }

    fn all_neighbours(&self, node: &Node) -> Vec<Neighbour<'g>> {
        let mut neighbours = neighbours(self.graph, &node.uid);
        let is_root = node.uid == self.root.uid;
        neighbours.retain_mut(|neighbour| {
            neighbour
                .relations
                .retain(|relation| self.reach.follows(relation));
            let is_shown = is_root || !neighbour.is_of_root;
            is_shown && !neighbour.relations.is_empty()
        });
        neighbours
    }

    /// Follows the neighbours on one side, depth first. Owners may form long chains, so this does not call itself.
    fn follow(&mut self, node: &'g Node, side: TraceSide, depth: usize) {
        if depth > self.reach.depth {
            return;
        }
        let mut path = vec![self.neighbours(node, side).into_iter()];
        while let Some(open) = path.last_mut() {
            let Some(neighbour) = open.next() else {
                path.pop();
                continue;
            };
            let is_end = neighbour.is_end();
            let depth = depth + path.len() - 1;
            if let Some(node) = self.step(neighbour, depth).filter(|_| !is_end)
                && depth < self.reach.depth
            {
                path.push(self.neighbours(node, side).into_iter());
            }
        }
    }

    /// Adds a step. Returns the object if it is in the graph and new.
    fn step(&mut self, neighbour: Neighbour<'g>, depth: usize) -> Option<&'g Node> {
        let is_new = self.seen.insert(neighbour.end.target());
        let is_end = neighbour.is_end();
        let node = match &neighbour.end {
            RelationEnd::Node(node) => Some(*node),
            RelationEnd::Ghost(_) => None,
        };
        self.steps.push(TraceStep {
            side: neighbour.side,
            depth,
            end: neighbour.end,
            relations: neighbour.relations,
            is_optional: neighbour.is_optional,
            is_repeat: !is_new,
            is_end,
        });
        node.filter(|_| is_new)
    }

    /// Follows what the first object and the objects behind it need. What several of them need appears once.
    fn follow_needs(&mut self) {
        let behind = self
            .steps
            .iter()
            .filter(|step| step.side == TraceSide::Behind);
        let behind = behind.filter_map(|step| match step.end {
            RelationEnd::Node(node) if !step.is_repeat && !step.is_end => Some(node),
            RelationEnd::Node(_) | RelationEnd::Ghost(_) => None,
        });
        let users: Vec<&'g Node> = std::iter::once(self.root).chain(behind).collect();
        for user in users {
            for neighbour in self.neighbours(user, TraceSide::Uses) {
                let is_known = self.seen.contains(&neighbour.end.target());
                if is_known && user.uid != self.root.uid {
                    continue;
                }
                if let Some(node) = self.step(neighbour, 1) {
                    self.follow(node, TraceSide::Uses, 2);
                }
            }
        }
    }

    /// Follows the objects that use this one, each below its owners.
    fn follow_users(&mut self, node: &'g Node, depth: usize) {
        if depth > self.reach.depth {
            return;
        }
        let mut users = BTreeMap::new();
        for neighbour in self.neighbours(node, TraceSide::UsedBy) {
            match neighbour.end {
                RelationEnd::Node(user) => {
                    users.insert(user.uid.clone(), neighbour);
                }
                RelationEnd::Ghost(_) => {
                    self.step(neighbour, depth);
                }
            }
        }
        for (below, node) in self.families(&users) {
            let relations = users.remove(&node.uid).map(|user| user.relations);
            let is_user = relations.is_some();
            let owner = Neighbour {
                side: TraceSide::UsedBy,
                end: RelationEnd::Node(node),
                relations: relations.unwrap_or_default(),
                is_optional: false,
                is_of_root: false,
            };
            let new = self.step(owner, depth + below);
            if let Some(user) = new.filter(|_| is_user) {
                self.follow_users(user, depth + below + 1);
            }
        }
    }

    /// Users and their owners as trees, with the depth of each in its tree.
    fn families(&self, users: &BTreeMap<Uid, Neighbour<'g>>) -> Vec<(usize, &'g Node)> {
        let mut shown: BTreeSet<&Uid> = users.keys().collect();
        let mut tops: Vec<&Node> = Vec::new();
        let mut climbed: BTreeSet<&Uid> = BTreeSet::new();
        for user in users.keys() {
            let mut at = self.graph.node(user);
            let mut top = at;
            // Above an object that an earlier user has reached, all is known.
            while let Some(node) = at {
                if !climbed.insert(&node.uid) {
                    top = None;
                    break;
                }
                if node.uid != self.root.uid {
                    shown.insert(&node.uid);
                    top = Some(node);
                }
                at = self.graph.owners(&node.uid).next();
            }
            tops.extend(top);
        }
        tops.sort_by_cached_key(|top| top.place());
        let trees = tops.iter().flat_map(|top| self.graph.tree(&top.uid));
        let rows = trees.filter(|(_, uid)| shown.contains(uid));
        let rows = rows.filter_map(|(below, uid)| Some((below, self.graph.node(&uid)?)));
        rows.collect()
    }
}

#[cfg(test)]
mod tests;
