//! Shows one change in one line or a few.

use std::ops::Range;

use jiff::SignedDuration;

use super::embedded::Replacement;
use super::value::{Room, Span};
use super::view::DiffView;
use super::who::Attribution;
use super::{embedded, value};
use crate::diff::{Change, Content, Diff, Fmt, NodeId, Noise, Op, Origin, Shown};
use crate::object;
use crate::object::managed_fields::Writers;
use crate::object::path::{PathWriter, Side};
use crate::render::style::{Look, Role, Styles};
use crate::render::{age, text};

impl Painter<'_> {
    /// Appends the lines of one change.
    pub(super) fn change(&self, out: &mut Vec<String>, change: &Change, base: Base) {
        // An item without a key moves within its list, so the path is that of the list.
        let named = match change.op {
            Op::Move { .. } if !self.diff.is_keyed(change.at) => self.diff.parent(change.at),
            _ => change.at,
        };
        let mut line = self.start(self.mark(change), named, base);
        line.suffix = self.suffix(change);
        let old = self.shown(change.at, Side::Old);
        let new = self.shown(change.at, Side::New);
        match (change.op, old, new) {
            (Op::Move { .. }, _, _) => self.moved(&mut line, change),
            (Op::Add | Op::Remove, old, new) => {
                if let Some(value) = new.or(old) {
                    self.alone(&mut line, change, value);
                }
            }
            (Op::Replace, Some(old), Some(new)) => {
                let pair = ShownPair { old, new };
                let replacement = Replacement { change, base, pair };
                if let Some(lines) = embedded::lines(self, &mut line, replacement) {
                    return out.extend(lines);
                }
                if self.excerpt(&mut line, pair).is_none() {
                    self.pair(&mut line, change, pair);
                }
            }
            (Op::Replace, _, _) => {}
        }
        out.push(self.paint(line));
    }

    fn moved(&self, line: &mut DiffLine, change: &Change) {
        let Op::Move { from, to } = change.op else {
            return;
        };
        let at = change.at;
        let arrow = self.view.look.symbols.arrow;
        line.push(Role::Plain, &format!(": {from} {arrow} {to}"));
        // A path with a key identifies the item; an index does not.
        if !self.diff.is_keyed(at)
            && let Some(item) = self.shown(at, Side::New)
        {
            let room = self.room(line, 2);
            let text = value::fitting(item, room.columns, &[]).unwrap_or_default();
            line.push(Role::Dim, &format!("  {}", room.one(&text)));
        }
    }

    fn alone(&self, line: &mut DiffLine, change: &Change, shown: Shown<'_>) {
        let role = self.mark(change).role;
        let without = self.diff.key_fields(change.at);
        let note = self.origin(change).unwrap_or_default();
        let taken = 2 + text::width(&note);
        let used = self.make_room(line, taken + value::at_most(shown), || {
            taken + value::wanted(shown, &without)
        });
        let room = self.room_for(used + taken, &[shown]);
        if let Some(text) = value::fitting(shown, room.columns, &without) {
            line.push(role, ": ");
            line.push(role, &room.one(&text));
        }
        line.push(Role::Dim, &note);
    }

    /// The removed sibling that an added value was before, as a note.
    fn origin(&self, change: &Change) -> Option<String> {
        match self.diff.renamed_from(change)? {
            Origin::Field(at) => {
                let mut text = "  (renamed from ".to_owned();
                let start = text.len();
                let arrow = self.view.look.symbols.arrow;
                let writer = PathWriter::new(&mut text, arrow);
                self.diff.write_path(writer, NodeId::ROOT, at);
                text::escape_line_from(&mut text, start);
                text.push(')');
                Some(text)
            }
            Origin::Item { fields, .. } => {
                Some(format!("  (same except {})", fields.join(" and ")))
            }
        }
    }

    fn pair(&self, line: &mut DiffLine, change: &Change, pair: ShownPair<'_>) {
        let ShownPair { old, new } = pair;
        let Look {
            styles, symbols, ..
        } = self.view.look;
        let note = self.pair_note(change.fmt, pair).unwrap_or_default();
        let taken = 4 + text::width(symbols.arrow) + text::width(&note);
        let at_most = taken + value::at_most(old) + value::at_most(new);
        let used = self.make_room(line, at_most, || {
            taken + value::wanted(old, &[]) + value::wanted(new, &[])
        });
        let room = self.room_for(used + taken, &[old, new]);
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
        let columns = self.view.look.width;
        let has_room =
            || columns.is_none_or(|columns| line.width() + text::width(&note) <= columns);
        if !note.is_empty() && has_room() {
            line.push(Role::Dim, &note);
        }
    }

    /// The note after a pair: by how much a time moved, or the types of the values.
    fn pair_note(&self, fmt: Fmt, pair: ShownPair<'_>) -> Option<String> {
        let arrow = self.view.look.symbols.arrow;
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

    /// Starts a line with a mark and the path of a value.
    pub(super) fn start(&self, mark: LineMark, at: NodeId, base: Base) -> DiffLine {
        let mut line = DiffLine::indented(self.view.look.styles, base.indent);
        line.write(mark.role, |text| text.extend([mark.text, " "]));
        line.write_path(mark.role_of_rest(), |text| {
            let start = text.len();
            let arrow = self.view.look.symbols.arrow;
            self.diff
                .write_path(PathWriter::new(text, arrow), base.at, at);
            text::escape_line_from(text, start);
        });
        line
    }

    /// Makes room for so many columns, and returns how many the line takes. The start of the path gives way, as far as its
    /// end stays readable. If there is room for `at_most` columns, nothing is measured and a byte counts as a column.
    pub(super) fn make_room(
        &self,
        line: &mut DiffLine,
        at_most: usize,
        wanted: impl FnOnce() -> usize,
    ) -> usize {
        let look = self.view.look;
        let Some(columns) = look.width else {
            return line.bytes();
        };
        if line.bytes() + at_most <= columns {
            return line.bytes();
        }
        let excess = (line.width() + wanted()).saturating_sub(columns);
        line.shorten_path(excess, columns / PATH_SHARE, look.symbols.ellipsis);
        line.width()
    }

    /// The mark of a change.
    pub(super) fn mark(&self, change: &Change) -> LineMark {
        let symbols = self.view.look.symbols;
        match change.op {
            Op::Add => LineMark::ADDED,
            Op::Remove => LineMark::REMOVED,
            Op::Move { .. } => LineMark::new(Role::Moved, symbols.moved),
            Op::Replace if change.noise == Some(Noise::Equivalent) => {
                LineMark::new(Role::Equal, symbols.equal)
            }
            Op::Replace => LineMark::CHANGED,
        }
    }

    /// Paints a line. If it does not fit, it loses the start of its path, then the manager.
    pub(super) fn paint(&self, mut line: DiffLine) -> String {
        let columns = self.view.look.width;
        let is_long = |line: &DiffLine| columns.is_some_and(|columns| !line.fits(columns));
        if is_long(&line) {
            self.make_room(&mut line, 0, || 0);
            if is_long(&line) {
                line.suffix.clear();
            }
        }
        line.paint()
    }

    pub(super) fn shown(&self, at: NodeId, side: Side) -> Option<Shown<'_>> {
        self.diff.shown(at, side, self.view.redactor)
    }

    /// The room for values that is left on a line.
    pub(super) fn room(&self, line: &DiffLine, taken: usize) -> Room {
        Room::of(self.view.look, line.width() + taken)
    }

    /// Names the manager of a change, unless the heading does.
    pub(super) fn suffix(&self, change: &Change) -> String {
        let writers = self.writers;
        let by = writers.and_then(|writers| self.diff.by(writers, change));
        by.map_or_else(String::new, |by| self.above.suffix(by))
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

/// The capacity in bytes that is enough for most lines.
const USUAL: usize = 128;

/// A line before it is painted: display text, and the roles of its pieces.
#[derive(Default)]
pub(super) struct DiffLine {
    text: String,
    styles: Styles,
    /// The role of each piece, and the offset of its end in the text. Empty if nothing will be painted.
    pieces: Vec<(Role, usize)>,
    /// Where the path is in the text.
    path: Range<usize>,
    /// The text that [`DiffLine::paint`] puts at the end. The line keeps room for it.
    pub(super) suffix: String,
}

impl DiffLine {
    /// A line indented by this many columns.
    pub(super) fn indented(styles: Styles, indent: usize) -> DiffLine {
        let mut line = DiffLine {
            text: String::with_capacity(USUAL),
            styles,
            ..DiffLine::default()
        };
        line.write(Role::Plain, |text| {
            text.extend(std::iter::repeat_n(' ', indent));
        });
        line
    }

    /// Appends a piece.
    pub(super) fn push(&mut self, role: Role, piece: &str) {
        self.write(role, |text| text.push_str(piece));
    }

    /// Appends one piece, written by a closure.
    pub(super) fn write(&mut self, role: Role, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        if !self.styles.is_plain() {
            self.pieces.push((role, self.text.len()));
        }
    }

    /// Appends the path as one piece, written by a closure.
    pub(super) fn write_path(&mut self, role: Role, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        self.write(role, write);
        self.path = start..self.text.len();
    }

    /// Cuts the start of the path, so that the line has this many columns less. At least `least` columns of the path stay.
    fn shorten_path(&mut self, excess: usize, least: usize, ellipsis: &str) {
        if excess == 0 {
            return;
        }
        let path = &self.text[self.path.clone()];
        let whole = text::width(path);
        let columns = whole.saturating_sub(excess).max(least);
        if columns >= whole {
            return;
        }
        let tail = text::tail(path, columns.saturating_sub(text::width(ellipsis)));
        let short = [ellipsis, whole_steps(tail)].concat();
        let Range { start, end } = self.path.clone();
        self.text.replace_range(start..end, &short);
        self.path.end = start + short.len();
        for (_, at) in self.pieces.iter_mut().filter(|(_, at)| *at >= end) {
            *at = *at + short.len() - (end - start);
        }
    }

    /// Appends pieces.
    pub(super) fn extend(&mut self, spans: &[Span]) {
        for (role, piece) in spans {
            self.push(*role, piece);
        }
    }

    /// Removes all pieces, and keeps the suffix.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
        self.path = 0..0;
    }

    /// The width in columns, suffix included.
    pub(super) fn width(&self) -> usize {
        text::width(&self.text) + text::width(&self.suffix)
    }

    /// The length in bytes, suffix included. No line has more columns than bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.suffix.len()
    }

    /// Whether the line takes at most this many columns, suffix included.
    pub(super) fn fits(&self, columns: usize) -> bool {
        self.bytes() <= columns || self.width() <= columns
    }

    /// The painted line.
    pub(super) fn paint(mut self) -> String {
        let suffix = std::mem::take(&mut self.suffix);
        self.push(Role::Dim, &suffix);
        if self.styles.is_plain() {
            return self.text;
        }
        let mut painted = String::with_capacity(2 * self.text.len());
        let mut start = 0;
        for (role, end) in self.pieces {
            self.styles.push(&mut painted, role, &self.text[start..end]);
            start = end;
        }
        painted
    }
}

