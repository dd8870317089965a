//! `Canvas`: what a view is drawn on, and the lines that every view shares.

use jiff::Timestamp;

use super::age;
use super::style::Look;
use super::text::{cut_line, width};

/// What a view is drawn on.
#[derive(Clone, Copy, Debug)]
pub struct Canvas {
    /// How text looks, and the width of the terminal.
    pub look: Look,
    /// The time.
    pub now: Timestamp,
    /// When the live view began; `None` for one that is printed once.
    pub started: Option<Timestamp>,
    /// How many lines there may be; `None` for any number.
    pub rows: Option<usize>,
}

/// Where text on the right of a line ends on wider terminals. A line that fills a wide terminal wraps when the
/// terminal gets narrower.
const RIGHT_EDGE: usize = 80;

impl Canvas {
    /// The canvas without its last column: a terminal may wrap what stands there.
    #[must_use]
    pub fn narrowed(self) -> Canvas {
        let width = self.look.width;
        Canvas {
            look: Look {
                width: width.map(|columns| columns.saturating_sub(1).max(1)),
                ..self.look
            },
            ..self
        }
    }

    /// The canvas with fewer rows, as others take some.
    #[must_use]
    pub fn without_rows(self, taken: usize) -> Canvas {
        Canvas {
            rows: self.rows.map(|rows| rows.saturating_sub(taken)),
            ..self
        }
    }

    /// The lines, none wider than the canvas.
    pub fn cut(self, lines: Vec<String>) -> Vec<String> {
        let Some(columns) = self.look.width else {
            return lines;
        };
        let ellipsis = self.look.symbols.ellipsis;
        let cut = |line: String| cut_line(&line, columns, ellipsis).into_owned();
        lines.into_iter().map(cut).collect()
    }

    /// How old something is; empty if that is not known.
    pub fn age(self, since: Option<Timestamp>) -> String {
        since.map_or(String::new(), |since| age::age(since, self.now))
    }

    /// Text at both ends of a line; `None` if there is no room for both.
    pub fn spread(self, left: &str, right: &str) -> Option<String> {
        let gap = if right.is_empty() { 0 } else { 2 };
        let needed = width(left) + gap + width(right);
        let Some(columns) = self.look.width else {
            let blanks = if right.is_empty() { "" } else { "   " };
            return Some(format!("{left}{blanks}{right}"));
        };
        if needed > columns {
            return None;
        }
        let blanks = match gap {
            0 => 0,
            gap => gap + columns.min(RIGHT_EDGE).saturating_sub(needed),
        };
        Some(format!("{left}{}{right}", " ".repeat(blanks)))
    }

    /// A line with text at its right end, if there is room for that.
    pub fn line(self, left: &str, right: &str) -> String {
        self.spread(left, right).unwrap_or_else(|| left.to_owned())
    }
}
