//! `DiffLine`: a line of a diff before it is complete.

use std::ops::Range;

use super::value::Span;
use crate::render::style::Role;
use crate::render::text::{self, Text};

/// A line before it is complete.
#[derive(Default)]
pub(super) struct DiffLine {
    text: Text,
    /// Where the path is in the text.
    path: Range<usize>,
    /// The text that [`DiffLine::finish`] puts at the end. The line keeps room for it.
    pub(super) suffix: String,
}

impl DiffLine {
    /// A line indented by this many columns.
    pub(super) fn indented(indent: usize) -> DiffLine {
        DiffLine {
            text: Text::default().pad(indent),
            ..DiffLine::default()
        }
    }

    /// Appends a piece.
    pub(super) fn push(&mut self, role: Role, piece: &str) {
        self.text.push(role, piece);
    }

    /// Appends one piece, written by a closure.
    pub(super) fn write(&mut self, role: Role, write: impl FnOnce(&mut String)) {
        self.text.write(role, write);
    }

    /// Appends the path as one piece, written by a closure.
    pub(super) fn write_path(&mut self, role: Role, write: impl FnOnce(&mut String)) {
        self.path = self.text.write(role, write);
    }

    /// Cuts the start of the path, so that the line has this many columns less. At least `least` columns of the path stay.
    pub(super) fn shorten_path(&mut self, excess: usize, least: usize, ellipsis: &str) {
        if excess == 0 {
            return;
        }
        let path = &self.text.as_str()[self.path.clone()];
        let whole = text::width(path);
        let columns = whole.saturating_sub(excess).max(least);
        if columns >= whole {
            return;
        }
        let tail = text::tail(path, columns.saturating_sub(text::width(ellipsis)));
        let short = [ellipsis, whole_steps(tail)].concat();
        self.text.replace(self.path.clone(), &short);
        self.path.end = self.path.start + short.len();
    }

    /// Appends pieces.
    pub(super) fn extend(&mut self, spans: &[Span]) {
        for (role, piece) in spans {
            self.push(*role, piece);
        }
    }

    /// Removes all pieces, and keeps the suffix.
    pub(super) fn clear(&mut self) {
        self.text = Text::default();
        self.path = 0..0;
    }

    /// The width in columns, suffix included.
    pub(super) fn width(&self) -> usize {
        self.text.width() + text::width(&self.suffix)
    }

    /// The length in bytes, suffix included. No line has more columns than bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.as_str().len() + self.suffix.len()
    }

    /// Whether the line takes at most this many columns, suffix included.
    pub(super) fn fits(&self, columns: usize) -> bool {
        self.bytes() <= columns || self.width() <= columns
    }

    /// The line with its suffix.
    pub(super) fn finish(self) -> Text {
        self.text + Text::dim(self.suffix)
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
