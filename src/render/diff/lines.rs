//! One change as one line, or a few.

use jiff::SignedDuration;

use crate::diff::{Change, Content, Diff, Fmt, Noise, Op, Origin, SegId, Shown};
use crate::object;
use crate::object::managed_fields::Writers;
use crate::object::path::Side;
use crate::render::style::{Look, Role};
use crate::render::{age, text};

use super::fit::Room;
use super::line::Line;
use super::who::Above;
use super::{View, embedded, value};

/// What lines are made from.
pub(super) struct Painter<'p> {
    pub(super) diff: &'p Diff<'p>,
    pub(super) writers: Option<&'p Writers<'p>>,
    pub(super) view: &'p View<'p>,
    /// What is said above the lines of who is behind them.
    pub(super) above: Above,
}

/// Where a line stands: below which value, and how far in.
#[derive(Clone, Copy)]
pub(super) struct Base {
    /// Paths start below it.
    pub(super) at: SegId,
    pub(super) indent: usize,
}

impl Base {
    pub(super) const TOP: Base = Base {
        at: SegId::ROOT,
        indent: 0,
    };
}

impl Painter<'_> {
    /// Appends the lines of one change.
    pub(super) fn change(&self, out: &mut Vec<String>, change: &Change, base: Base) {
        let (role, mark) = self.mark(change);
        // An item without a name is moved within its list: the indices follow.
        let named = match change.op {
            Op::Move { .. } if !self.diff.is_keyed(change.at) => self.diff.parent(change.at),
            _ => change.at,
        };
        let mut line = self.start((role, mark), named, base);
        line.suffix = self.suffix(change);
        let old = self.shown(change.at, Side::Old);
        let new = self.shown(change.at, Side::New);
        match (change.op, old, new) {
            (Op::Move { from, to }, _, _) => self.moved(&mut line, (from, to), change.at),
            (Op::Add | Op::Remove, old, new) => {
                if let Some(value) = new.or(old) {
                    self.alone(&mut line, (role, change), value);
                }
            }
            (Op::Replace, Some(old), Some(new)) => {
                if let Some(lines) = embedded::lines(self, &mut line, (change, base), (old, new)) {
                    return out.extend(lines);
                }
                match self.excerpt(&mut line, (old, new)) {
                    Some(()) => {}
                    None => self.pair(&mut line, change, (old, new)),
                }
            }
            (Op::Replace, _, _) => {}
        }
        out.push(self.paint(line));
    }

    /// The mark and the path.
    pub(super) fn start(&self, (role, mark): (Role, &str), at: SegId, base: Base) -> Line {
        let mut line = Line::indented(base.indent);
        self.begin(&mut line, (role, mark), (at, base));
        line
    }

    /// Appends the mark and the path.
    pub(super) fn begin(
        &self,
        line: &mut Line,
        (role, mark): (Role, &str),
        (at, base): (SegId, Base),
    ) {
        line.write(role, |text| text.extend([mark, " "]));
        let path_role = match role {
            Role::Added | Role::Removed => role,
            _ => Role::Plain,
        };
        line.write(path_role, |text| self.push_path(text, (base.at, at)));
    }

    pub(super) fn paint(&self, line: Line) -> String {
        line.paint(self.view.look.styles)
    }

    pub(super) fn shown(&self, at: SegId, side: Side) -> Option<Shown<'_>> {
        self.diff.shown(at, side, self.view.redactor)
    }

    fn mark(&self, change: &Change) -> (Role, &'static str) {
        match change.op {
            Op::Add => (Role::Added, "+"),
            Op::Remove => (Role::Removed, "-"),
            Op::Move { .. } => (Role::Moved, self.view.look.symbols.moved),
            Op::Replace if change.noise == Some(Noise::Equivalent) => {
                (Role::Equal, self.view.look.symbols.equal)
            }
            Op::Replace => (Role::Changed, "~"),
        }
    }

    /// Appends the path of a value, from below `base` on.
    fn push_path(&self, text: &mut String, (base, at): (SegId, SegId)) {
        let start = text.len();
        let arrow = self.view.look.symbols.arrow;
        self.diff.push_path(text, (base, at), arrow);
        text::escape_line_from(text, start);
    }

    /// The room that is left on a line for values.
    pub(super) fn room(&self, line: &Line, taken: usize) -> Room {
        let look = self.view.look;
        Room {
            columns: look
                .width
                .map(|width| width.saturating_sub(line.width() + taken)),
            ellipsis: look.symbols.ellipsis,
        }
    }

    fn moved(&self, line: &mut Line, (from, to): (u32, u32), at: SegId) {
        let arrow = self.view.look.symbols.arrow;
        line.push(Role::Plain, &format!(": {from} {arrow} {to}"));
        // A path with a key says which item it is; an index does not.
        if !self.diff.is_keyed(at)
            && let Some(item) = self.shown(at, Side::New)
        {
            let room = self.room(line, 2);
            let text = value::fitting(item, room.columns, &[]).unwrap_or_default();
            line.push(Role::Dim, &format!("  {}", room.one(&text)));
        }
    }

    fn alone(&self, line: &mut Line, (role, change): (Role, &Change), shown: Shown<'_>) {
        let without = self.diff.key_fields(change.at);
        let note = self.origin(change).unwrap_or_default();
        let room = self.room_for(line, 2 + text::width(&note), &[shown]);
        if let Some(text) = value::fitting(shown, room.columns, &without) {
            line.push(role, ": ");
            line.push(role, &room.one(&text));
        }
        line.push(Role::Dim, &note);
    }

    /// Where something new has come from, if the same is gone from beside it.
    fn origin(&self, change: &Change) -> Option<String> {
        match self.diff.renamed_from(change)? {
            Origin::Field(at) => {
                let mut text = "  (renamed from ".to_owned();
                self.push_path(&mut text, (SegId::ROOT, at));
                text.push(')');
                Some(text)
            }
            Origin::Item(at) => {
                let names = self.diff.key_fields(at).join(" and ");
                Some(format!("  (same except {names})"))
            }
        }
    }

    fn pair(&self, line: &mut Line, change: &Change, (old, new): (Shown<'_>, Shown<'_>)) {
        let Look {
            styles, symbols, ..
        } = self.view.look;
        let note = self.pair_note(change.fmt, (old, new)).unwrap_or_default();
        let taken = 4 + text::width(symbols.arrow) + text::width(&note);
        let room = self.room_for(line, taken, &[old, new]);
        let half = room.columns.map(|columns| columns / 2);
        let text = |shown| value::fitting(shown, half, &[]).unwrap_or_default();
        let (old, new) = (text(old), text(new));
        let push_arrow = |line: &mut Line| {
            line.write(Role::Dim, |text| text.extend([" ", symbols.arrow, " "]));
        };
        line.push(Role::Plain, ": ");
        // Where nothing is painted, nobody asks which words differ, unless they are to stay in sight.
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
        line.push(Role::Dim, &note);
    }

    /// What is said behind a pair: how much later, or which types.
    fn pair_note(&self, fmt: Fmt, (old, new): (Shown<'_>, Shown<'_>)) -> Option<String> {
        let arrow = self.view.look.symbols.arrow;
        match (old.content(), new.content()) {
            (Content::Text(old), Content::Text(new)) if fmt == Fmt::Time => {
                Some(format!("  ({})", age::delta(span(&old, &new)?)))
            }
            (a, b) => match (kind(&a)?, kind(&b)?) {
                (a, b) if a != b => Some(format!("  ({a} {arrow} {b})")),
                _ => None,
            },
        }
    }

    /// Who did it, where the line above the version does not say so.
    pub(super) fn suffix(&self, change: &Change) -> String {
        let writers = self.writers;
        let by = writers.and_then(|writers| self.diff.by(writers, change));
        by.map_or_else(String::new, |by| self.above.leaves(by))
    }
}

/// The span between two times as the API writes them.
pub(super) fn span(old: &str, new: &str) -> Option<SignedDuration> {
    Some(object::time(new)?.duration_since(object::time(old)?))
}

/// The time of day, or the text if it is no time.
pub(super) fn clock(painter: &Painter<'_>, time: &str) -> String {
    match object::time(time) {
        Some(time) => age::clock(time, painter.view.zone),
        None => text::escape_line(time).into_owned(),
    }
}

/// The type of a value, where it is worth a word.
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
