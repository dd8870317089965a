//! `OutlineItem`: a row or a line of an outline, with its causes and its weight.

use crate::render::style::{Look, Role};
use crate::render::table::Cell;
use crate::render::text::{escape_line, width};
use crate::render::wrap::after_leads;
use crate::status::Status;

/// One item of the tree.
#[derive(Clone, Debug)]
pub struct OutlineItem {
    pub(super) depth: usize,
    pub(super) body: ItemBody,
    /// The causes of its state, one on each line, escaped.
    pub(super) causes: Vec<String>,
    /// The rules behind its state, one on each line, escaped.
    rules: Vec<String>,
    pub(super) weight: Weight,
    /// Whether the user named the object of the row.
    pub(super) is_named: bool,
}

/// The content of an item.
#[derive(Clone, Debug)]
pub(super) enum ItemBody {
    /// Cells under the columns. The symbol of the state comes before the branches of the tree.
    Row { status: Status, cells: Vec<Cell> },
    /// A line without cells, escaped.
    Line { text: String, role: Role },
}

/// The importance of an item if space is short, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It is failing.
    Failing,
    /// A line about other items.
    Line,
    /// It is in transition to another state.
    Moving,
    /// It has recently become healthy.
    Recent,
    /// It is healthy.
    Healthy,
}

impl OutlineItem {
    /// A row for an object in this state.
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
            rules: Vec::new(),
            weight,
            is_named: false,
        }
    }

    /// A line between the rows. The text is escaped here.
    pub fn line(depth: usize, text: &str, role: Role) -> OutlineItem {
        let text = escape_line(text).into_owned();
        OutlineItem {
            depth,
            body: ItemBody::Line { text, role },
            causes: Vec::new(),
            rules: Vec::new(),
            weight: Weight::Line,
            is_named: false,
        }
    }

    /// The item with these causes below it; each may have several lines.
    #[must_use]
    pub fn because<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> OutlineItem {
        let mut causes = Vec::new();
        for text in texts {
            let lines = text.as_ref().lines();
            causes.extend(lines.map(|line| escape_line(line).into_owned()));
        }
        OutlineItem { causes, ..self }
    }

    /// The item with these rules below its causes.
    #[must_use]
    pub fn by<T: AsRef<str>>(self, rules: impl IntoIterator<Item = T>) -> OutlineItem {
        let rules = rules.into_iter();
        let rules = rules.map(|rule| escape_line(rule.as_ref()).into_owned());
        OutlineItem {
            rules: rules.collect(),
            ..self
        }
    }

    /// The number of lines below the item.
    pub(super) fn count_below(&self) -> usize {
        self.causes.len() + self.rules.len()
    }

    /// Keeps so many of the lines below the item: causes first, then rules.
    pub(super) fn keep_below(&mut self, count: usize) {
        self.rules.truncate(count.saturating_sub(self.causes.len()));
        self.causes.truncate(count);
    }

    /// The item with this weight in place of the one from its state.
    #[must_use]
    pub fn weighing(self, weight: Weight) -> OutlineItem {
        OutlineItem { weight, ..self }
    }

    /// The row of an object that the user named. It comes before those of the others.
    #[must_use]
    pub fn named(self) -> OutlineItem {
        OutlineItem {
            is_named: true,
            ..self
        }
    }

    /// The lines below the item, after its branches. Causes that are too long take `spare` lines as long as there are any.
    pub(super) fn below(&self, branches: &str, look: Look, spare: &mut usize) -> Vec<String> {
        let note = look.symbols.note;
        let blanks = " ".repeat(width(note));
        let [first, next] = [note, &blanks].map(|end| look.styles.dim(&format!("{branches}{end}")));
        let mut lines = Vec::new();
        for cause in &self.causes {
            let cause = after_leads([&first, &next], cause, look, *spare);
            *spare -= cause.len() - 1;
            lines.extend(cause);
        }
        let rules = self.rules.iter();
        lines.extend(rules.map(|rule| format!("{first}{}", look.styles.dim(rule))));
        lines
    }
}
