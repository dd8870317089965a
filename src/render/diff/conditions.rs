//! Conditions: one line each, whatever has changed in them.

use crate::diff::{Change, Op, SegId, Shown};
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::{age, text};

use super::lines::{Base, Line, Painter, clock, span};

/// The line of a condition that has come or gone.
pub(super) fn whole(painter: &Painter<'_>, change: &Change) -> Option<String> {
    let (role, mark, side) = match change.op {
        Op::Add => (Role::Added, "+", Side::New),
        Op::Remove => (Role::Removed, "-", Side::Old),
        Op::Replace | Op::Move { .. } => return None,
    };
    let condition = Condition::read(painter.shown(change.at, side)?)?;
    let mut line = painter.start((role, mark), change.at, Base::TOP);
    line.suffix = painter.suffix(change);
    line.push(role, format!(": {}", condition.status));
    push_part(&mut line, Role::Dim, &condition.since(painter));
    let room = painter.room(&line, 2);
    push_part(&mut line, role, &room.one(&condition.because()));
    Some(painter.paint(line))
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

/// A condition that has changed, in one line if its status or its reason has.
pub(super) fn lines(painter: &Painter<'_>, item: SegId, group: &[&Change]) -> Vec<String> {
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
    let first = group.iter().find(is_told);
    line.suffix = first.map_or(String::new(), |change| painter.suffix(change));
    push_condition(painter, &mut line, (&old, &new));
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
        let was = old.reason.as_deref().unwrap_or("-");
        let reason = format!("{was} {arrow} {}", new.because());
        let room = painter.room(line, 2);
        return push_part(line, Role::Plain, &room.one(&reason));
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
    let room = painter.room(line, 2);
    match (new.because(), old.because()) {
        (new, old) if new.is_empty() && !old.is_empty() => {
            push_part(line, Role::Dim, &room.one(&format!("was {old}")));
        }
        (new, _) => push_part(line, Role::Plain, &room.one(&new)),
    }
}

fn push_part(line: &mut Line, role: Role, text: &str) {
    if !text.is_empty() {
        line.push(Role::Plain, "  ");
        line.push(role, text);
    }
}
