//! `OutlineItem`: a row or a line of an outline, with its causes and its weight.

use super::tree::Prefix;
use crate::render::style::{Look, Role};
use crate::render::table::Cell;
use crate::render::text::escape_line;
use crate::status::Status;

/// One item of the tree.
#[derive(Clone, Debug)]
pub struct OutlineItem {
    pub(super) depth: usize,
    pub(super) body: ItemBody,
    /// Why it is as it is, a line each, escaped.
    pub(super) causes: Vec<String>,
    pub(super) weight: Weight,
}

/// What an item shows.
#[derive(Clone, Debug)]
pub(super) enum ItemBody {
    /// Cells under the columns; the symbol of the state stands before that of the tree.
    Row { status: Status, cells: Vec<Cell> },
    /// A line of its own, escaped.
    Line { text: String, role: Role },
}

/// How much an item matters where not all fit, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The user has asked for it.
    Asked,
    /// It is failing.
    Failing,
    /// It is a line about other items.
    Line,
    /// It is on its way to another state.
    Moving,
    /// It is well, and has not been for long.
    Recent,
    /// It is well.
    Healthy,
}

impl OutlineItem {
    /// A row of an object in this state.
    pub fn row(depth: usize, status: Status, cells: Vec<Cell>) -> OutlineItem {
        let weight = match status {
            Status::Current => Weight::Healthy,
            Status::Failed => Weight::Failing,
            Status::InProgress | Status::Terminating | Status::NotFound | Status::Unknown => {
                Weight::Moving
            }
        };
        OutlineItem {
            depth,
            body: ItemBody::Row { status, cells },
            causes: Vec::new(),
            weight,
        }
    }

    /// A line between the rows.
    pub fn line(depth: usize, text: &str, role: Role) -> OutlineItem {
        let text = escape_line(text).into_owned();
        OutlineItem {
            depth,
            body: ItemBody::Line { text, role },
            causes: Vec::new(),
            weight: Weight::Line,
        }
    }

    /// The item with these texts below it; each may have several lines.
    #[must_use]
    pub fn because<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> OutlineItem {
        let mut causes = Vec::new();
        for text in texts {
            let lines = text.as_ref().lines();
            causes.extend(lines.map(|line| escape_line(line).into_owned()));
        }
        OutlineItem { causes, ..self }
    }

    /// The item with another weight than its state gives it.
    #[must_use]
    pub fn weighing(self, weight: Weight) -> OutlineItem {
        OutlineItem { weight, ..self }
    }

    /// The lines below it.
    pub(super) fn below(&self, indent: &str, prefix: &Prefix, look: Look) -> Vec<String> {
        let note = format!("{indent}{}{}", prefix.below, look.symbols.note);
        let note = look.styles.dim(&note);
        let causes = self.causes.iter();
        causes.map(|cause| format!("{note}{cause}")).collect()
    }
}
