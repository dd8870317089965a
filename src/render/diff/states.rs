//! Shows all changes of a condition in one line.

use std::borrow::Cow;

use jiff::Timestamp;

use super::diff_line::DiffLine;
use super::painter::{Base, LineMark, Painter, clock};
use super::value::Room;
use crate::diff::{Change, Content, NodeId, Op, Shown};
use crate::object;
use crate::object::path::Side;
use crate::render::age;
use crate::render::style::Role;
use crate::render::text::{self, Text};

/// How much of a condition is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ConditionDetail {
    /// The status, and as much of the reason as fits.
    Status,
    /// The whole reason.
    Reason,
    /// The message as well.
    Message,
    /// The transition time as well.
    Time,
}

/// The line of a condition under construction.
struct ConditionLine<'p> {
    painter: &'p Painter<'p>,
    line: DiffLine,
    detail: ConditionDetail,
}

/// The line of a condition that was added or removed.
pub(super) fn whole_condition(painter: &Painter<'_>, change: &Change) -> Option<Text> {
    let (mark, side) = match change.op {
        Op::Add => (LineMark::ADDED, Side::New),
        Op::Remove => (LineMark::REMOVED, Side::Old),
        Op::Replace | Op::Move { .. } => return None,
    };
    let condition = ConditionText::read(painter.shown(change.at, side)?)?;
    let start = || painter.start(mark, change.at, Base::TOP);
    let suffix = painter.suffix(change);
    Some(fitted(painter, &suffix, start, |line| {
        line.line
            .write(mark.role, |text| text.extend([": ", &condition.status]));
        line.push_since(&condition);
        line.push_because(mark.role, "", &condition);
    }))
}

/// The line of a condition whose status or reason changed; `None` for other changes. The line shows the changes that
/// [`is_of_condition`] names.
pub(super) fn changed_condition(
    painter: &Painter<'_>,
    item: NodeId,
    changes: &[&Change],
) -> Option<Text> {
    let side = |side| painter.shown(item, side).and_then(ConditionText::read);
    let (old, new) = side(Side::Old).zip(side(Side::New))?;
    let has_new_reason = old.reason != new.reason && new.reason.is_some();
    if old.status == new.status && !has_new_reason {
        return None;
    }
    let mut changes = changes.iter();
    let first = changes.find(|change| is_of_condition(painter, item, change));
    let suffix = first.map_or(String::new(), |change| painter.suffix(change));
    let start = || painter.start(LineMark::CHANGED, item, Base::TOP);
    Some(fitted(painter, &suffix, start, |line| {
        line.push_change(&old, &new);
    }))
}

/// Whether a change is one of the parts of a condition that its line shows.
pub(super) fn is_of_condition(painter: &Painter<'_>, item: NodeId, change: &Change) -> bool {
    let field = painter.diff.field(change.at);
    let is_part = |name| matches!(name, "status" | "reason" | "message" | "lastTransitionTime");
    field.is_some_and(is_part) && painter.diff.parent(change.at) == item
}

/// A line with as much detail as fits. Its suffix, which names the manager, is dropped before the reason is.
fn fitted(
    painter: &Painter<'_>,
    suffix: &str,
    start: impl Fn() -> DiffLine,
    write: impl Fn(&mut ConditionLine<'_>),
) -> Text {
    let most = painter.view.look.width;
    let line = |suffix: &str, detail| {
        let mut line = ConditionLine {
            painter,
            line: start(),
            detail,
        };
        suffix.clone_into(&mut line.line.suffix);
        write(&mut line);
        line.line
    };
    let fits = |line: &DiffLine| most.is_none_or(|columns| line.fits(columns));
    let details = [
        ConditionDetail::Time,
        ConditionDetail::Message,
        ConditionDetail::Reason,
    ];
    let mut tries = [suffix, ""]
        .into_iter()
        .flat_map(|suffix| details.map(|detail| (suffix, detail)));
    let fitting = tries.find_map(|(suffix, detail)| Some(line(suffix, detail)).filter(fits));
    painter.finish(fitting.unwrap_or_else(|| line("", ConditionDetail::Status)))
}

/// The parts of a condition, as display text.
struct ConditionText<'a> {
    status: Cow<'a, str>,
    reason: Option<Cow<'a, str>>,
    message: Option<Cow<'a, str>>,
    time: Option<Cow<'a, str>>,
}

