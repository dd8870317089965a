//! `DiffLine`: a line of a diff before it is painted.

use std::ops::Range;

use super::value::Span;
use crate::render::style::{Role, Styles};
use crate::render::text;

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
    pub(super) fn shorten_path(&mut self, excess: usize, least: usize, ellipsis: &str) {
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
