//! `Page`: what a frame is drawn for, and the lines that all frames share.

use jiff::Timestamp;

use crate::render::age;
use crate::render::style::{Look, Role};
use crate::render::text;
use crate::status::Status;

/// What a frame is drawn for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// How text is drawn.
    pub(super) look: Look,
    /// The time.
    pub(super) now: Timestamp,
    /// When the trace began; `None` for a page that is printed once.
    pub(super) started: Option<Timestamp>,
    /// How many lines there is room for; `None` for any number.
    pub(super) rows: Option<usize>,
}

/// Where what stands at the right of a line ends, on wider terminals too.
const RIGHT: usize = 80;

impl Page {
    /// The title of a frame: what it is of, and for how long it has been drawn.
    pub(super) fn title(&self, name: &str, facts: &[String]) -> String {
        let styles = self.look.styles;
        let facts: Vec<String> = facts
            .iter()
            .map(|fact| format!("  {}", text::escape_line(fact)))
            .collect();
        let clock = self.started.map(|started| {
            let span = self.now.duration_since(started);
            styles.dim(&age::stopwatch(span))
        });
        let name = styles.heading(&text::escape_line(name));
        self.spread(
            &format!("{name}{}", facts.concat()),
            &clock.unwrap_or_default(),
        )
    }

    /// A line with something at its right end, if there is room for it.
    pub(super) fn spread(&self, left: &str, right: &str) -> String {
        if right.is_empty() {
            return left.to_owned();
        }
        let taken = text::width(left) + text::width(right);
        match self.look.width {
            Some(width) => match width.min(RIGHT).checked_sub(taken) {
                Some(room @ 2..) => format!("{left}{}{right}", " ".repeat(room)),
                _ if taken + 2 <= width => format!("{left}  {right}"),
                _ => left.to_owned(),
            },
            None => format!("{left}   {right}"),
        }
    }

    /// The symbol of a state, painted.
    pub(super) fn symbol(&self, status: Status) -> String {
        let symbols = self.look.symbols;
        let symbol = match status {
            Status::Current => symbols.current,
            Status::InProgress => symbols.in_progress,
            Status::Failed => symbols.failed,
            Status::Terminating => symbols.terminating,
            Status::NotFound => symbols.not_found,
            Status::Unknown => symbols.unknown,
        };
        self.look.styles.paint(role(status), symbol)
    }

    /// A state as symbol and word.
    pub(super) fn state(&self, status: Status, word: &str) -> String {
        let word = text::escape_line(word);
        format!(
            "{} {}",
            self.symbol(status),
            self.look.styles.paint(role(status), &word)
        )
    }

    /// The lines, none wider than the page.
    pub(super) fn cut(&self, lines: Vec<String>) -> Vec<String> {
        let Some(width) = self.look.width else {
            return lines;
        };
        let ellipsis = self.look.symbols.ellipsis;
        lines
            .iter()
            .map(|line| text::cut_line(line, width, ellipsis).into_owned())
            .collect()
    }

    /// How old something is; nothing if that is not known.
    pub(super) fn age(&self, since: Option<Timestamp>) -> String {
        since.map_or(String::new(), |since| age::age(since, self.now))
    }
}

/// How a state is painted.
pub(super) fn role(status: Status) -> Role {
    match status {
        Status::Current => Role::Good,
        Status::InProgress | Status::Unknown => Role::Moving,
        Status::Failed | Status::NotFound => Role::Bad,
        Status::Terminating => Role::Dim,
    }
}
