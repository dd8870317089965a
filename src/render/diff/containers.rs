//! Shows the state of a container, which is spread over several fields, in one line.

use crate::diff::{Change, NodeId, Shown};
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::text;

use super::painter::{Base, LineMark, Painter, clock};

/// The line of a container's state. `run` holds the changes in that state.
pub(super) fn state(painter: &Painter<'_>, at: NodeId, run: &[&Change], base: Base) -> Vec<String> {
    let side = |side| {
        painter
            .shown(at, side)
            .and_then(|state| words(painter, state))
    };
    let arrow = painter.view.look.symbols.arrow;
    let (mark, texts) = match (side(Side::Old), side(Side::New)) {
        (Some((old, _)), Some((new, message))) if old != new => (
            LineMark::CHANGED,
            [&*old, " ", arrow, " ", &new, &message].concat(),
        ),
        (None, Some((new, message))) => (LineMark::ADDED, new + &message),
        (Some((old, _)), None) => (LineMark::REMOVED, old),
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
    let room = painter.room(&line, 2);
    line.write(Role::Plain, |text| {
        text.extend([": ", &room.one(&texts)]);
    });
    vec![painter.paint(line)]
}

/// The state as `running since 14:02:06`, `waiting CrashLoopBackOff` or `terminated OOMKilled exit 137`, and
/// its message after a colon.
fn words(painter: &Painter<'_>, state: Shown<'_>) -> Option<(String, String)> {
    let (name, detail) = state.fields().next()?;
    let mut text = name.into_owned();
    let is_running = text == "running";
    if let Some(reason) = detail.str("reason") {
        text.push(' ');
        text.push_str(&reason);
    }
    if let Some(started) = detail.str("startedAt").filter(|_| is_running) {
        text.push_str(" since ");
        text.push_str(&clock(painter, &started));
    }
    if let Some(code) = detail.get("exitCode") {
        text.push_str(" exit ");
        text.push_str(&code.json());
    }
    let mut message = match detail.str("message") {
        Some(message) if !message.is_empty() => format!(": {message}"),
        _ => String::new(),
    };
    text::escape_line_from(&mut text, 0);
    text::escape_line_from(&mut message, 0);
    Some((text, message))
}
