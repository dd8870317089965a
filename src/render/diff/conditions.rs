//! Conditions: one line each, whatever has changed in them.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::diff::{Change, Content, Op, SegId, Shown};
use crate::object;
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::{age, text};

use super::fit::Room;
use super::line::Line;
use super::lines::{Base, Painter};

/// How much is told of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// Its status, and what there is room for of its reason.
    Status,
    /// All of its reason.
    Reason,
    /// The message, too.
    Message,
    /// And since when it is so.
    Time,
}

impl Painter<'_> {
    /// A line with as much detail as there is room for. Who is behind it, its `suffix`, goes before its reason
    /// does.
    fn condition(&self, suffix: &str, write: impl Fn(&mut Line, Detail)) -> String {
        let most = self.view.look.width;
        let line = |(suffix, detail): (&str, Detail)| {
            let mut line = Line::indented(0);
            suffix.clone_into(&mut line.suffix);
            write(&mut line, detail);
            line
        };
        let fits = |line: &Line| most.is_none_or(|columns| line.fits(columns));
        let details = [Detail::Time, Detail::Message, Detail::Reason];
        let mut tries = [suffix, ""]
            .into_iter()
            .flat_map(|suffix| details.map(|detail| (suffix, detail)));
        let fitting = tries.find_map(|attempt| Some(line(attempt)).filter(fits));
        self.paint(fitting.unwrap_or_else(|| line(("", Detail::Status))))
    }
}

/// The line of a condition that has come or gone.
pub(super) fn whole(painter: &Painter<'_>, change: &Change) -> Option<String> {
    let (role, mark, side) = match change.op {
        Op::Add => (Role::Added, "+", Side::New),
        Op::Remove => (Role::Removed, "-", Side::Old),
        Op::Replace | Op::Move { .. } => return None,
    };
    let condition = Condition::read(painter.shown(change.at, side)?)?;
    Some(painter.condition(&painter.suffix(change), |line, detail| {
        painter.begin(line, (role, mark), (change.at, Base::TOP));
        line.write(role, |text| text.extend([": ", &condition.status]));
        if detail == Detail::Time {
            push_since(painter, line, (&condition, condition.moment()));
        }
        push_because(painter, line, (role, ""), (&condition, detail));
    }))
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
    let first = group.iter().find(|change| is_told(change));
    let suffix = first.map_or(String::new(), |change| painter.suffix(change));
    out.push(painter.condition(&suffix, |line, detail| {
        painter.begin(line, (Role::Changed, "~"), (item, Base::TOP));
        push_condition(painter, line, (&old, &new), detail);
    }));
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
    detail: Detail,
) {
    let arrow = painter.view.look.symbols.arrow;
    if old.status == new.status {
        line.write(Role::Plain, |text| text.extend([": ", &new.status]));
        let was = old.reason.as_deref().unwrap_or("-");
        let now = [" ", arrow, " ", new.reason.as_deref().unwrap_or_default()].concat();
        let was = match detail {
            Detail::Status => start_of(was, painter.room(line, 2 + text::width(&now))),
            Detail::Reason | Detail::Message | Detail::Time => was.into(),
        };
        let was = [&*was, " ", arrow, " "].concat();
        return push_because(painter, line, (Role::Plain, &was), (new, detail));
    }
    line.write(Role::Plain, |text| {
        text.extend([": ", &old.status, " ", arrow, " ", &new.status]);
    });
    if detail == Detail::Time {
        push_since(painter, line, (new, new.moment()));
        push_lasted(line, (old, new));
    }
    if new.reason.is_none() && new.message.is_none() {
        push_because(painter, line, (Role::Dim, "was "), (old, detail));
    } else {
        push_because(painter, line, (Role::Plain, ""), (new, detail));
    }
}

/// How long it was otherwise.
fn push_lasted(line: &mut Line, (old, new): (&Condition<'_>, &Condition<'_>)) {
    let times = old.moment().zip(new.moment());
    let lasted = times.map(|(began, now)| now.duration_since(began));
    if let Some(lasted) = lasted.filter(|lasted| lasted.as_secs() > 0) {
        line.write(Role::Dim, |text| {
            text.extend([" (after ", &age::human(lasted), ")"]);
        });
    }
}

/// `ContainersNotReady: containers with unready status: [web]`, the message cut in its middle to what room there
/// is. It goes with the reason, if there is one.
fn push_because(
    painter: &Painter<'_>,
    line: &mut Line,
    (role, lead): (Role, &str),
    (condition, detail): (&Condition<'_>, Detail),
) {
    let reason = condition.reason.as_deref();
    let message = condition.message.as_deref();
    let message = message.filter(|_| reason.is_none() || detail > Detail::Reason);
    if reason.is_none() && message.is_none() {
        return;
    }
    let colon = if reason.is_some() && message.is_some() {
        ": "
    } else {
        ""
    };
    let words = [lead, reason.unwrap_or_default(), colon];
    line.push(Role::Plain, "  ");
    if detail == Detail::Status {
        let room = painter.room(line, 0);
        line.push(role, &start_of(&words.concat(), room));
    } else {
        line.write(role, |text| text.extend(words));
    }
    if let Some(message) = message {
        let room = painter.room(line, 0);
        line.push(role, &room.one(message));
    }
}

/// As much of a reason as there is room for: what tells it from others is mostly its start.
fn start_of(reason: &str, room: Room) -> Cow<'_, str> {
    let columns = room.columns.unwrap_or(usize::MAX);
    text::cut_end(reason, columns.max(1), room.ellipsis)
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
