//! The rows of the view, in order: each requested object, followed by its dependents.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rustc_hash::FxHashSet;

use super::state::{RequestedObject, RootSelection, StatusState};
use crate::commands::{FailureLogs, LastChange, LastChanges, LastLines};
use crate::env::shifted;
use crate::graph::{Node, Standing, Standings};
use crate::model::{AbsentMember, ModelObject, Root, absent_members};
use crate::object::{ObjectRef, Uid};
use crate::render::count::plural;
use crate::render::json::RefRecord;
use crate::render::json::status::StatusRecord;
use crate::status::{Assessment, Status};

/// The rows that a frame can show.
#[derive(Debug)]
pub(super) struct StatusRows<'a> {
    pub(super) shown: Vec<StatusRow<'a>>,
    /// The number of requested objects without a row: they are Current, and the frame has no room for them.
    pub(super) beyond: usize,
}

impl<'a> From<Vec<StatusRow<'a>>> for StatusRows<'a> {
    fn from(shown: Vec<StatusRow<'a>>) -> StatusRows<'a> {
        StatusRows { shown, beyond: 0 }
    }
}

/// An object and its position in the tree.
#[derive(Clone, Debug)]
pub(super) struct StatusRow<'a> {
    /// The number of owners above it.
    pub(super) depth: usize,
    /// The owner that it is shown under.
    pub(super) owner: Option<Uid>,
    pub(super) object: Arc<ObjectRef>,
    /// Its state, cells and causes.
    pub(super) assessment: &'a Arc<Assessment>,
    /// Its entry in the model; `None` if it was never there.
    pub(super) known: Option<&'a ModelObject>,
    /// How it relates to the rollout of its owner.
    pub(super) standing: Standing,
    /// Whether it was requested, by name or not.
    pub(super) is_requested: bool,
    pub(super) is_named: bool,
    /// What changed before it failed and may be the cause, the most suspect first.
    pub(super) last_changes: &'a [LastChange],
    /// What its failed containers printed last.
    pub(super) last_lines: &'a [LastLines],
    /// What other rows say about its problem.
    pub(super) repetition: Repetition,
    /// Where it is, of several clusters.
    pub(super) origin: RowOrigin<'a>,
    pub(super) node: Option<&'a Node>,
}

/// The place of a row in a view of several clusters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowOrigin<'a> {
    /// The short name of its cluster; `None` if there is only one.
    pub(super) cluster: Option<&'a str>,
    /// How far the clock of its cluster is ahead of the clock of the view.
    pub(super) ahead: SignedDuration,
    /// The number of its tree among those of its cluster.
    pub(super) tree: usize,
}

impl<'a> StatusRow<'a> {
    /// A row for an object outside a tree.
    pub(super) fn alone(
        object: Arc<ObjectRef>,
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
            last_changes: &[],
            last_lines: &[],
            repetition: Repetition::default(),
            origin: RowOrigin::default(),
            node,
        }
    }

    /// The time by the clock of its cluster.
    pub(super) fn now(&self, now: Timestamp) -> Timestamp {
        shifted(now, self.origin.ahead)
    }

    /// Whether it is gone and was not requested by name.
    pub(super) fn is_over(&self) -> bool {
        let departure = self.known.and_then(|known| known.departure);
        departure.is_some() && !self.is_named
    }

    /// The worst state among the dependents of its current revision.
    pub(super) fn worst(&self) -> Option<Status> {
        self.known?.worst
    }

    /// When its assessment last changed during the watch.
    pub(super) fn changed(&self) -> Option<Timestamp> {
        self.known?.changed
    }

    pub(super) fn created(&self) -> Option<Timestamp> {
        self.node?.created
    }

    /// The revision number of a `ReplicaSet`.
    pub(super) fn revision(&self) -> Option<i64> {
        let node = self.node.filter(|_| &*self.object.kind == "ReplicaSet");
        node.and_then(Node::revision)
    }

    /// The record that identifies its object, in a cluster.
    pub(super) fn object_ref(&self, cluster: &Arc<str>) -> RefRecord {
        RefRecord::new(cluster.clone(), &self.object)
    }

    /// The record of its state in a cluster.
    pub(super) fn record(&self, cluster: &Arc<str>, now: Timestamp) -> StatusRecord {
        let changes = self.last_changes.iter();
        StatusRecord {
            owner: self.owner.as_ref().map(Uid::text),
            depth: self.depth,
            worst: self.worst().map(Status::as_str),
            last_changes: changes.map(|change| change.record(cluster)).collect(),
            last_lines: self.last_lines.iter().map(LastLines::record).collect(),
            ..StatusRecord::new(self.object_ref(cluster), self.assessment, now)
        }
    }

    /// What the server prints in one of its columns.
    pub(super) fn printed(&self, title: &str) -> Option<&str> {
        let mut cells = self.known?.printed.iter();
        let cell = cells.find(|cell| &*cell.column == title)?;
        Some(&cell.text)
    }
}

