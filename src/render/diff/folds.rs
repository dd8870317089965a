//! Groups related changes: those of one condition, of one item, and of a reordered list.

use std::collections::BTreeMap;

use super::lines::{Base, LineMark, Painter};
use super::states::{condition_lines, container_state, whole_condition};
use super::view::{DiffView, MOVES, is_move};
use crate::diff::{Change, Fmt, NodeId, Op, Shown};
use crate::object::list_keys::ListKey;
use crate::object::path::Side;
use crate::render::count::{plural, thousands};
use crate::render::style::Role;

/// The number of lines from which on an item's changes become a block below it.
const BLOCK: usize = 3;

/// The lines of all changes.
pub(super) fn lines(painter: &Painter<'_>, changes: &[&Change]) -> Vec<String> {
    let reordered = reordered(painter, changes);
    let mut shown = Vec::new();
    let mut lines = Vec::with_capacity(changes.len());
    let items: Vec<Option<NodeId>> = changes
        .iter()
        .map(|change| item(painter, change.at))
        .collect();
    let mut rest = changes;
    for run in items.chunk_by(|a, b| a.is_some() && a == b) {
        let (item, group) = (run[0], &rest[..run.len()]);
        rest = &rest[run.len()..];
        if reordered.is_empty() {
            group_lines(painter, &mut lines, item, group);
            continue;
        }
        let list = |change: &Change| {
            let list = painter.diff.parent(change.at);
            (is_move(change) && reordered.contains_key(&list)).then_some(list)
        };
        for list in group.iter().filter_map(|change| list(change)) {
            if !shown.contains(&list) {
                shown.push(list);
                lines.push(reordered_line(painter, list, reordered[&list], changes));
            }
        }
        let others: Vec<&Change> = group
            .iter()
            .filter(|change| list(change).is_none())
            .copied()
            .collect();
        if !others.is_empty() {
            group_lines(painter, &mut lines, item, &others);
        }
    }
    lines
}

/// Counts the changes in each part of the object, for versions with more changes than fit a screen. A part
/// with a single change shows that change.
pub(super) fn counted(painter: &Painter<'_>, changes: &[&Change], lines: usize) -> Vec<String> {
    let part = |change: &Change| {
        let chain: Vec<NodeId> = painter.diff.chain(change.at).collect();
        // The second step from the root, or the first one if the second is the change itself.
        let above = chain.len().clamp(2, 3) - 1;
        chain.get(chain.len().saturating_sub(above)).copied()
    };
    let mut out = Vec::new();
    for run in changes.chunk_by(|a, b| part(a) == part(b)) {
        match (part(run[0]), run) {
            (Some(part), [_, _, ..]) => {
                let mut line = painter.start(LineMark::CHANGED, part, Base::TOP);
                line.push(Role::Plain, &format!(": {}", plural(run.len(), "change")));
                out.push(painter.paint(line));
            }
            (_, run) => {
                for change in run {
                    painter.change(&mut out, change, Base::TOP);
                }
            }
        }
    }
    out.push(whole(lines, painter.view));
    out
}

/// Tells the reader how to see all lines.
pub(super) fn whole(lines: usize, view: &DiffView<'_>) -> String {
    let whole = format!("  {} in all; --no-fold shows them", plural(lines, "line"));
    view.look.styles.dim(&whole)
}

/// The reordered lists, and the number of their moved items.
fn reordered(painter: &Painter<'_>, changes: &[&Change]) -> BTreeMap<NodeId, usize> {
    let mut moves = BTreeMap::new();
    for change in changes.iter().filter(|change| is_move(change)) {
        *moves.entry(painter.diff.parent(change.at)).or_default() += 1;
    }
    moves.retain(|_, count| *count > MOVES);
    moves
}

