//! Changes that say one thing together are told in one line: a condition, the state of a container, a
//! list in another order.

use std::collections::BTreeMap;

use crate::diff::{Change, Op, SegId, Shown};
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::{age, text};

use super::lines::{Base, Line, Painter, span};
use super::value::{plural, thousands};
use super::{MOVES, is_move};

/// So many lines of one item stand in a block below it.
const BLOCK: usize = 3;

/// The lines of all changes.
pub(super) fn lines(painter: &Painter<'_>, changes: &[&Change]) -> Vec<String> {
    let moves = count_moves(painter, changes);
    let is_folded = |change: &Change| {
        is_move(change)
            && moves
                .get(&painter.diff.parent(change.at))
                .is_some_and(|count| *count > MOVES)
    };
    let mut told = Vec::new();
    let mut lines = Vec::new();
    let groups = changes.chunk_by(|a, b| {
        let item = item(painter, a.at);
        item.is_some() && item == self::item(painter, b.at)
    });
    for group in groups {
        for change in group.iter().filter(|change| is_folded(change)) {
            let list = painter.diff.parent(change.at);
            if !told.contains(&list) {
                told.push(list);
                lines.push(reordered(painter, list, (moves[&list], changes)));
            }
        }
        let rest: Vec<&Change> = group
            .iter()
            .copied()
            .filter(|change| !is_folded(change))
            .collect();
        lines.extend(group_lines(painter, &rest));
    }
    lines
}

/// How many changes there are in each part of the object: for versions that change more than a screen
/// can tell. A part with one change is told.
pub(super) fn tally(painter: &Painter<'_>, changes: &[&Change]) -> Vec<String> {
    let part = |change: &Change| {
        let chain: Vec<SegId> = painter.diff.chain(change.at).collect();
        // Two steps from the root, but above the change itself.
        let above = chain.len().min(3).max(2) - 1;
        chain.get(chain.len().saturating_sub(above)).copied()
    };
    changes
        .chunk_by(|a, b| part(a) == part(b))
        .flat_map(|run| match (part(run[0]), run) {
            (Some(part), [_, _, ..]) => {
                let mut line = painter.start((Role::Changed, "~"), part, Base::TOP);
                line.push(Role::Plain, format!(": {}", plural(run.len(), "change")));
                vec![painter.paint(line)]
            }
            (_, run) => run
                .iter()
                .flat_map(|change| painter.change(change, Base::TOP))
                .collect(),
        })
        .collect()
}

fn count_moves(painter: &Painter<'_>, changes: &[&Change]) -> BTreeMap<SegId, usize> {
    let mut moves = BTreeMap::new();
    for change in changes.iter().filter(|change| is_move(change)) {
        *moves.entry(painter.diff.parent(change.at)).or_default() += 1;
    }
    moves
}

/// `↕ .endpoints: 4,864 of 5,000 items moved, none changed`
fn reordered(painter: &Painter<'_>, list: SegId, (moves, changes): (usize, &[&Change])) -> String {
    let mut line = painter.start(
        (Role::Moved, painter.view.look.symbols.moved),
        list,
        Base::TOP,
    );
    let total = painter
        .shown(list, Side::New)
        .map_or(0, |list| list.items().count());
    let others = changes.iter().filter(|change| {
        !is_move(change) && painter.diff.chain(change.at).any(|above| above == list)
    });
    let changed = match others.count() {
        0 => "none changed".to_owned(),
        count => plural(count, "other change"),
    };
    line.push(
        Role::Plain,
        format!(
            ": {} of {} items moved, {changed}",
            thousands(moves),
            thousands(total)
        ),
    );
    painter.paint(line)
}

/// The item whose changes a change is told with: the condition it is in, else the outermost item with
/// a name.
fn item(painter: &Painter<'_>, at: SegId) -> Option<SegId> {
    let diff = painter.diff;
    let items = || {
        diff.chain(at)
            .skip(1)
            .filter(|&above| !diff.key_fields(above).is_empty())
    };
    items()
        .find(|&item| is_condition(painter, item))
        .or_else(|| items().last())
}

fn is_condition(painter: &Painter<'_>, item: SegId) -> bool {
    painter.diff.field(painter.diff.parent(item)) == Some("conditions")
        && painter.diff.key_fields(item) == ["type"]
}

