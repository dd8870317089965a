//! The state of a container, which is one thing in several fields.

use crate::diff::{Change, SegId, Shown};
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::text;

use super::lines::{Base, Painter, clock};

/// What has become of a state, in one line; `run` is what has changed in it.
pub(super) fn state(
    painter: &Painter<'_>,
    (at, run): (SegId, &[&Change]),
    base: Base,
) -> Vec<String> {
    let side = |side| {
        painter
            .shown(at, side)
            .and_then(|state| words(painter, state))
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
    line.suffix = run
        .first()
        .map_or(String::new(), |change| painter.suffix(change));
    let room = painter.room(&line, 2);
    line.push(Role::Plain, format!(": {}", room.one(&texts)));
    vec![painter.paint(line)]
}

/// `running since 14:02:06`, `waiting CrashLoopBackOff`, `terminated OOMKilled exit 137`.
fn words(painter: &Painter<'_>, state: Shown<'_>) -> Option<String> {
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