impl<'a> ConditionText<'a> {
    fn read(shown: Shown<'a>) -> Option<ConditionText<'a>> {
        let (mut status, mut reason, mut message, mut time) = (None, None, None, None);
        for (name, value) in shown.fields() {
            let field = match &*name {
                "status" => &mut status,
                "reason" => &mut reason,
                "message" => &mut message,
                "lastTransitionTime" => &mut time,
                _ => continue,
            };
            if let Content::Text(text) = value.content()
                && !text.is_empty()
            {
                *field = Some(text::escaped_line(text));
            }
        }
        Some(ConditionText {
            status: status?,
            reason,
            message,
            time,
        })
    }

    /// The time of the last transition.
    fn moment(&self) -> Option<Timestamp> {
        object::time(self.time.as_ref()?)
    }
}

impl ConditionLine<'_> {
    fn push_change(&mut self, old: &ConditionText<'_>, new: &ConditionText<'_>) {
        let arrow = self.painter.view.look.symbols.arrow;
        if old.status == new.status {
            return self.push_reason(old, new);
        }
        self.line.write(Role::Plain, |text| {
            text.extend([": ", &old.status, " ", arrow, " ", &new.status]);
        });
        self.push_since(new);
        self.push_lasted(old, new);
        if new.reason.is_none() && new.message.is_none() {
            self.push_because(Role::Dim, "was ", old);
        } else {
            self.push_because(Role::Plain, "", new);
        }
    }

    /// Appends the change of a reason, for an unchanged status.
    fn push_reason(&mut self, old: &ConditionText<'_>, new: &ConditionText<'_>) {
        let arrow = self.painter.view.look.symbols.arrow;
        self.line
            .write(Role::Plain, |text| text.extend([": ", &new.status]));
        let was = old.reason.as_deref().unwrap_or("-");
        let now = [" ", arrow, " ", new.reason.as_deref().unwrap_or_default()].concat();
        let was = match self.detail {
            ConditionDetail::Status => {
                start_of(was, self.painter.room(&self.line, 2 + text::width(&now)))
            }
            ConditionDetail::Reason | ConditionDetail::Message | ConditionDetail::Time => {
                was.into()
            }
        };
        let was = [&*was, " ", arrow, " "].concat();
        self.push_because(Role::Plain, &was, new);
    }

    /// Appends how long the old status lasted.
    fn push_lasted(&mut self, old: &ConditionText<'_>, new: &ConditionText<'_>) {
        let times = old.moment().zip(new.moment());
        let lasted = times.map(|(began, now)| now.duration_since(began));
        let lasted = lasted.filter(|lasted| lasted.as_secs() > 0);
        if let Some(lasted) = lasted.filter(|_| self.detail == ConditionDetail::Time) {
            self.line.write(Role::Dim, |text| {
                text.extend([" (after ", &age::human(lasted), ")"]);
            });
        }
    }

    /// Appends `ContainersNotReady: containers with unready status: [web]`. The message is cut in its middle
    /// to the available room. It is dropped together with the reason, if there is one.
    fn push_because(&mut self, role: Role, lead: &str, condition: &ConditionText<'_>) {
        let reason = condition.reason.as_deref();
        let message = condition.message.as_deref();
        let message = message.filter(|_| reason.is_none() || self.detail > ConditionDetail::Reason);
        if reason.is_none() && message.is_none() {
            return;
        }
        let colon = if reason.is_some() && message.is_some() {
            ": "
        } else {
            ""
        };
        let words = [lead, reason.unwrap_or_default(), colon];
        self.line.push(Role::Plain, "  ");
        if self.detail == ConditionDetail::Status {
            let room = self.painter.room(&self.line, 0);
            self.line.push(role, &start_of(&words.concat(), room));
        } else {
            self.line.write(role, |text| text.extend(words));
        }
        if let Some(message) = message {
            let room = self.painter.room(&self.line, 0);
            self.line.push(role, &room.one(message));
        }
    }

    /// Appends the transition time, as a time of day if it parses as a time.
    fn push_since(&mut self, condition: &ConditionText<'_>) {
        if self.detail != ConditionDetail::Time {
            return;
        }
        match (condition.moment(), &condition.time) {
            (Some(moment), _) => self.push_part(&age::clock(moment, self.painter.view.zone)),
            (None, Some(text)) => self.push_part(text),
            (None, None) => {}
        }
    }

