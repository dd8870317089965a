//! One change as one line, or a few.

use jiff::SignedDuration;

use crate::diff::{Change, Content, Diff, Fmt, Noise, Op, Origin, SegId, Shown};
use crate::object::managed_fields::{By, Writers};
use crate::object::path::{Path, Side};
use crate::render::style::Role;
use crate::render::{age, text};

use super::fit::{Room, Span};
use super::header::manager;
use super::{View, embedded, value};

/// What lines are made from.
pub(super) struct Painter<'p> {
    pub(super) diff: &'p Diff<'p>,
    pub(super) writers: Option<&'p Writers<'p>>,
    pub(super) view: &'p View<'p>,
    /// Whether several have written this version, so that each line names one.
    pub(super) several: bool,
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

/// A line before it is painted.
#[derive(Default)]
pub(super) struct Line {
    pub(super) spans: Vec<Span>,
    /// What will stand at its end, and is to have room there.
    pub(super) suffix: String,
}

impl Line {
    pub(super) fn push(&mut self, role: Role, text: impl Into<String>) {
        self.spans.push((role, text.into()));
    }

    fn width(&self) -> usize {
        let spans = self.spans.iter().map(|(_, text)| text::width(text));
        spans.sum::<usize>() + text::width(&self.suffix)
    }
}

impl Painter<'_> {
    /// The lines of one change.
    pub(super) fn change(&self, change: &Change, base: Base) -> Vec<String> {
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
                    return lines;
                }
                match self.excerpt(&mut line, (old, new)) {
                    Some(()) => {}
                    None => self.pair(&mut line, change, (old, new)),
                }
            }
            (Op::Replace, _, _) => {}
        }
        vec![self.paint(line)]
    }

    /// The mark and the path.
    pub(super) fn start(&self, (role, mark): (Role, &str), at: SegId, base: Base) -> Line {
        let mut line = Line::default();
        if base.indent > 0 {
            line.push(Role::Plain, " ".repeat(base.indent));
        }
        line.push(role, format!("{mark} "));
        let path = self.path(at, base.at);
        let path_role = match role {
            Role::Added | Role::Removed => role,
            _ => Role::Plain,
        };
        line.push(path_role, path);
        line
    }

    pub(super) fn paint(&self, mut line: Line) -> String {
        let styles = self.view.look.styles;
        let suffix = std::mem::take(&mut line.suffix);
        line.push(Role::Dim, suffix);
        let mut text = String::with_capacity(line.spans.iter().map(|(_, text)| text.len()).sum());
        for (role, span) in &line.spans {
            styles.push(&mut text, *role, span);
        }
        text
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

    /// The path of a value, from `base` on.
    pub(super) fn path(&self, at: SegId, base: SegId) -> String {
        let arrow = self.view.look.symbols.arrow;
        let path = self.diff.path(at);
        let skipped = self.diff.chain(base).count();
        if skipped == 0 {
            return text::escaped_line(path.text(arrow));
        }
        let rest = Path {
            steps: path.steps.into_iter().skip(skipped).collect(),
        };
        let rest = rest.text(arrow);
        text::escape_line(rest.strip_prefix('.').unwrap_or(&rest)).into_owned()
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
        line.push(Role::Plain, format!(": {from} {arrow} {to}"));
        // A path with a key says which item it is; an index does not.
        if !self.diff.is_keyed(at)
            && let Some(item) = self.shown(at, Side::New)
        {
            let room = self.room(line, 2);
            let text = value::fitting(item, room.columns, &[]).unwrap_or_default();
            line.push(Role::Dim, format!("  {}", room.one(&text)));
        }
    }

    fn alone(&self, line: &mut Line, (role, change): (Role, &Change), shown: Shown<'_>) {
        let without = self.diff.key_fields(change.at);
        let note = self.origin(change).unwrap_or_default();
        let room = self.room_for(line, 2 + text::width(&note), &[shown]);
        if let Some(text) = value::fitting(shown, room.columns, &without) {
            line.push(role, ": ");
            line.push(role, room.one(&text));
        }
        line.push(Role::Dim, note);
    }

    /// Where something new has come from, if the same is gone from beside it.
    fn origin(&self, change: &Change) -> Option<String> {
        match self.diff.renamed_from(change)? {
            Origin::Field(at) => Some(format!("  (renamed from {})", self.path(at, SegId::ROOT))),
            Origin::Item(at) => {
                let names = self.diff.key_fields(at).join(" and ");
                Some(format!("  (same except {names})"))
            }
        }
    }

    fn pair(&self, line: &mut Line, change: &Change, (old, new): (Shown<'_>, Shown<'_>)) {
        let arrow = self.view.look.symbols.arrow;
        let note = self.pair_note(change.fmt, (old, new));
        let note = note.unwrap_or_default();
        let taken = 4 + text::width(arrow) + text::width(&note);
        let room = self.room_for(line, taken, &[old, new]);
        let half = room.columns.map(|columns| columns / 2);
        let text = |shown| value::fitting(shown, half, &[]).unwrap_or_default();
        let (old, new) = (text(old), text(new));
        let (old, new) = if self.view.look.styles.is_plain() && room.holds(&old, &new) {
            (vec![(Role::Plain, old)], vec![(Role::Plain, new)])
        } else {
            room.pair(&old, &new)
        };
        line.push(Role::Plain, ": ");
        line.spans.extend(old);
        line.push(Role::Dim, format!(" {arrow} "));
        line.spans.extend(new);
        line.push(Role::Dim, note);
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
        let Some(by) = self
            .writers
            .and_then(|writers| self.diff.by(writers, change))
        else {
            return String::new();
        };
        let text = match by {
            By::Actor(actor) if self.several => format!("  by {}", manager(actor)),
            By::Actor(_) => return String::new(),
            By::Took { actor, was } if self.several => {
                format!("  by {} (was {}'s)", manager(actor), manager(was))
            }
            By::Took { was, .. } => format!("  (was {}'s)", manager(was)),
            By::Owner(owner) => format!("  owner {}", manager(owner)),
        };
        text::escaped_line(text)
    }
}

/// The span between two times as the API writes them.
pub(super) fn span(old: &str, new: &str) -> Option<SignedDuration> {
    let (old, new): (jiff::Timestamp, jiff::Timestamp) = (old.parse().ok()?, new.parse().ok()?);
    Some(new.duration_since(old))
}

/// The time of day, or the text if it is no time.
pub(super) fn clock(painter: &Painter<'_>, time: &str) -> String {
    match time.parse() {
        Ok(time) => age::clock(time, painter.view.zone),
        Err(_) => text::escape_line(time).into_owned(),
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
