//! Shows the state of a container, which is spread over several fields, in one line.

use crate::diff::{Change, NodeId, Shown};
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::text;

use super::fit::Room;
use super::painter::{Base, LineMark, Painter, clock};

/// The fewest columns of a message that say something.
const LEAST_MESSAGE: usize = 12;

/// The line of a container's state. `run` holds the changes in that state.
pub(super) fn state(painter: &Painter<'_>, at: NodeId, run: &[&Change], base: Base) -> Vec<String> {
    let side = |side| {
        painter
            .shown(at, side)
            .and_then(|state| StateText::read(painter, state))
    };
    let (mark, old, new) = match (side(Side::Old), side(Side::New)) {
        (Some(old), Some(new)) if old.words != new.words => (LineMark::CHANGED, Some(old), new),
        (None, Some(new)) => (LineMark::ADDED, None, new),
        (Some(old), None) => (LineMark::REMOVED, None, old.without_message()),
        _ => {
            let mut lines = Vec::new();
            for change in run {
                painter.change(&mut lines, change, base);
            }
            return lines;
        }
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
    vec![painter.paint(line)]
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

    fn without_message(self) -> StateText {
        StateText {
            message: String::new(),
            ..self
        }
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
