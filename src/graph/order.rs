//! What is above and below objects, and the order from below to above. Each call visits an object and a relation once,
//! however many objects there are: owners may form long chains and cycles.

use std::collections::{BTreeSet, HashMap};

use crate::object::Uid;

use super::{Graph, Node};

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
            numbers: HashMap::new(),
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
    numbers: HashMap<&'g Uid, usize>,
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