impl StatusState {
    /// Every requested object with all its dependents, each once. An object that was requested by name has a
    /// row even if it does not exist.
    pub(super) fn rows(&self) -> Vec<StatusRow<'_>> {
        self.rows_within(None).shown
    }

    /// The rows for a frame with `room` lines; all rows without a limit.
    pub(super) fn rows_within(&self, room: Option<usize>) -> StatusRows<'_> {
        let has_dependents = self.model.graph().has_dependents();
        let RootSelection { shown, beyond } =
            self.select_roots(room.filter(|_| !has_dependents && self.sorting.is_none()));
        let mut placement = Placement {
            state: self,
            rows: Vec::with_capacity(shown.len()),
            placed: FxHashSet::default(),
            standings: self.model.graph().standings(),
            has_dependents,
        };
        for root in shown {
            match root {
                RequestedObject::There(uid) => placement.place(&uid),
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
        StatusRows {
            shown: placement.rows,
            beyond,
        }
    }

    /// The tree of an object's dependents and members that have no row yet. It contains the object itself, even if that
    /// could not be read.
    fn tree(&self, root: &Uid, placed: &FxHashSet<Uid>) -> Vec<(usize, Uid)> {
        let graph = self.model.graph();
        let is_collapsed = self.root(root).is_some_and(Root::is_collapsed);
        let is_leaf = graph.directly_below(root).next().is_none();
        // Of an object whose dependents are hidden, only the requested ones are shown.
        let is_hidden = |uid: &Uid| is_collapsed && self.root(uid).is_none();
        match graph.node(root) {
            Some(_) if !is_leaf => {
                graph.tree_beyond(root, |uid| placed.contains(uid) || is_hidden(uid))
            }
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
    has_dependents: bool,
}

impl Placement<'_> {
    /// Adds an object and its dependents.
    fn place(&mut self, root: &Uid) {
        if self.placed.contains(root) {
            return;
        }
        let state = self.state;
        let found_changes: Option<&LastChanges> = state.last_changes.as_ref();
        let found_lines: Option<&FailureLogs> = state.failure_logs.as_ref();
        let mut above: Vec<Uid> = Vec::new();
        let tree = if self.has_dependents {
            state.tree(root, &self.placed)
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
            if !self.has_dependents || self.placed.insert(uid.clone()) {
                let root = state.root(&uid);
                self.rows.push(StatusRow {
                    depth,
                    owner,
                    object: known.object.clone(),
                    assessment: &known.assessment,
                    known: Some(known),
                    standing: if self.has_dependents {
                        self.standings.of(&uid)
                    } else {
                        Standing::Current
                    },
                    is_requested: root.is_some(),
                    is_named: root.is_some_and(Root::is_named),
                    last_changes: found_changes.map_or(&[], |found| found.of(&uid)),
                    last_lines: found_lines.map_or(&[], |found| found.of(&uid)),
                    repetition: Repetition::default(),
                    origin: RowOrigin::default(),
                    node: state.model.graph().node(&uid),
                });
                if self.has_dependents {
                    self.place_absent_members(depth, &uid);
                }
            }
        }
    }

    /// Adds the members of an inventory that have no object.
    fn place_absent_members(&mut self, depth: usize, inventory: &Uid) {
        let model = &self.state.model;
        for AbsentMember { target, why } in absent_members(model.around(), inventory) {
            let object = Arc::new(target.object(model.types()));
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

/// The most kinds that a row names of the objects that repeat it.
const MAX_KINDS: usize = 4;

/// How the problem of a row relates to those of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Repetition {
    /// Whether another row says why the object is not well.
    pub(super) is_repeating: bool,
    /// The number of rows beside it that have the same causes and are left out.
    pub(super) alike: usize,
    /// The other objects that are left out because they only repeat it.
    pub(super) left_out: Vec<HiddenObject>,
}

/// An object without a row.
#[derive(Clone, Debug)]
pub(super) struct HiddenObject {
    pub(super) object: Arc<ObjectRef>,
    /// Whether the row that counts it owns it.
    pub(super) is_below: bool,
}

impl Repetition {
    /// `also not well: service/web, 1 replicaset`: what is left out beside this row of a namespace; `None` if nothing is.
    pub(super) fn text(&self, namespace: Option<&str>) -> Option<String> {
        let mut kinds: Vec<(String, Vec<&HiddenObject>)> = Vec::new();
        let mut left_out: Vec<&HiddenObject> = self.left_out.iter().collect();
        left_out.sort_by_key(|left_out| left_out.is_below);
        for left_out in left_out {
            let kind = left_out.object.kind.to_lowercase();
            match kinds.iter_mut().find(|(of, _)| *of == kind) {
                Some((_, objects)) => objects.push(left_out),
                None => kinds.push((kind, vec![left_out])),
            }
        }
        let more: usize = kinds.iter().skip(MAX_KINDS).map(|(_, of)| of.len()).sum();
        let named = kinds.iter().take(MAX_KINDS);
        let mut parts: Vec<String> = named
            .map(|(kind, objects)| match objects[..] {
                [only] if !only.is_below => only.name(namespace),
                _ => plural(objects.len(), kind),
            })
            .collect();
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        let text = format!("also not well: {}", parts.join(", "));
        (!parts.is_empty()).then_some(text)
    }
}

impl HiddenObject {
    /// The object, with its namespace if that is another one.
    fn name(&self, beside: Option<&str>) -> String {
        match self.object.namespace.as_deref() {
            Some(own) if Some(own) != beside => format!("{} -n {own}", self.object),
            _ => self.object.to_string(),
        }
    }
}