/// The end of a path from its first whole step on, unless most of it would go.
fn whole_steps(tail: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, byte) in tail.bytes().enumerate().rev() {
        match byte {
            b']' => depth += 1,
            b'[' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 && at < tail.len() / 2 => start = at + 1,
            _ => {}
        }
    }
    &tail[start..]
}

/// A path keeps this part of the line, if the value needs the rest.
const PATH_SHARE: usize = 3;

/// The inputs of all lines.
pub(super) struct Painter<'p> {
    pub(super) diff: &'p Diff<'p>,
    pub(super) writers: Option<&'p Writers<'p>>,
    pub(super) view: &'p DiffView<'p>,
    /// The managers that the heading above the lines names.
    pub(super) above: Attribution<'p>,
}

/// The position of a line: its ancestor and its indent.
#[derive(Clone, Copy)]
pub(super) struct Base {
    /// Paths start below this value.
    pub(super) at: NodeId,
    pub(super) indent: usize,
}

impl Base {
    pub(super) const TOP: Base = Base {
        at: NodeId::ROOT,
        indent: 0,
    };
}

/// The first piece of a line, and its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineMark {
    pub(super) role: Role,
    pub(super) text: &'static str,
}

impl Default for LineMark {
    fn default() -> LineMark {
        LineMark::NONE
    }
}

