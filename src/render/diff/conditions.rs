//! Conditions: one line each, whatever has changed in them.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::diff::{Change, Content, Op, SegId, Shown};
use crate::object;
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::{age, text};

use super::line::Line;
use super::lines::{Base, Painter};

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
    line.write(role, |text| text.extend([": ", &condition.status]));
    push_since(painter, &mut line, (&condition, condition.moment()));
    let room = painter.room(&line, 2);
    push_part(&mut line, role, &room.one(&condition.because()));
    Some(painter.paint(line))
}

/// What a condition says, as display text.
struct Condition<'a> {
    status: Cow<'a, str>,
    reason: Option<Cow<'a, str>>,
    message: Option<Cow<'a, str>>,
    time: Option<Cow<'a, str>>,
}

impl<'a> Condition<'a> {
    fn read(shown: Shown<'a>) -> Option<Condition<'a>> {
        let (mut status, mut reason, mut message, mut time) = (None, None, None, None);
        for (name, value) in shown.fields() {
            let told = match &*name {
                "status" => &mut status,
                "reason" => &mut reason,
                "message" => &mut message,
                "lastTransitionTime" => &mut time,
                _ => continue,
            };
            if let Content::Text(text) = value.content()
                && !text.is_empty()
            {
                *told = Some(text::escaped_line(text));
            }
        }
        Some(Condition {
            status: status?,
            reason,
            message,
            time,
        })
    }

    /// `ContainersNotReady: containers with unready status: [web]`
    fn because(&self) -> Cow<'_, str> {
        match (&self.reason, &self.message) {
            (Some(reason), Some(message)) => [&**reason, ": ", message].concat().into(),
            (Some(one), None) | (None, Some(one)) => Cow::Borrowed(one),
            (None, None) => Cow::default(),
        }
    }

    /// Since when it is so.
    fn moment(&self) -> Option<Timestamp> {
        object::time(self.time.as_ref()?)
    }
}

/// Appends a condition that has changed, in one line if its status or its reason has.
pub(super) fn lines(
    painter: &Painter<'_>,
    out: &mut Vec<String>,
    (item, group): (SegId, &[&Change]),
) {
    let side = |side| painter.shown(item, side).and_then(Condition::read);
    let (old, new) = match (side(Side::Old), side(Side::New)) {
        (Some(old), Some(new)) if is_one_thing(&old, &new) => (old, new),
        _ => {
            return group
                .iter()
                .for_each(|change| painter.change(out, change, Base::TOP));
        }
    };
    let is_told = |change: &Change| {
        let told = painter.diff.field(change.at).is_some_and(|name| {
            matches!(name, "status" | "reason" | "message" | "lastTransitionTime")
        });
        told && painter.diff.parent(change.at) == item
    };
    let mut line = painter.start((Role::Changed, "~"), item, Base::TOP);
    let first = group.iter().find(|change| is_told(change));
    line.suffix = first.map_or(String::new(), |change| painter.suffix(change));
    push_condition(painter, &mut line, (&old, &new));
    out.push(painter.paint(line));
    for change in group.iter().filter(|change| !is_told(change)) {
        painter.change(out, change, Base::TOP);
    }
}

/// Whether what has changed in a condition is told in one line.
fn is_one_thing(old: &Condition<'_>, new: &Condition<'_>) -> bool {
    old.status != new.status || (old.reason != new.reason && new.reason.is_some())
}

fn push_condition(
    painter: &Painter<'_>,
    line: &mut Line,
    (old, new): (&Condition<'_>, &Condition<'_>),
) {
    let arrow = painter.view.look.symbols.arrow;
    if old.status == new.status {
        line.write(Role::Plain, |text| text.extend([": ", &new.status]));
        let was = old.reason.as_deref().unwrap_or("-");
        let reason = format!("{was} {arrow} {}", new.because());
        let room = painter.room(line, 2);
        return push_part(line, Role::Plain, &room.one(&reason));
    }
    line.write(Role::Plain, |text| {
        text.extend([": ", &old.status, " ", arrow, " ", &new.status]);
    });
    let (began, now) = (old.moment(), new.moment());
    push_since(painter, line, (new, now));
    let lasted = began.zip(now).map(|(began, now)| now.duration_since(began));
    if let Some(lasted) = lasted.filter(|lasted| lasted.as_secs() > 0) {
        line.write(Role::Dim, |text| {
            text.extend([" (after ", &age::human(lasted), ")"]);
        });
    }
    let room = painter.room(line, 2);
    if new.reason.is_none() && new.message.is_none() {
        match old.because() {
            was if was.is_empty() => {}
            was => push_part(line, Role::Dim, &room.one(&["was ", &was].concat())),
        }
    } else {
        push_part(line, Role::Plain, &room.one(&new.because()));
    }
}

/// Since when, as a time of day if it is a time.
fn push_since(
    painter: &Painter<'_>,
    line: &mut Line,
    (condition, moment): (&Condition<'_>, Option<Timestamp>),
) {
    match (moment, &condition.time) {
        (Some(moment), _) => {
            push_part(line, Role::Dim, &age::clock(moment, painter.view.zone));
        }
        (None, Some(text)) => push_part(line, Role::Dim, text),
        (None, None) => {}
    }
}

fn push_part(line: &mut Line, role: Role, text: &str) {
    if !text.is_empty() {
        line.push(Role::Plain, "  ");
        line.push(role, text);
    }
}
