//! `Rendered`: what one timeline entry becomes.

use crate::commands::changes::fold::FoldedInto;
use crate::render::diff::ChangeCounts;
use crate::render::text::Text;

/// The output of one timeline entry.
#[derive(Default)]
pub(crate) struct Rendered {
    /// The lines; empty if the entry is hidden.
    pub(crate) lines: Vec<Text>,
    /// The counts of a hidden version.
    pub(crate) quiet: Option<ChangeCounts>,
    /// What the fold of the timeline did with the version.
    pub(crate) taken: FoldedInto,
    /// The number of shown changes.
    pub(crate) shown: usize,
    /// The number of hidden changes of a shown version.
    pub(crate) hidden: usize,
    /// Whether the lines name a manager that only probably wrote.
    pub(crate) has_guess: bool,
    /// Messages for standard error.
    pub(crate) asides: Vec<String>,
    /// Whether the lines are a separate YAML document.
    pub(crate) starts_document: bool,
    /// Whether a document or patch lacks Secret values, so that it cannot be applied.
    pub(crate) redacted: bool,
}

impl Rendered {
    pub(crate) fn lines(lines: Vec<Text>) -> Rendered {
        Rendered {
            lines,
            ..Rendered::default()
        }
    }

    pub(crate) fn aside(text: Option<String>) -> Rendered {
        Rendered {
            asides: text.into_iter().collect(),
            ..Rendered::default()
        }
    }

    /// A version that the fold of the timeline took.
    pub(crate) fn taken(taken: FoldedInto) -> Rendered {
        Rendered {
            taken,
            ..Rendered::default()
        }
    }

    /// A hidden version.
    pub(crate) fn quiet(counts: ChangeCounts) -> Rendered {
        Rendered {
            quiet: Some(counts),
            ..Rendered::default()
        }
    }
}