impl LineMark {
    pub(super) const NONE: LineMark = LineMark::new(Role::Plain, " ");
    pub(super) const ADDED: LineMark = LineMark::new(Role::Added, "+");
    pub(super) const REMOVED: LineMark = LineMark::new(Role::Removed, "-");
    pub(super) const CHANGED: LineMark = LineMark::new(Role::Changed, "~");

    pub(super) const fn new(role: Role, text: &'static str) -> LineMark {
        LineMark { role, text }
    }

    /// The role of the text after the mark. A value that was added or removed as a whole is painted as a whole.
    pub(super) fn role_of_rest(self) -> Role {
        match self.role {
            Role::Added | Role::Removed => self.role,
            _ => Role::Plain,
        }
    }
}

/// A value in both versions.
#[derive(Clone, Copy)]
pub(super) struct ShownPair<'s> {
    pub(super) old: Shown<'s>,
    pub(super) new: Shown<'s>,
}

impl<'p> Painter<'p> {
    /// A painter of changes whose managers are not named.
    pub(super) fn unattributed(diff: &'p Diff<'p>, view: &'p DiffView<'p>) -> Painter<'p> {
        Painter {
            diff,
            writers: None,
            view,
            above: Attribution::Writer,
        }
    }
}

/// The span between two times as the API writes them.
pub(super) fn span(old: &str, new: &str) -> Option<SignedDuration> {
    Some(object::time(new)?.duration_since(object::time(old)?))
}

/// The time of day, or the escaped text if it is not a time.
pub(super) fn clock(painter: &Painter<'_>, time: &str) -> String {
    match object::time(time) {
        Some(time) => age::clock(time, painter.view.zone),
        None => text::escape_line(time).into_owned(),
    }
}
