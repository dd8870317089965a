//! One change in one line: after its path, its values and a note.

use jiff::SignedDuration;

use super::diff_line::DiffLine;
use super::painter::{Painter, ShownPair};
use super::value;
use crate::diff::{Change, Content, Fmt, NodeId, Op, Origin, Shown, renamed_from};
use crate::object;
use crate::object::path::{PathWriter, Side};
use crate::render::style::{Look, Role};
use crate::render::{age, text};

/// Completes the line of a moved item.
pub(super) fn moved(painter: &Painter<'_>, line: &mut DiffLine, change: &Change) {
    let Op::Move { from, to } = change.op else {
        return;
    };
    let at = change.at;
    let arrow = painter.view.look.symbols.arrow;
    line.push(Role::Plain, &format!(": {from} {arrow} {to}"));
    // A path with a key identifies the item; an index does not.
    if !painter.diff.is_keyed(at)
        && let Some(item) = painter.shown(at, Side::New)
    {
        let room = painter.room(line, 2);
        let text = value::fitting(item, room.columns, &[]).unwrap_or_default();
        line.push(Role::Dim, &format!("  {}", room.one(&text)));
    }
}

/// Completes the line of an added or removed value.
pub(super) fn alone(painter: &Painter<'_>, line: &mut DiffLine, change: &Change, shown: Shown<'_>) {
    let role = painter.mark(change).role;
    let without = painter.diff.key_fields(change.at);
    let note = origin(painter, change).unwrap_or_default();
    let taken = 2 + text::width(&note);
    let used = painter.make_room(line, taken + value::at_most(shown), || {
        taken + value::wanted(shown, &without)
    });
    let room = painter.room_for(used + taken, &[shown]);
    if let Some(text) = value::fitting(shown, room.columns, &without) {
        line.push(role, ": ");
        line.push(role, &room.one(&text));
    }
    line.push(Role::Dim, &note);
}

/// The removed sibling that an added value was before, as a note.
fn origin(painter: &Painter<'_>, change: &Change) -> Option<String> {
    match renamed_from(painter.diff, change)? {
        Origin::Field(at) => {
            let mut text = "  (renamed from ".to_owned();
            let arrow = painter.view.look.symbols.arrow;
            let writer = PathWriter::new(&mut text, arrow);
            painter.diff.write_path(writer, NodeId::ROOT, at);
            text.push(')');
            Some(text::escaped_line(text.into()).into_owned())
        }
        Origin::Item { fields, .. } => Some(format!("  (same except {})", fields.join(" and "))),
    }
}

/// Completes the line of a replaced value.
pub(super) fn pair(
    painter: &Painter<'_>,
    line: &mut DiffLine,
    change: &Change,
    pair: ShownPair<'_>,
) {
    let ShownPair { old, new } = pair;
    let Look {
        styles, symbols, ..
    } = painter.view.look;
    let note = pair_note(painter, change.fmt, pair).unwrap_or_default();
    let taken = 4 + text::width(symbols.arrow) + text::width(&note);
    let at_most = taken + value::at_most(old) + value::at_most(new);
    let used = painter.make_room(line, at_most, || {
        taken + value::wanted(old, &[]) + value::wanted(new, &[])
    });
    let room = painter.room_for(used + taken, &[old, new]);
    let half = room.columns.map(|columns| columns / 2);
    let text = |shown| value::fitting(shown, half, &[]).unwrap_or_default();
    let (old, new) = (text(old), text(new));
    let push_arrow = |line: &mut DiffLine| {
        line.write(Role::Dim, |text| text.extend([" ", symbols.arrow, " "]));
    };
    line.push(Role::Plain, ": ");
    // Plain output needs no emphasis. So it compares no words, unless the pair must be cut.
    if styles.is_plain()
        && let Some((old, new)) = room.both(&old, &new)
    {
        line.push(Role::Plain, &old);
        push_arrow(line);
        line.push(Role::Plain, &new);
    } else {
        let (old, new) = room.pair(&old, &new);
        line.extend(&old);
        push_arrow(line);
        line.extend(&new);
    }
    // The values say what the note does.
    let columns = painter.view.look.width;
    let has_room = || columns.is_none_or(|columns| line.width() + text::width(&note) <= columns);
    if !note.is_empty() && has_room() {
        line.push(Role::Dim, &note);
    }
}

/// The note after a pair: by how much a time moved, or the types of the values.
fn pair_note(painter: &Painter<'_>, fmt: Fmt, pair: ShownPair<'_>) -> Option<String> {
    let arrow = painter.view.look.symbols.arrow;
    match (pair.old.content(), pair.new.content()) {
        (Content::Text(old), Content::Text(new)) if fmt == Fmt::Time => {
            Some(format!("  ({})", age::delta(span(&old, &new)?)))
        }
        (a, b) => match (kind(&a)?, kind(&b)?) {
            (a, b) if a != b => Some(format!("  ({a} {arrow} {b})")),
            _ => None,
        },
    }
}

/// The name of a value's type, if it is worth showing.
fn kind(content: &Content<'_>) -> Option<&'static str> {
    match content {
        Content::Null | Content::Redacted(_) => None,
        Content::Bool(_) => Some("boolean"),
        Content::Number(_) => Some("number"),
        Content::Text(_) => Some("string"),
        Content::Array => Some("list"),
        Content::Object => Some("object"),
    }
}

/// The span between two times as the API writes them.
pub(super) fn span(old: &str, new: &str) -> Option<SignedDuration> {
    Some(object::time(new)?.duration_since(object::time(old)?))
}
