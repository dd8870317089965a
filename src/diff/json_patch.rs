//! Writes a diff as a JSON Patch (RFC 6902), which turns the old version into the new.
//!
//! List items come first, outer lists before inner ones. Items are removed from the back, then moved into
//! their new order, then new items are added from the front. From there on all indices are new ones, and the
//! other edits follow. Secret values are replaced by placeholders here too; such a patch cannot be applied
//! ([`Patch::is_redacted`]).
//!
//! Values are JSON texts, not `serde_json` values, so that numbers keep every digit.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::object::path::Side;

use super::{Change, Diff, NodeId, NodeStep, Op, Redactor, Shown};

/// A list that needs more operations than its length plus this is replaced as a whole.
const SPARE_STEPS: usize = 8;

/// The limit of moves times items. Simulating one move takes time in proportion to the list.
const MAX_WORK: usize = 4_000_000;

/// The operations of a patch, in order.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Patch(pub Vec<Operation>);

/// The value of an operation, as JSON text.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Operand {
    json: Box<RawValue>,
    #[serde(skip)]
    is_redacted: bool,
}

/// One operation (RFC 6902 §4). Paths are JSON Pointers (RFC 6901).
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// Sets a field, or inserts an item.
    Add {
        /// The target.
        path: String,
        /// The new value.
        value: Operand,
    },
    /// Removes a value.
    Remove {
        /// The target.
        path: String,
    },
    /// Replaces a value.
    Replace {
        /// The target.
        path: String,
        /// The new value.
        value: Operand,
    },
    /// Moves an item.
    Move {
        /// The old position.
        from: String,
        /// The new position.
        path: String,
    },
}

impl Patch {
    /// Whether Secret values are replaced by placeholders. Such a patch must not be applied.
    pub fn is_redacted(&self) -> bool {
        self.0.iter().any(|operation| match operation {
            Operation::Add { value, .. } | Operation::Replace { value, .. } => value.is_redacted,
            Operation::Remove { .. } | Operation::Move { .. } => false,
        })
    }
}

/// The patch from the old version to the new, noise included. Replaces the whole object if that is shorter.
pub fn json_patch(diff: &Diff<'_>, redactor: &Redactor) -> Patch {
    let patch = step_by_step(diff, redactor);
    if patch.0.is_empty() {
        return patch;
    }
    let length = |patch: &Patch| serde_json::to_string(patch).map_or(usize::MAX, |text| text.len());
    let whole = Patch(vec![replace(diff, NodeId::ROOT, redactor)]);
    if length(&patch) > length(&whole) {
        whole
    } else {
        patch
    }
}

/// The patch as single changes, however long. Unlike [`json_patch()`], it never replaces the object to save
/// length.
pub fn step_by_step(diff: &Diff<'_>, redactor: &Redactor) -> Patch {
    let lists = lists(diff);
    let mut patch = Vec::new();
    let mut replaced = HashSet::new();
    for (&at, list) in &lists {
        if is_inside(diff, at, &replaced) {
            continue;
        }
        if let Some(operations) = list.operations(diff, at, redactor) {
            patch.extend(operations);
        } else {
            replaced.insert(at);
            patch.push(replace(diff, at, redactor));
        }
    }
    for change in diff.changes() {
        let is_item = matches!(diff.node(change.at).step, NodeStep::Item { .. });
        let is_edit = !is_item || change.op == Op::Replace;
        if is_edit && !is_inside(diff, change.at, &replaced) {
            patch.push(edit(diff, change, redactor));
        }
    }
    Patch(patch)
}

/// The items of one list that were removed, moved and added.
#[derive(Default)]
struct ListChanges {
    removed: Vec<u32>,
    moved: Vec<(u32, u32)>,
    added: Vec<(u32, NodeId)>,
}

/// Groups the changes of items by list, outer lists before inner ones.
fn lists(diff: &Diff<'_>) -> BTreeMap<NodeId, ListChanges> {
    let mut lists: BTreeMap<NodeId, ListChanges> = BTreeMap::new();
    for change in diff.changes() {
        let NodeStep::Item { place, .. } = &diff.node(change.at).step else {
            continue;
        };
        if change.op == Op::Replace {
            continue;
        }
        let list = lists.entry(diff.parent(change.at)).or_default();
        match (change.op, place.old, place.new) {
            (Op::Move { from, to }, _, _) => list.moved.push((from, to)),
            (Op::Remove, Some(old), _) => list.removed.push(old),
            (Op::Add, _, Some(new)) => list.added.push((new, change.at)),
            (Op::Remove | Op::Add | Op::Replace, _, _) => {}
        }
    }
    lists
}

