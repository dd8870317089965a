//! `Canvas`: the area and the time that a view is drawn for, and the layout of lines that all views share.

use jiff::Timestamp;

use super::age;
use super::outline::OutlineSpace;
use super::style::{Look, role, symbol};
use super::text::{after_leads, cut_line, escape_line, width};
use crate::status::Status;

/// The look, the size and the time that a view is drawn for.
#[derive(Clone, Copy, Debug)]
pub struct Canvas {
    /// The styles, the symbols, and the width of the terminal.
    pub look: Look,
    /// The current time.
    pub now: Timestamp,
    /// When the live view started; `None` for a view that is printed once.
    pub started: Option<Timestamp>,
    /// The number of lines available; `None` for no limit.
    pub rows: Option<usize>,
    /// How the user ends a live view.
    pub exit_key: ExitKey,
}

/// The key that ends a live view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitKey {
    /// Ctrl-C: a signal, so it always works.
    #[default]
    CtrlC,
    /// `q`, if the program reads the keyboard.
    Q,
}

impl ExitKey {
    /// The words of a footer.
    pub fn hint(self) -> &'static str {
        match self {
            ExitKey::CtrlC => "Ctrl-C to exit",
            ExitKey::Q => "q to exit",
        }
    }

    /// How to read what a frame has no room for.
    pub fn reads_on(self) -> &'static str {
        match self {
            ExitKey::CtrlC => "use --once | less",
            ExitKey::Q => "space: next page",
        }
    }
}

impl Canvas {
    /// A canvas without a limit of rows, for a view that is printed once.
    pub fn unbounded(look: Look, now: Timestamp) -> Canvas {
        Canvas {
            look,
            now,
            started: None,
            rows: None,
            exit_key: ExitKey::default(),
        }
    }

    /// The canvas without its last column, because a terminal may wrap a line that fills it.
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

    /// The canvas with `taken` fewer rows.
    #[must_use]
    pub fn without_rows(self, taken: usize) -> Canvas {
        Canvas {
            rows: self.rows.map(|rows| rows.saturating_sub(taken)),
            ..self
        }
    }

    /// The space of an outline in the rows of the canvas.
    pub fn space(self) -> OutlineSpace {
        OutlineSpace {
            look: self.look,
            room: self.rows,
            reads_on: self.exit_key.reads_on(),
        }
    }

    /// Cuts the lines to the width of the canvas.
    pub fn cut(self, lines: Vec<String>) -> Vec<String> {
        let Some(columns) = self.look.width else {
            return lines;
        };
        let ellipsis = self.look.symbols.ellipsis;
        let cut = |line: String| cut_line(&line, columns, ellipsis).into_owned();
        lines.into_iter().map(cut).collect()
    }

    /// A painted lead and an unpainted text, which takes more lines if one is too short for it.
    pub fn wrapped(self, lead: &str, text: &str) -> Vec<String> {
        let blanks = " ".repeat(width(lead));
        after_leads([lead, &blanks], text, self.look, usize::MAX)
    }

    /// The state as its symbol and words. The words are escaped here.
    pub fn state(self, status: Status, words: &str) -> String {
        let symbol = symbol(status, self.look);
        let words = self.look.styles.paint(role(status), &escape_line(words));
        format!("{symbol} {words}")
    }

    /// The age of something; empty if `since` is unknown.
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
            gap => gap + columns - needed,
        };
        Some(format!("{left}{}{right}", " ".repeat(blanks)))
    }

    /// A line with text at its right end, if there is room for it.
    pub fn line(self, left: &str, right: &str) -> String {
        self.spread(left, right).unwrap_or_else(|| left.to_owned())
    }
}