fn group_lines(painter: &Painter<'_>, group: &[&Change]) -> Vec<String> {
    let Some(item) = group.first().and_then(|change| item(painter, change.at)) else {
        return group
            .iter()
            .flat_map(|change| lone(painter, change))
            .collect();
    };
    if is_condition(painter, item) {
        return condition(painter, item, group);
    }
    let block = parts(
        painter,
        (item, group),
        Base {
            at: item,
            indent: 4,
        },
    );
    if block.len() < BLOCK {
        return parts(painter, (item, group), Base::TOP);
    }
    let head = painter.start((Role::Changed, "~"), item, Base::TOP);
    std::iter::once(painter.paint(head)).chain(block).collect()
}

/// A change that is in no item: a whole condition, or anything.
fn lone(painter: &Painter<'_>, change: &Change) -> Vec<String> {
    let mark = match change.op {
        Op::Add => (Role::Added, "+"),
        Op::Remove => (Role::Removed, "-"),
        Op::Replace | Op::Move { .. } => return painter.change(change, Base::TOP),
    };
    let value = painter
        .shown(change.at, Side::New)
        .or_else(|| painter.shown(change.at, Side::Old));
    match value.and_then(Condition::read) {
        Some(condition) if is_condition(painter, change.at) => {
            let mut line = painter.start(mark, change.at, Base::TOP);
            line.push(mark.0, format!(": {}", condition.status));
            let since = condition.since(painter);
            push_part(&mut line, Role::Dim, &since);
            push_part(&mut line, mark.0, &condition.because());
            line.push(Role::Dim, painter.suffix(change));
            vec![painter.paint(line)]
        }
        _ => painter.change(change, Base::TOP),
    }
}

/// The lines of an item, with the state of a container in one.
fn parts(painter: &Painter<'_>, (item, group): (SegId, &[&Change]), base: Base) -> Vec<String> {
    let state = |change: &Change| {
        let list = painter.diff.field(painter.diff.parent(item))?;
        let below = painter
            .diff
            .chain(change.at)
            .take_while(|&above| above != item)
            .last()?;
        let name = painter.diff.field(below)?;
        let is_state = matches!(name, "state" | "lastState");
        (is_state && list.ends_with("ontainerStatuses")).then_some(below)
    };
    group
        .chunk_by(|a, b| state(a).is_some() && state(a) == state(b))
        .flat_map(|run| match state(run[0]) {
            Some(at) => container_state(painter, (at, run), base),
            None => run
                .iter()
                .flat_map(|change| painter.change(change, base))
                .collect(),
        })
        .collect()
}

fn container_state(
    painter: &Painter<'_>,
    (at, run): (SegId, &[&Change]),
    base: Base,
) -> Vec<String> {
    let side = |side| {
        painter
            .shown(at, side)
            .and_then(|state| state_text(painter, state))
    };
    let arrow = painter.view.look.symbols.arrow;
    let (mark, texts) = match (side(Side::Old), side(Side::New)) {
        (Some(old), Some(new)) if old != new => {
            ((Role::Changed, "~"), format!("{old} {arrow} {new}"))
        }
        (None, Some(new)) => ((Role::Added, "+"), new),
        (Some(old), None) => ((Role::Removed, "-"), old),
        _ => {
            return run
                .iter()
                .flat_map(|change| painter.change(change, base))
                .collect();
        }
    };
    let mut line = painter.start(mark, at, base);
    let room = painter.room(&line, 2);
    line.push(Role::Plain, format!(": {}", room.one(&texts)));
    line.push(
        Role::Dim,
        run.first()
            .map_or(String::new(), |change| painter.suffix(change)),
    );
    vec![painter.paint(line)]
}

/// `running since 14:02:06`, `waiting CrashLoopBackOff`, `terminated OOMKilled exit 137`.
fn state_text(painter: &Painter<'_>, state: Shown<'_>) -> Option<String> {
    let (name, detail) = state.fields().next()?;
    let mut text = name.to_string();
    if let Some(reason) = detail.str("reason") {
        text.push(' ');
        text.push_str(&reason);
    }
    if let Some(started) = detail.str("startedAt").filter(|_| name == "running") {
        text.push_str(" since ");
        text.push_str(&clock(painter, &started));
    }
    if let Some(code) = detail.get("exitCode") {
        text.push_str(" exit ");
        text.push_str(&code.json());
    }
    Some(text::escape_line(&text).into_owned())
}