fn is_inside(diff: &Diff<'_>, at: NodeId, outer: &HashSet<NodeId>) -> bool {
    !outer.is_empty() && diff.chain(at).any(|at| outer.contains(&at))
        || outer.contains(&NodeId::ROOT)
}

impl ListChanges {
    /// The operations, or `None` if replacing the list is shorter.
    fn operations(
        &self,
        diff: &Diff<'_>,
        at: NodeId,
        redactor: &Redactor,
    ) -> Option<Vec<Operation>> {
        let node = diff.node(at);
        let length = |side| node.on(side).map_or(0, |list| list.items().count());
        let (old, new) = (length(Side::Old), length(Side::New));
        let steps = self.removed.len() + self.moved.len() + self.added.len();
        if steps > new + SPARE_STEPS || self.moved.len().saturating_mul(old) > MAX_WORK {
            return None;
        }
        let base = diff.path(at).pointer(Side::New);
        let place = |index: usize| format!("{base}/{index}");
        let mut removed = self.removed.clone();
        removed.sort_unstable_by(|a, b| b.cmp(a));
        let mut operations: Vec<Operation> = removed
            .iter()
            .map(|&index| Operation::Remove {
                path: place(index as usize),
            })
            .collect();
        let moves = self.moves(old, new).into_iter();
        operations.extend(moves.map(|(from, to)| Operation::Move {
            from: place(from),
            path: place(to),
        }));
        // A diff lists the items in their new order.
        operations.extend(self.added.iter().map(|&(index, item)| Operation::Add {
            path: place(index as usize),
            value: value(diff, item, redactor),
        }));
        Some(operations)
    }

    /// The moves that bring the surviving items into their new order. Each move's indices are those of the
    /// list at that time.
    fn moves(&self, old: usize, new: usize) -> Vec<(usize, usize)> {
        if self.moved.is_empty() {
            return Vec::new();
        }
        let survivors = |length: usize, gone: Vec<u32>| {
            let gone: HashSet<u32> = gone.into_iter().collect();
            (0u32..)
                .take(length)
                .filter(move |index| !gone.contains(index))
        };
        let mut list: Vec<u32> = survivors(old, self.removed.clone()).collect();
        let origins: BTreeMap<u32, u32> = self.moved.iter().map(|&(from, to)| (to, from)).collect();
        let away = self.moved.iter().map(|&(from, _)| from);
        let mut stayed = survivors(old, away.chain(self.removed.iter().copied()).collect());
        let added = self.added.iter().map(|&(index, _)| index).collect();
        let mut moves = Vec::new();
        let mut after = 0;
        for index in survivors(new, added) {
            let Some(item) = origins.get(&index).copied().or_else(|| stayed.next()) else {
                break;
            };
            let Some(from) = list.iter().position(|&other| other == item) else {
                break;
            };
            if origins.contains_key(&index) {
                list.remove(from);
                let to = if from < after { after - 1 } else { after };
                list.insert(to, item);
                if from != to {
                    moves.push((from, to));
                }
                after = to + 1;
            } else {
                after = from + 1;
            }
        }
        moves
    }
}

/// The operation for a change of a field, or for an edited item.
fn edit(diff: &Diff<'_>, change: &Change, redactor: &Redactor) -> Operation {
    let path = diff.path(change.at).pointer(Side::New);
    match change.op {
        // The whole document cannot be added or removed, only replaced.
        Op::Add | Op::Remove if change.at == NodeId::ROOT => replace(diff, change.at, redactor),
        Op::Add => Operation::Add {
            path,
            value: value(diff, change.at, redactor),
        },
        Op::Remove => Operation::Remove { path },
        Op::Replace | Op::Move { .. } => replace(diff, change.at, redactor),
    }
}

fn replace(diff: &Diff<'_>, at: NodeId, redactor: &Redactor) -> Operation {
    Operation::Replace {
        path: diff.path(at).pointer(Side::New),
        value: value(diff, at, redactor),
    }
}

/// The new value, or null if there is none.
fn value(diff: &Diff<'_>, at: NodeId, redactor: &Redactor) -> Operand {
    let new = diff.shown(at, Side::New, redactor);
    let text = new.map_or_else(|| "null".to_owned(), Shown::json);
    Operand {
        json: RawValue::from_string(text).expect("Shown::json writes JSON"),
        is_redacted: new.is_some_and(Shown::holds_secret),
    }
}
