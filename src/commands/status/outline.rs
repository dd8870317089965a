//! The objects in the order in which they are shown: each that was asked for, with what it owns below.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::judged::{Judged, Progress};
use super::state::{Known, State, meant};
use crate::graph::{Facts, Node, Standing};
use crate::object::{ObjectRef, Uid};
use crate::status::Status;

/// An object, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// How many owners it is shown under.
    pub(super) depth: usize,
    /// What it is shown under.
    pub(super) owner: Option<Uid>,
    /// Which object.
    pub(super) object: ObjectRef,
    /// What is said of it.
    pub(super) judged: &'a Judged,
    /// What is kept of it beside that; `None` if it was never there.
    pub(super) known: Option<&'a Known>,
    /// What it is to the rollout of its owner.
    pub(super) standing: Standing,
    /// Whether it was asked for by its name.
    pub(super) is_named: bool,
    node: Option<&'a Node>,
}

impl<'a> Item<'a> {
    /// An object that is judged on its own.
    pub(super) fn alone(object: ObjectRef, judged: &'a Judged, node: Option<&'a Node>) -> Item<'a> {
        Item {
            depth: 0,
            owner: None,
            object,
            judged,
            known: None,
            standing: Standing::Current,
            is_named: false,
            node,
        }
    }

    /// The worst state among the dependents of its current revision.
    pub(super) fn worst(&self) -> Option<Status> {
        self.known?.worst
    }

    /// When what is said of it last changed under our eyes.
    pub(super) fn changed(&self) -> Option<Timestamp> {
        self.known?.changed
    }

    /// How far its rollout is.
    pub(super) fn progress(&self) -> Option<Progress> {
        self.known?.progress
    }

    /// When it was created.
    pub(super) fn created(&self) -> Option<Timestamp> {
        self.node?.created
    }

    /// The revision number of a `ReplicaSet`.
    pub(super) fn revision(&self) -> Option<i64> {
        match &self.node?.facts {
            Facts::Workload(workload) if &*self.object.kind == "ReplicaSet" => workload.revision,
            _ => None,
        }
    }

    /// Where a Pod runs and its primary address.
    pub(super) fn whereabouts(&self) -> (Option<&str>, Option<&str>) {
        match self.node.map(|node| &node.facts) {
            Some(Facts::Pod(pod)) => (
                pod.node.as_deref(),
                pod.addresses.first().map(|address| &**address),
            ),
            _ => (None, None),
        }
    }
}

impl State {
    /// Every object that was asked for with all it owns, each once. What was asked for by name stands
    /// there even if it does not exist.
    pub(super) fn outline(&self) -> Vec<Item<'_>> {
        let mut items = Vec::with_capacity(self.objects.len());
        let mut placed = BTreeSet::new();
        for root in self.roots() {
            match root {
                Root::There(uid) => self.place(uid, &mut items, &mut placed),
                Root::Absent(index, object) => {
                    let judged = if self.is_unread(index) {
                        &self.unread
                    } else {
                        &self.not_found
                    };
                    items.push(Item {
                        is_named: true,
                        ..Item::alone(object, judged, None)
                    });
                }
            }
        }
        items
    }

    /// What was asked for, in that order. One that is owned by another comes after all that are not: it
    /// is by then shown below its owner, unless the two own each other.
    fn roots(&self) -> Vec<Root<'_>> {
        let is_root = |uid: &Uid| {
            let known = self.objects.get(uid);
            known.is_some_and(|known| known.asked.is_some())
        };
        let is_below = |uid: &Uid| {
            let above = self.graph.ancestors(uid);
            above.iter().any(|owner| is_root(&owner.uid))
        };
        let there = self.objects.iter().filter_map(|(uid, known)| {
            let object = known.object.clone();
            Some((is_below(uid), known.asked?, object, Some(uid)))
        });
        let is_absent = |index| {
            !self
                .objects
                .values()
                .any(|known| known.asked == Some(index))
        };
        let absent = self.asked().enumerate();
        let absent = absent
            .filter(|(index, _)| self.is_name(*index) && is_absent(*index))
            .map(|(index, key)| (false, index, meant(key), None));
        let mut roots: Vec<_> = there.chain(absent).collect();
        roots.sort_by(|(a_below, a, a_object, _), (b_below, b, b_object, _)| {
            let a_place = (a_below, a, &a_object.namespace, &a_object.name);
            a_place.cmp(&(b_below, b, &b_object.namespace, &b_object.name))
        });
        let root = |(_, index, object, uid): (bool, usize, ObjectRef, Option<_>)| match uid {
            Some(uid) => Root::There(uid),
            None => Root::Absent(index, object),
        };
        roots.into_iter().map(root).collect()
    }

    fn place<'a>(&'a self, root: &Uid, items: &mut Vec<Item<'a>>, placed: &mut BTreeSet<Uid>) {
        if placed.contains(root) {
            return;
        }
        let mut above: Vec<Uid> = Vec::new();
        for (depth, uid) in self.tree(root) {
            above.truncate(depth);
            let owner = above.last().cloned();
            above.push(uid.clone());
            let Some(known) = self.objects.get(&uid) else {
                continue;
            };
            if placed.insert(uid.clone()) {
                items.push(Item {
                    depth,
                    owner,
                    object: known.object.clone(),
                    judged: &known.judged,
                    known: Some(known),
                    standing: self.graph.standing(&uid),
                    is_named: known.asked.is_some_and(|index| self.is_name(index)),
                    node: self.graph.node(&uid),
                });
            }
        }
    }

    /// The outline of what an object owns, itself included even where it could not be read.
    fn tree(&self, root: &Uid) -> Vec<(usize, Uid)> {
        let is_leaf = self.graph.children(root).is_empty();
        match self.graph.node(root) {
            Some(_) if !is_leaf => self.graph.tree(root),
            _ => vec![(0, root.clone())],
        }
    }
}

/// Something that was asked for.
enum Root<'a> {
    /// An object.
    There(&'a Uid),
    /// The name of one that is not there, and which of the sources that were asked for it is.
    Absent(usize, ObjectRef),
}