/// What a condition says.
struct Condition {
    status: String,
    reason: Option<String>,
    message: Option<String>,
    time: Option<String>,
}

impl Condition {
    fn read(shown: Shown<'_>) -> Option<Condition> {
        let field = |name| {
            let text = shown.str(name)?;
            (!text.is_empty()).then(|| text::escape_line(&text).into_owned())
        };
        Some(Condition {
            status: field("status")?,
            reason: field("reason"),
            message: field("message"),
            time: field("lastTransitionTime"),
        })
    }

    /// `ContainersNotReady: containers with unready status: [web]`
    fn because(&self) -> String {
        match (&self.reason, &self.message) {
            (Some(reason), Some(message)) => format!("{reason}: {message}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => String::new(),
        }
    }

    fn since(&self, painter: &Painter<'_>) -> String {
        self.time
            .as_ref()
            .map_or(String::new(), |time| clock(painter, time))
    }
}

/// The time of day, or the text if it is no time.
fn clock(painter: &Painter<'_>, time: &str) -> String {
    match time.parse() {
        Ok(time) => age::clock(time, painter.view.zone),
        Err(_) => text::escape_line(time).into_owned(),
    }
}

/// A condition that has changed, in one line if its status or its reason has.
fn condition(painter: &Painter<'_>, item: SegId, group: &[&Change]) -> Vec<String> {
    let side = |side| painter.shown(item, side).and_then(Condition::read);
    let plain = |changes: &[&Change]| -> Vec<String> {
        changes
            .iter()
            .flat_map(|change| painter.change(change, Base::TOP))
            .collect()
    };
    let (Some(old), Some(new)) = (side(Side::Old), side(Side::New)) else {
        return plain(group);
    };
    if old.status == new.status && (old.reason == new.reason || new.reason.is_none()) {
        return plain(group);
    }
    let is_told = |change: &&&Change| {
        let told = painter.diff.field(change.at).is_some_and(|name| {
            matches!(name, "status" | "reason" | "message" | "lastTransitionTime")
        });
        told && painter.diff.parent(change.at) == item
    };
    let mut line = painter.start((Role::Changed, "~"), item, Base::TOP);
    push_condition(painter, &mut line, (&old, &new));
    let first = group.iter().find(is_told);
    line.push(
        Role::Dim,
        first.map_or(String::new(), |change| painter.suffix(change)),
    );
    let rest: Vec<&Change> = group
        .iter()
        .filter(|change| !is_told(change))
        .copied()
        .collect();
    std::iter::once(painter.paint(line))
        .chain(plain(&rest))
        .collect()
}

fn push_condition(painter: &Painter<'_>, line: &mut Line, (old, new): (&Condition, &Condition)) {
    let arrow = painter.view.look.symbols.arrow;
    if old.status == new.status {
        line.push(Role::Plain, format!(": {}", new.status));
        let reason = format!(
            "{} {arrow} {}",
            old.reason.as_deref().unwrap_or("-"),
            new.because()
        );
        return push_part(line, Role::Plain, &reason);
    }
    line.push(
        Role::Plain,
        format!(": {} {arrow} {}", old.status, new.status),
    );
    let lasted = match (&old.time, &new.time) {
        (Some(old), Some(new)) => span(old, new),
        _ => None,
    };
    push_part(line, Role::Dim, &new.since(painter));
    if let Some(lasted) = lasted.filter(|lasted| lasted.as_secs() > 0) {
        line.push(Role::Dim, format!(" (after {})", age::human(lasted)));
    }
    match (new.because(), old.because()) {
        (new, old) if new.is_empty() && !old.is_empty() => {
            push_part(line, Role::Dim, &format!("was {old}"));
        }
        (new, _) => push_part(line, Role::Plain, &new),
    }
}

fn push_part(line: &mut Line, role: Role, text: &str) {
    if !text.is_empty() {
        line.push(Role::Plain, "  ");
        line.push(role, text);
    }
}
