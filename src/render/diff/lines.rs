//! The lines of all changes. Related ones are grouped: those of one condition, of one item, and of a reordered list.

use std::collections::{BTreeMap, HashSet};
use std::mem::{Discriminant, discriminant};

use super::change_line;
use super::diff_line::DiffLine;
use super::hunks::{excerpt, hunks};
use super::painter::{Base, LineMark, Painter, ShownPair};
use super::states::{changed_condition, container_state, is_of_condition, whole_condition};
use super::view::{MOVES, is_move, rank};
use crate::diff::{
    Change, Content, Diff, Embedded, Fmt, LAST_APPLIED, NodeId, Op, Redactor, Shown,
};
use crate::object::list_keys::{ListKey, ListKeys};
use crate::object::path::Side;
use crate::render::count::{plural, thousands};
use crate::render::style::Role;
use crate::render::text::Text;

/// The number of lines from which on an item's changes become a block below it.
const BLOCK: usize = 3;

/// The lines of all changes.
pub(super) fn lines(painter: &Painter<'_>, changes: &[&Change]) -> Vec<Text> {
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
pub(super) fn counted(painter: &Painter<'_>, changes: &[&Change], lines: usize) -> Vec<Text> {
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
                out.push(painter.finish(line));
            }
            (_, run) => {
                push_changes(painter, &mut out, run, Base::TOP);
            }
        }
    }
    out.push(whole(lines));
    out
}

