//! The rows of the view, in order: each requested object, followed by its dependents.

use std::sync::Arc;

use jiff::Timestamp;
use rustc_hash::FxHashSet;

use super::roots::{Rank, Root, RootPlace};
use super::sort_by::SortBy;
use super::state::StatusState;
use crate::commands::LastChange;
use crate::graph::{Node, Standing, Standings};
use crate::model::{AbsentMember, ModelObject};
use crate::object::{Doc, ObjectRef, Uid};
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
    pub(super) assessment: &'a Arc<Assessment>,
    /// Its entry in the model; `None` if it was never there.
    pub(super) known: Option<&'a ModelObject>,
    /// How it relates to the rollout of its owner.
    pub(super) standing: Standing,
    /// Whether it was requested, by name or not.
    pub(super) is_requested: bool,
    /// Whether it was requested by name.
    pub(super) is_named: bool,
    /// What changed before it failed, if that is known.
    pub(super) last_change: Option<&'a LastChange>,
    node: Option<&'a Node>,
}

impl<'a> StatusRow<'a> {
    /// A row for an object outside a tree.
    pub(super) fn alone(
        object: ObjectRef,
        assessment: &'a Arc<Assessment>,
        node: Option<&'a Node>,
    ) -> StatusRow<'a> {
        StatusRow {
            depth: 0,
            owner: None,
            object,
            assessment,
            known: None,
            standing: Standing::Current,
            is_requested: true,
            is_named: false,
            last_change: None,
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

    /// What the server prints in one of its columns.
    pub(super) fn printed(&self, title: &str) -> Option<&str> {
        let mut cells = self.known?.printed.iter();
        let cell = cells.find(|cell| &*cell.column == title)?;
        Some(&cell.text)
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
            placed: FxHashSet::default(),
            standings: self.model.graph().standings(),
            has_owners: self.model.graph().has_owners(),
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

    /// The requested objects: first those requested by name, then the others, the worst first. An object below another requested object comes last: by then it has a
    /// row below that one, unless the two own each other.
    fn ordered_roots(&self) -> Vec<RequestedObject<'_>> {
        let graph = self.model.graph();
        // The objects of most long lists own nothing.
        let has_owners = graph.has_owners();
        let is_below = |uid: &Uid| {
            let above = has_owners.then(|| graph.above(uid));
            let mut above = above.into_iter().flatten();
            above.any(|owner| self.root(&owner).is_some())
        };
        let named = self.without_object().filter_map(|(requested, source)| {
            let object = source.named_object()?;
            let place = RootPlace {
                rank: Rank::Named,
                requested,
                name: object.namespaced_name(),
                uid: None,
            };
            Some((place, RequestedObject::Absent(source, object)))
        });
        let mut absent: Vec<_> = named.collect();
        absent.sort_by(|(place, _), (other, _)| place.cmp(other));
        let mut absent = absent.into_iter().peekable();
        let (mut roots, mut last) = (Vec::new(), Vec::new());
        for place in self.roots_in_order() {
            while let Some((_, object)) = absent.next_if(|(absent, _)| absent < place) {
                roots.push(object);
            }
            let Some(uid) = &place.uid else { continue };
            if is_below(uid) {
                last.push(RequestedObject::There(uid));
            } else {
                roots.push(RequestedObject::There(uid));
            }
        }
        roots.extend(absent.map(|(_, object)| object));
        if let Some(sort_by) = &self.sort_by {
            self.sort(&mut roots, sort_by);
        }
        roots.extend(last);
        roots
    }

    /// Sorts requested objects by a field. Equal ones keep their order.
    fn sort(&self, roots: &mut Vec<RequestedObject<'_>>, sort_by: &SortBy) {
        let key = |root: &RequestedObject<'_>| match root {
            RequestedObject::There(uid) => {
                let doc = self.model.doc(uid);
                sort_by.key(doc.as_ref().map(Doc::root))
            }
            RequestedObject::Absent(..) => sort_by.key(None),
        };
        let mut keyed: Vec<_> = roots.drain(..).map(|root| (key(&root), root)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.compare(b));
        roots.extend(keyed.into_iter().map(|(_, root)| root));
    }

    /// The tree of an object's dependents and members. It contains the object itself, even if that could not be read.
    fn tree(&self, root: &Uid) -> Vec<(usize, Uid)> {
        let graph = self.model.graph();
        let is_leaf = graph.children(root).is_empty() && !graph.is_inventory(root);
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
    placed: FxHashSet<Uid>,
    standings: Standings<'a>,
    /// Whether any object has dependents or members. Without them, each row stands alone.
    has_owners: bool,
}

impl Placement<'_> {
    /// Adds an object and its dependents.
    fn place(&mut self, root: &Uid) {
        if self.placed.contains(root) {
            return;
        }
        let state = self.state;
        let mut above: Vec<Uid> = Vec::new();
        let tree = if self.has_owners {
            state.tree(root)
        } else {
            vec![(0, root.clone())]
        };
        for (depth, uid) in tree {
            above.truncate(depth);
            let owner = above.last().cloned();
            above.push(uid.clone());
            let Some(known) = state.model.object(&uid) else {
                continue;
            };
            if self.placed.insert(uid.clone()) {
                let root = state.root(&uid);
                self.rows.push(StatusRow {
                    depth,
                    owner,
                    object: known.object.clone(),
                    assessment: &known.assessment,
                    known: Some(known),
                    standing: if self.has_owners {
                        self.standings.of(&uid)
                    } else {
                        Standing::Current
                    },
                    is_requested: root.is_some(),
                    is_named: root.is_some_and(Root::is_named),
                    last_change: state.last_changes.as_ref().and_then(|found| found.of(&uid)),
                    node: state.model.graph().node(&uid),
                });
                if self.has_owners {
                    self.place_absent_members(depth, &uid);
                }
            }
        }
    }

    /// Adds the members of an inventory that have no object.
    fn place_absent_members(&mut self, depth: usize, inventory: &Uid) {
        let model = &self.state.model;
        for AbsentMember { target, why } in model.absent_members(inventory) {
            let object = target.object(model.types());
            if self.placed.insert(object.identity()) {
                let assessment = self.state.absent_members.of(why);
                self.rows.push(StatusRow {
                    depth: depth + 1,
                    owner: Some(inventory.clone()),
                    is_requested: false,
                    ..StatusRow::alone(object, assessment, None)
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
