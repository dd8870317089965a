//! The rows of the view, in order: each requested object, followed by its dependents.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::state::StatusState;
use crate::graph::{Node, Standing, Standings};
use crate::model::ModelObject;
use crate::object::{ObjectRef, Uid};
use crate::source::SourceKey;
use crate::status::{Assessment, Status};

/// An object and its position in the tree.
#[derive(Clone, Debug)]
pub(super) struct StatusRow<'a> {
    /// The number of owners above it.
    pub(super) depth: usize,
    /// The owner that it is shown under.
    pub(super) owner: Option<Uid>,
    /// The object.
    pub(super) object: ObjectRef,
    /// Its state, cells and causes.
    pub(super) assessment: &'a Assessment,
    /// Its entry in the model; `None` if it was never there.
    pub(super) known: Option<&'a ModelObject>,
    /// How it relates to the rollout of its owner.
    pub(super) standing: Standing,
    /// Whether it was requested by name.
    pub(super) is_named: bool,
    node: Option<&'a Node>,
}

impl<'a> StatusRow<'a> {
    /// A row for an object outside a tree.
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

    /// When its assessment last changed during the watch.
    pub(super) fn changed(&self) -> Option<Timestamp> {
        self.known?.changed
    }

    /// When it was created.
    pub(super) fn created(&self) -> Option<Timestamp> {
        self.node?.created
    }

    /// The revision number of a `ReplicaSet`.
    pub(super) fn revision(&self) -> Option<i64> {
        let node = self.node.filter(|_| &*self.object.kind == "ReplicaSet");
        node.and_then(Node::revision)
    }

    /// A Pod's node and its primary address.
    pub(super) fn whereabouts(&self) -> (Option<&str>, Option<&str>) {
        let pod = self.node.and_then(Node::pod);
        let address = pod.and_then(|pod| pod.addresses.first());
        let node = pod.and_then(|pod| pod.node.as_deref());
        (node, address.map(|address| &**address))
    }
}

impl StatusState {
    /// Every requested object with all its dependents, each once. An object that was requested by name has a
    /// row even if it does not exist.
    pub(super) fn rows(&self) -> Vec<StatusRow<'_>> {
        let mut placement = Placement {
            state: self,
            rows: Vec::new(),
            placed: BTreeSet::new(),
            standings: self.model.graph().standings(),
        };
        for root in self.ordered_roots() {
            match root {
                RequestedObject::There(uid) => placement.place(uid),
                RequestedObject::Absent(source, object) => {
                    let is_read = self.is_read(source);
                    let assessment = if is_read {
                        &self.not_found
                    } else {
                        &self.unread
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

    /// The requested objects, in order. An object below another requested object comes last: by then it has a
    /// row below that one, unless the two own each other.
    fn ordered_roots(&self) -> Vec<RequestedObject<'_>> {
        let graph = self.model.graph();
        let is_below = |uid: &Uid| {
            let above = graph.ancestors(uid);
            above.iter().any(|owner| self.is_root(&owner.uid))
        };
        let there = self.roots().filter_map(|(uid, requested)| {
            let object = &self.model.object(uid)?.object;
            let place = (is_below(uid), requested, object.namespaced_name());
            Some((place, RequestedObject::There(uid)))
        });
        let absent = self.without_object().filter_map(|(requested, source)| {
            let object = source.named_object()?;
            let place = (false, requested, object.namespaced_name());
            Some((place, RequestedObject::Absent(source, object)))
        });
        let mut roots: Vec<_> = there.chain(absent).collect();
        roots.sort_by(|(place, _), (other, _)| place.cmp(other));
        roots.into_iter().map(|(_, root)| root).collect()
    }

    /// The tree of an object's dependents. It contains the object itself, even if that could not be read.
    fn tree(&self, root: &Uid) -> Vec<(usize, Uid)> {
        let graph = self.model.graph();
        let is_leaf = graph.children(root).is_empty();
        match graph.node(root) {
            Some(_) if !is_leaf => graph.tree(root),
            _ => vec![(0, root.clone())],
        }
    }
}

/// Collects the rows in order.
struct Placement<'a> {
    state: &'a StatusState,
    rows: Vec<StatusRow<'a>>,
    placed: BTreeSet<Uid>,
    standings: Standings<'a>,
}

impl Placement<'_> {
    /// Adds an object and its dependents.
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
            let Some(known) = state.model.object(&uid) else {
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
                    is_named: state.is_named(&uid),
                    node: state.model.graph().node(&uid),
                });
            }
        }
    }
}

/// A requested object.
enum RequestedObject<'a> {
    /// An object that has been seen.
    There(&'a Uid),
    /// The name of an object that has not been seen, and the source that selects it.
    Absent(&'a SourceKey, ObjectRef),
}
