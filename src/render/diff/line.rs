//! A line while it is written.

use crate::render::style::{Role, Styles};
use crate::render::text;

use super::fit::Span;

/// The size in bytes of most lines.
const USUAL: usize = 128;

/// A line before it is painted: display text, and what its pieces are.
#[derive(Default)]
pub(super) struct DiffLine {
    text: String,
    /// The role of each piece, and where in the text it ends.
    pieces: Vec<(Role, usize)>,
    /// What will stand at its end, and is to have room there.
    pub(super) suffix: String,
}

impl DiffLine {
    /// A line that stands so many columns in.
    pub(super) fn indented(indent: usize) -> DiffLine {
        let mut line = DiffLine {
            text: String::with_capacity(USUAL),
            pieces: Vec::with_capacity(8),
            suffix: String::new(),
        };
        if indent > 0 {
            line.push(Role::Plain, &" ".repeat(indent));
        }
        line
    }

    /// Appends a piece.
    pub(super) fn push(&mut self, role: Role, piece: &str) {
        self.write(role, |text| text.push_str(piece));
    }

    /// Appends one piece, written by a closure.
    pub(super) fn write(&mut self, role: Role, write: impl FnOnce(&mut String)) {
        write(&mut self.text);
        self.pieces.push((role, self.text.len()));
    }

    /// Appends pieces.
    pub(super) fn extend(&mut self, spans: &[Span]) {
        for (role, piece) in spans {
            self.push(*role, piece);
        }
    }

    /// Begins again, with the same suffix.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
    }

    /// The columns it takes, with its suffix.
    pub(super) fn width(&self) -> usize {
        text::width(&self.text) + text::width(&self.suffix)
    }

    /// Whether it takes no more than so many columns, with its suffix.
    pub(super) fn fits(&self, columns: usize) -> bool {
        self.text.len() + self.suffix.len() <= columns || self.width() <= columns
    }

    /// The line as it is shown.
    pub(super) fn paint(mut self, styles: Styles) -> String {
        let suffix = std::mem::take(&mut self.suffix);
        self.push(Role::Dim, &suffix);
        if styles.is_plain() {
            return self.text;
        }
        let mut painted = String::with_capacity(2 * self.text.len());
        let mut start = 0;
        for (role, end) in self.pieces {
            styles.push(&mut painted, role, &self.text[start..end]);
            start = end;
        }
        painted
    }
}
