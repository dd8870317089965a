//! The rows of the view: the objects in the order in which they are shown: each that was asked for, with what it owns below.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::state::{Known, State, meant};
use crate::graph::{Facts, Node, Standing, Standings};
use crate::object::{ObjectRef, Uid};
use crate::status::{Assessment, RolloutCounts, Status};

/// An object, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct StatusRow<'a> {
    /// How many owners it is shown under.
    pub(super) depth: usize,
    /// What it is shown under.
    pub(super) owner: Option<Uid>,
    /// Which object.
    pub(super) object: ObjectRef,
    /// Its state, cells and causes.
    pub(super) assessment: &'a Assessment,
    /// What is kept of it beside that; `None` if it was never there.
    pub(super) known: Option<&'a Known>,
    /// What it is to the rollout of its owner.
    pub(super) standing: Standing,
    /// Whether it was asked for by its name.
    pub(super) is_named: bool,
    node: Option<&'a Node>,
}

impl<'a> StatusRow<'a> {
    /// An object that is judged on its own.
    pub(super) fn alone(
        object: ObjectRef,
        assessment: &'a Assessment,
        node: Option<&'a Node>,
    ) -> StatusRow<'a> {
        StatusRow {
            depth: 0,
            owner: None,
            object,
            assessment,
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

    /// When its assessment last changed while it was watched.
    pub(super) fn changed(&self) -> Option<Timestamp> {
        self.known?.changed
    }

    /// How far its rollout is.
    pub(super) fn rollout(&self) -> Option<RolloutCounts> {
        self.known?.rollout
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
    pub(super) fn rows(&self) -> Vec<StatusRow<'_>> {
        let mut placement = Placement {
            state: self,
            rows: Vec::with_capacity(self.objects.len()),
            placed: BTreeSet::new(),
            standings: self.graph.standings(),
        };
        for root in self.roots() {
            match root {
                AskedObject::There(uid) => placement.place(uid),
                AskedObject::Absent(index, object) => {
                    let assessment = if self.is_unread(index) {
                        &self.unread
                    } else {
                        &self.not_found
                    };
                    placement.rows.push(StatusRow {
                        is_named: true,
                        ..StatusRow::alone(object, assessment, None)
                    });
                }
            }
        }
        placement.rows
    }

    /// What was asked for, in that order. One that is owned by another comes after all that are not: it
    /// is by then shown below its owner, unless the two own each other.
    fn roots(&self) -> Vec<AskedObject<'_>> {
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
            Some(uid) => AskedObject::There(uid),
            None => AskedObject::Absent(index, object),
        };
        roots.into_iter().map(root).collect()
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

/// Rows that are being put in order.
struct Placement<'a> {
    state: &'a State,
    rows: Vec<StatusRow<'a>>,
    placed: BTreeSet<Uid>,
    standings: Standings<'a>,
}

impl Placement<'_> {
    /// Adds an object and all it owns.
    fn place(&mut self, root: &Uid) {
        if self.placed.contains(root) {
            return;
        }
        let state = self.state;
        let mut above: Vec<Uid> = Vec::new();
        for (depth, uid) in state.tree(root) {
            above.truncate(depth);
            let owner = above.last().cloned();
            above.push(uid.clone());
            let Some(known) = state.objects.get(&uid) else {
                continue;
            };
            if self.placed.insert(uid.clone()) {
                self.rows.push(StatusRow {
                    depth,
                    owner,
                    object: known.object.clone(),
                    assessment: &known.assessment,
                    known: Some(known),
                    standing: self.standings.of(&uid),
                    is_named: known.asked.is_some_and(|index| state.is_name(index)),
                    node: state.graph.node(&uid),
                });
            }
        }
    }
}

/// Something that was asked for.
enum AskedObject<'a> {
    /// An object.
    There(&'a Uid),
    /// The name of one that is not there, and which of the sources that were asked for it is.
    Absent(usize, ObjectRef),
}