    fn push_part(&mut self, text: &str) {
        if !text.is_empty() {
            self.line.push(Role::Plain, "  ");
            self.line.push(Role::Dim, text);
        }
    }
}

/// The start of a reason that fits. Reasons differ mostly at their start.
fn start_of(reason: &str, room: Room) -> Cow<'_, str> {
    let columns = room.columns.unwrap_or(usize::MAX);
    text::cut_end(reason, columns.max(1), room.ellipsis)
}

/// The fewest columns of a message that say something.
const LEAST_MESSAGE: usize = 12;

/// The line of a container's state; `None` if its words are the same. `run` holds the changes in that state.
pub(super) fn container_state(
    painter: &Painter<'_>,
    at: NodeId,
    run: &[&Change],
    base: Base,
) -> Option<Text> {
    let side = |side| {
        painter
            .shown(at, side)
            .and_then(|state| StateText::read(painter, state))
    };
    let (mark, old, new) = match (side(Side::Old), side(Side::New)) {
        (Some(old), Some(new)) if old.words != new.words => (LineMark::CHANGED, Some(old), new),
        (None, Some(new)) => (LineMark::ADDED, None, new),
        (Some(old), None) => {
            let message = String::new();
            (LineMark::REMOVED, None, StateText { message, ..old })
        }
        _ => return None,
    };
    let mut line = painter.start(mark, at, base);
    line.suffix = run
        .first()
        .map_or(String::new(), |change| painter.suffix(change));
    let columns = 2 + text::width(&new.words);
    painter.make_room(&mut line, columns, || columns);
    let room = painter.room(&line, 2);
    let words = new.after(old.as_ref(), room, painter.view.look.symbols.arrow);
    line.write(Role::Plain, |text| text.extend([": ", &words]));
    Some(painter.finish(line))
}

/// The state of a container, as display text.
struct StateText {
    /// `running`, or `waiting CrashLoopBackOff`.
    brief: String,
    /// `running since 14:02:06`, `waiting CrashLoopBackOff` or `terminated OOMKilled exit 137`.
    words: String,
    /// Empty if there is none.
    message: String,
}

impl StateText {
    fn read(painter: &Painter<'_>, state: Shown<'_>) -> Option<StateText> {
        let (name, detail) = state.fields().next()?;
        let is_running = name == "running";
        let mut brief = match detail.str("reason") {
            Some(reason) => [&*name, " ", &reason].concat(),
            None => name.into_owned(),
        };
        let mut words = brief.clone();
        if let Some(started) = detail.str("startedAt").filter(|_| is_running) {
            words.push_str(" since ");
            words.push_str(&clock(painter, &started));
        }
        if let Some(code) = detail.get("exitCode") {
            words.push_str(" exit ");
            words.push_str(&code.json());
        }
        let mut message = detail.str("message").unwrap_or_default().into_owned();
        for text in [&mut brief, &mut words, &mut message] {
            text::escape_line_from(text, 0);
        }
        Some(StateText {
            brief,
            words,
            message,
        })
    }

    /// This state after an old one: `running → waiting CrashLoopBackOff: back-off 10s`. The end of the message gives way
    /// first, then the times, then the old state. The new state stays.
    fn after(&self, old: Option<&StateText>, room: Room, arrow: &str) -> String {
        let new = &self.words;
        let change = |old: Option<&str>| match old {
            Some(old) => [old, " ", arrow, " ", new].concat(),
            None => new.clone(),
        };
        let whole = change(old.map(|old| &*old.words));
        let Some(columns) = room.columns else {
            return whole + &self.because();
        };
        let left = columns.saturating_sub(text::width(&whole) + 2);
        if text::fits(&whole, columns) {
            let fits = text::fits(&self.message, left) || left >= LEAST_MESSAGE;
            let message = if fits { self.because() } else { String::new() };
            return text::cut_end(&(whole + &message), columns, room.ellipsis).into_owned();
        }
        let brief = change(old.map(|old| &*old.brief));
        let alone = match old {
            Some(_) => [arrow, " ", new].concat(),
            None => self.brief.clone(),
        };
        let fitting = [brief, alone.clone()].into_iter();
        let mut fitting = fitting.filter(|line| text::fits(line, columns));
        fitting.next().unwrap_or(alone)
    }

    /// The message after a colon.
    fn because(&self) -> String {
        match &*self.message {
            "" => String::new(),
            message => [": ", message].concat(),
        }
    }
}
