//! `Painter`: what all lines of a diff are made of: marks, paths, the names of managers, and the room for values.

use super::diff_line::DiffLine;
use super::value::Room;
use super::view::{DiffView, Fold};
use super::who::Attribution;
use crate::diff::{Change, Diff, NodeId, Noise, Op, Shown};
use crate::object;
use crate::object::managed_fields::Writers;
use crate::object::path::{PathWriter, Side};
use crate::render::age;
use crate::render::style::Role;
use crate::render::text::Text;

/// The length in bytes above which a text is shown as an excerpt.
pub(super) const LONG: usize = 16 * 1024;

/// The columns of an excerpt if no width limits it.
pub(super) const ENOUGH: usize = 400;

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

    /// Starts a line with a mark and the path of a value.
    pub(super) fn start(&self, mark: LineMark, at: NodeId, base: Base) -> DiffLine {
        let mut line = DiffLine::indented(base.indent);
        line.write(mark.role, |text| text.extend([mark.text, " "]));
        line.write_path(mark.role_of_rest(), |text| {
            let arrow = self.view.look.symbols.arrow;
            self.diff
                .write_path(PathWriter::new(text, arrow), base.at, at);
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

    /// The whole line. If it does not fit, it loses the start of its path, then the manager.
    pub(super) fn finish(&self, mut line: DiffLine) -> Text {
        let columns = self.view.look.width;
        let is_long = |line: &DiffLine| columns.is_some_and(|columns| !line.fits(columns));
        if is_long(&line) {
            self.make_room(&mut line, 0, || 0);
            if is_long(&line) {
                line.suffix.clear();
            }
        }
        line.finish()
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

    /// The room for values on a line of which so much is taken. A very long value gets a limit even if lines have none.
    pub(super) fn room_for(&self, taken: usize, shown: &[Shown<'_>]) -> Room {
        let room = Room::of(self.view.look, taken);
        let long = shown.iter().any(|shown| shown.size() > LONG);
        let bound = long && self.view.fold == Fold::Many;
        Room {
            columns: room.columns.or_else(|| bound.then_some(ENOUGH)),
            ..room
        }
    }
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

/// The time of day, or the escaped text if it is not a time.
pub(super) fn clock(painter: &Painter<'_>, time: &str) -> String {
    match object::time(time) {
        Some(time) => age::clock(time, painter.view.zone),
        None => Text::from(time).as_str().to_owned(),
    }
}