/// Tells the reader how to see all lines.
pub(super) fn whole(lines: usize) -> Text {
    Text::dim(format!(
        "  {} in all; --no-fold shows them",
        plural(lines, "line")
    ))
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
fn reordered_line(painter: &Painter<'_>, list: NodeId, moves: usize, changes: &[&Change]) -> Text {
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
    painter.finish(line)
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
    out: &mut Vec<Text>,
    item: Option<NodeId>,
    changes: &[&Change],
) {
    let Some(item) = item else {
        for change in changes {
            let whole = is_condition(painter, change.at)
                .then(|| whole_condition(painter, change))
                .flatten();
            match whole {
                Some(line) => out.push(line),
                None => push_change(painter, out, change, Base::TOP),
            }
        }
        return;
    };
    if is_condition(painter, item) {
        return condition_lines(painter, out, item, changes);
    }
    let group = ItemChanges { item, changes };
    // Most items have one change of one line, which needs no attempt as a block.
    let is_one_line = |change: &&Change| match change.op {
        Op::Add | Op::Remove | Op::Move { .. } => true,
        Op::Replace => matches!(change.fmt, Fmt::Plain | Fmt::Quantity | Fmt::Time),
    };
    if changes.len() < BLOCK && changes.iter().all(is_one_line) {
        return parts(painter, out, group, Base::TOP);
    }
    let inside = Base {
        at: item,
        indent: 4,
    };
    let start = out.len();
    out.push(painter.finish(painter.start(LineMark::CHANGED, item, Base::TOP)));
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

/// Appends the lines of a condition: one line if its status or its reason changed.
fn condition_lines(painter: &Painter<'_>, out: &mut Vec<Text>, item: NodeId, changes: &[&Change]) {
    let Some(line) = changed_condition(painter, item, changes) else {
        return push_changes(painter, out, changes, Base::TOP);
    };
    out.push(line);
    let others = changes.iter();
    for change in others.filter(|change| !is_of_condition(painter, item, change)) {
        push_change(painter, out, change, Base::TOP);
    }
}

/// Appends the lines of an item, with the state of a container in one line.
fn parts(painter: &Painter<'_>, out: &mut Vec<Text>, group: ItemChanges<'_>, base: Base) {
    let list = painter.diff.field(painter.diff.parent(group.item));
    if !list.is_some_and(|list| list.ends_with("ontainerStatuses")) {
        return push_changes(painter, out, group.changes, base);
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
        let line = state(run[0]).and_then(|at| container_state(painter, at, run, base));
        match line {
            Some(line) => out.push(line),
            None => push_changes(painter, out, run, base),
        }
    }
}

/// Appends the lines of these changes, each for itself.
fn push_changes(painter: &Painter<'_>, out: &mut Vec<Text>, changes: &[&Change], base: Base) {
    for change in changes {
        push_change(painter, out, change, base);
    }
}

/// Appends the lines of one change.
fn push_change(painter: &Painter<'_>, out: &mut Vec<Text>, change: &Change, base: Base) {
    // An item without a key moves within its list, so the path is that of the list.
    let named = match change.op {
        Op::Move { .. } if !painter.diff.is_keyed(change.at) => painter.diff.parent(change.at),
        _ => change.at,
    };
    let mut line = painter.start(painter.mark(change), named, base);
    line.suffix = painter.suffix(change);
    let old = painter.shown(change.at, Side::Old);
    let new = painter.shown(change.at, Side::New);
    match (change.op, old, new) {
        (Op::Move { .. }, _, _) => change_line::moved(painter, &mut line, change),
        (Op::Add | Op::Remove, old, new) => {
            if let Some(value) = new.or(old) {
                change_line::alone(painter, &mut line, change, value);
            }
        }
        (Op::Replace, Some(old), Some(new)) => {
            let pair = ShownPair { old, new };
            let replacement = Replacement { change, base, pair };
            if let Some(lines) = inner_lines(painter, &mut line, replacement) {
                return out.extend(lines);
            }
            if excerpt(painter, &mut line, pair).is_none() {
                change_line::pair(painter, &mut line, change, pair);
            }
        }
        (Op::Replace, _, _) => {}
    }
    out.push(painter.finish(line));
}

/// A replaced value.
#[derive(Clone, Copy)]
struct Replacement<'r> {
    change: &'r Change,
    base: Base,
    pair: ShownPair<'r>,
}

/// The lines for a changed text or for embedded JSON; `None` for other changes.
fn inner_lines(
    painter: &Painter<'_>,
    start: &mut DiffLine,
    replacement: Replacement<'_>,
) -> Option<Vec<Text>> {
    let Replacement { change, base, pair } = replacement;
    match change.fmt {
        Fmt::Json => {
            let embedded = pair.old.embedded(pair.new)?;
            Some(json(painter, start, replacement, &embedded))
        }
        Fmt::Text => hunks(painter, start, base, pair),
        Fmt::Secret if has_lines(pair.old) || has_lines(pair.new) => {
            hunks(painter, start, base, pair)
        }
        Fmt::Plain | Fmt::Quantity | Fmt::Time | Fmt::Secret => None,
    }
}

/// Whether a value is text of several lines. A Secret's text counts only if the user asked to see it.
fn has_lines(value: Shown<'_>) -> bool {
    matches!(value.content(), Content::Text(text) if text.contains('\n'))
}

/// The columns from which on a change and its title have room on one line.
const WIDE: usize = 100;

fn json(
    painter: &Painter<'_>,
    start: &mut DiffLine,
    replacement: Replacement<'_>,
    embedded: &Embedded,
) -> Vec<Text> {
    let Replacement { change, base, .. } = replacement;
    let applied = painter.diff.field(change.at) == Some(LAST_APPLIED);
    let keys = if applied {
        painter.diff.keys()
    } else {
        ListKeys::builtin()
    };
    let inner = embedded.diff(keys);
    let suffix = start.suffix.clone();
    if inner.is_empty() {
        start.push(Role::Plain, ": same JSON, written differently");
        return vec![painter.finish(std::mem::take(start))];
    }
    let indent = " ".repeat(base.indent + 2);
    let title = "last-applied-configuration";
    if applied && repeats(painter, &inner) {
        let count = plural(inner.changes().len(), "change");
        let line = format!("{indent}{title}: same {count}{suffix}");
        return vec![Text::dim(line)];
    }
    // On a narrow terminal, a change has no room beside the title.
    let is_wide = painter
        .view
        .look
        .width
        .is_none_or(|columns| columns >= WIDE);
    let is_beside = applied && inner.changes().len() == 1 && is_wide;
    let lead = if is_beside { title.len() } else { 0 } + indent.len() + 2;
    let view = painter.view.narrower(lead);
    let inside = Painter::unattributed(&inner, &view);
    let mut changes: Vec<&Change> = inner.changes().iter().collect();
    changes.sort_by_key(|change| rank(&inner, change.at));
    let mut lines = self::lines(&inside, &changes);
    if is_beside && lines.len() == 1 {
        let title = Text::from(format!("{indent}{title}: "));
        return vec![title + lines.remove(0) + suffix];
    }
    if applied {
        start.clear();
        start.push(Role::Plain, &format!("{indent}{title}"));
    }
    let count = plural(changes.len(), "change");
    start.push(Role::Dim, &format!(": {count} inside"));
    let first = painter.finish(std::mem::take(start));
    let inner_lines = lines.into_iter();
    let inner_lines = inner_lines.map(|line| Text::from(&indent) + "  " + line);
    std::iter::once(first).chain(inner_lines).collect()
}

/// Whether the object has every change inside the string as well.
pub(super) fn repeats(painter: &Painter<'_>, inner: &Diff<'_>) -> bool {
    let redactor = painter.view.redactor;
    let outer = texts(painter.diff, redactor);
    texts(inner, redactor).is_subset(&outer)
}

/// A change in a form that can be compared between the object and a string in it.
#[derive(PartialEq, Eq, Hash)]
struct ChangeText {
    path: String,
    op: Discriminant<Op>,
    old: Option<String>,
    new: Option<String>,
}

fn texts(diff: &Diff<'_>, redactor: &Redactor) -> HashSet<ChangeText> {
    let json = |at: NodeId, side| diff.shown(at, side, redactor).map(Shown::json);
    let changes = diff.changes().iter();
    changes
        .map(|change| ChangeText {
            path: diff.path(change.at).to_string(),
            op: discriminant(&change.op),
            old: json(change.at, Side::Old),
            new: json(change.at, Side::New),
        })
        .collect()
}
