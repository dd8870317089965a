//! `Rendered`: the output of one timeline entry.

use crate::commands::changes::fold::FoldedInto;
use crate::render::diff::Counts;

/// The output of one timeline entry.
#[derive(Default)]
pub(super) struct Rendered {
    /// The lines; empty if the entry is hidden.
    pub(super) lines: Vec<String>,
    /// The counts of a hidden version.
    pub(super) quiet: Option<Counts>,
    /// What the fold of the timeline did with the version.
    pub(super) taken: FoldedInto,
    /// The number of shown changes.
    pub(super) shown: usize,
    /// The number of hidden changes of a shown version.
    pub(super) hidden: usize,
    /// Whether the lines name a manager that only probably wrote.
    pub(super) has_guess: bool,
    /// Messages for standard error.
    pub(super) asides: Vec<String>,
    /// Whether the lines are a separate YAML document.
    pub(super) starts_document: bool,
    /// Whether a document or patch lacks Secret values, so that it cannot be applied.
    pub(super) redacted: bool,
}

impl Rendered {
    pub(super) fn lines(lines: Vec<String>) -> Rendered {
        Rendered {
            lines,
            ..Rendered::default()
        }
    }

    pub(super) fn aside(text: Option<String>) -> Rendered {
        Rendered {
            asides: text.into_iter().collect(),
            ..Rendered::default()
        }
    }

    /// A version that the fold of the timeline took.
    pub(super) fn taken(taken: FoldedInto) -> Rendered {
        Rendered {
            taken,
            ..Rendered::default()
        }
    }

    /// A hidden version.
    pub(super) fn quiet(counts: Counts) -> Rendered {
        Rendered {
            quiet: Some(counts),
            ..Rendered::default()
        }
    }
}
