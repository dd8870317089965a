//! `Canvas`: the area and the time that a view is drawn for, and the layout of lines that all views share.

use jiff::Timestamp;

use super::age;
use super::outline::OutlineSpace;
use super::style::{Look, role};
use super::text::Text;
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
    pub fn cut(self, lines: Vec<Text>) -> Vec<Text> {
        let lines = lines.into_iter();
        lines.map(|line| line.fit_to(self.look)).collect()
    }

    /// A text after a lead. It takes more lines if one is too short for it.
    pub fn wrapped(self, lead: impl Into<Text>, text: impl Into<Text>) -> Vec<Text> {
        let lead = lead.into();
        let blanks = Text::default().pad(lead.width());
        Text::after_leads([&lead, &blanks], &text.into(), self.look, usize::MAX)
    }

    /// The state as its symbol and words.
    pub fn state(self, status: Status, words: &str) -> Text {
        Text::symbol(status, self.look.symbols) + " " + Text::new(role(status), words)
    }

    /// The age of something; empty if `since` is unknown.
    pub fn age(self, since: Option<Timestamp>) -> String {
        since.map_or(String::new(), |since| age::age(since, self.now))
    }

    /// Text at both ends of a line; `None` if there is no room for both.
    pub fn spread(self, left: &Text, right: &Text) -> Option<Text> {
        if right.is_empty() {
            let fits = self
                .look
                .width
                .is_none_or(|columns| left.width() <= columns);
            return fits.then(|| left.clone());
        }
        let end = match self.look.width {
            Some(columns) => columns.checked_sub(right.width())?,
            None => left.width() + 3,
        };
        (left.width() + 2 <= end).then(|| left.clone().pad(end) + right.clone())
    }

    /// A line with text at its right end, if there is room for it.
    pub fn line(self, left: Text, right: &Text) -> Text {
        self.spread(&left, right).unwrap_or(left)
    }
}
