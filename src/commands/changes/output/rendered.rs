//! `Rendered`: one entry of the timeline as it is printed.

use crate::render::diff::Counts;

/// What is printed of an entry.
#[derive(Default)]
pub(super) struct Rendered {
    /// The lines; none if the entry is hidden.
    pub(super) lines: Vec<String>,
    /// The changes of a version of which nothing is printed.
    pub(super) quiet: Option<Counts>,
    /// How many changes are shown.
    pub(super) shown: usize,
    /// How many are hidden beside them.
    pub(super) hidden: usize,
    /// Notes for standard error.
    pub(super) asides: Vec<String>,
    /// Whether the lines are a document of their own.
    pub(super) starts_document: bool,
    /// Whether the values of Secrets are left out of something that can be applied.
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

    /// A version of which nothing is printed.
    pub(super) fn quiet(counts: Counts) -> Rendered {
        Rendered {
            quiet: Some(counts),
            ..Rendered::default()
        }
    }
}