/// `↕ .endpoints: 4,864 of 5,000 items moved, none changed`
fn reordered_line(
    painter: &Painter<'_>,
    list: NodeId,
    moves: usize,
    changes: &[&Change],
) -> String {
    let mark = LineMark::new(Role::Moved, painter.view.look.symbols.moved);
    let mut line = painter.start(mark, list, Base::TOP);
    let total = painter.shown(list, Side::New).map_or(0, Shown::len);
    let others = changes.iter().filter(|change| {
        !is_move(change) && painter.diff.chain(change.at).any(|above| above == list)
    });
    let rest = match others.count() {
        0 => "none changed".to_owned(),
        count => plural(count, "other change"),
    };
    line.push(
        Role::Plain,
        &format!(
            ": {} of {} items moved, {rest}",
            thousands(moves),
            thousands(total)
        ),
    );
    painter.paint(line)
}

/// The item that a change is grouped under: the condition that contains it, else its outermost item with a
/// key.
fn item(painter: &Painter<'_>, at: NodeId) -> Option<NodeId> {
    let diff = painter.diff;
    let items = || diff.chain(at).skip(1).filter(|&above| diff.is_keyed(above));
    items()
        .find(|&item| is_condition(painter, item))
        .or_else(|| items().last())
}

fn is_condition(painter: &Painter<'_>, item: NodeId) -> bool {
    let is_by_type = |key: &ListKey| key.fields().eq(["type"]);
    painter.diff.field(painter.diff.parent(item)) == Some("conditions")
        && painter.diff.key(item).is_some_and(is_by_type)
}

fn group_lines(
    painter: &Painter<'_>,
    out: &mut Vec<String>,
    item: Option<NodeId>,
    changes: &[&Change],
) {
    let Some(item) = item else {
        return changes.iter().for_each(|change| lone(painter, out, change));
    };
    if is_condition(painter, item) {
        return condition_lines(painter, out, item, changes);
    }
    let group = ItemChanges { item, changes };
    // Most items have one change of one line, which needs no attempt as a block.
    if changes.len() < BLOCK && changes.iter().all(|change| is_one_line(change)) {
        return parts(painter, out, group, Base::TOP);
    }
    let inside = Base {
        at: item,
        indent: 4,
    };
    let start = out.len();
    out.push(painter.paint(painter.start(LineMark::CHANGED, item, Base::TOP)));
    parts(painter, out, group, inside);
    if out.len() - start <= BLOCK {
        out.truncate(start);
        parts(painter, out, group, Base::TOP);
    }
}

/// The changes of one item.
#[derive(Clone, Copy)]
struct ItemChanges<'c> {
    item: NodeId,
    changes: &'c [&'c Change],
}

/// Whether a change always takes one line, whatever its values are.
fn is_one_line(change: &Change) -> bool {
    match change.op {
        Op::Add | Op::Remove | Op::Move { .. } => true,
        Op::Replace => matches!(change.fmt, Fmt::Plain | Fmt::Quantity | Fmt::Time),
    }
}

/// Appends a change outside of items, such as a whole condition.
fn lone(painter: &Painter<'_>, out: &mut Vec<String>, change: &Change) {
    let whole = is_condition(painter, change.at)
        .then(|| whole_condition(painter, change))
        .flatten();
    match whole {
        Some(line) => out.push(line),
        None => painter.change(out, change, Base::TOP),
    }
}

/// Appends the lines of an item, with the state of a container in one line.
fn parts(painter: &Painter<'_>, out: &mut Vec<String>, group: ItemChanges<'_>, base: Base) {
    let list = painter.diff.field(painter.diff.parent(group.item));
    if !list.is_some_and(|list| list.ends_with("ontainerStatuses")) {
        let changes = group.changes.iter();
        return changes.for_each(|change| painter.change(out, change, base));
    }
    let state = |change: &Change| {
        let chain = painter.diff.chain(change.at);
        let below = chain.take_while(|&above| above != group.item).last()?;
        let name = painter.diff.field(below)?;
        matches!(name, "state" | "lastState").then_some(below)
    };
    let runs = group
        .changes
        .chunk_by(|a, b| state(a).is_some() && state(a) == state(b));
    for run in runs {
        match state(run[0]) {
            Some(at) => out.extend(container_state(painter, at, run, base)),
            None => run
                .iter()
                .for_each(|change| painter.change(out, change, base)),
        }
    }
}
