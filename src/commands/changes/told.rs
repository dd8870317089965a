//! What is told of a version: lines, or how much of it is hidden.

use super::draw::Draw;
use super::state::{Happened, Step};
use super::view::{Headed, View, missing};
use crate::commands::Terminal;
use crate::render::diff::{Counts, Verb};

/// What is told of one thing that has happened.
#[derive(Default)]
pub(super) struct Told {
    /// The lines; none for what is hidden.
    pub(super) lines: Vec<String>,
    /// How much is hidden, of a version of which nothing is shown.
    pub(super) quiet: Option<Counts>,
    /// How many changes are shown.
    pub(super) shown: usize,
    /// How many are hidden beside them.
    pub(super) hidden: usize,
    /// What is said beside the output.
    pub(super) asides: Vec<String>,
    /// Whether the lines are a document of their own.
    pub(super) starts_document: bool,
    /// Whether what is made to be applied lacks what Secrets hold.
    pub(super) redacted: bool,
}

impl Told {
    pub(super) fn lines(lines: Vec<String>) -> Told {
        Told {
            lines,
            ..Told::default()
        }
    }

    pub(super) fn aside(said: Option<String>) -> Told {
        Told {
            asides: said.into_iter().collect(),
            ..Told::default()
        }
    }

    /// A version of which nothing is shown.
    pub(super) fn quiet(counts: Counts) -> Told {
        Told {
            quiet: Some(counts),
            ..Told::default()
        }
    }
}

impl View {
    /// What is told of what has happened.
    pub(super) fn told(&self, happened: &Happened, terminal: &Terminal<'_>) -> Told {
        let Step::Modified {
            old,
            now,
            skipped,
            since,
        } = &happened.step
        else {
            return Told::lines(self.lines(happened, terminal));
        };
        let draw = self.drawing(happened, terminal);
        let notes = missing(*skipped, "versions may be missing");
        let since = since.map(|since| happened.time().duration_since(since));
        let headed = Headed::new(Verb::Modified, happened).noting(since, &notes);
        draw.change(old, now, headed)
    }

    /// How what has happened is drawn.
    pub(super) fn drawing<'d>(
        &'d self,
        happened: &'d Happened,
        terminal: &'d Terminal<'_>,
    ) -> Draw<'d> {
        Draw {
            view: self,
            look: terminal.look(),
            env: terminal.env(),
            key: &happened.key,
        }
    }
}
