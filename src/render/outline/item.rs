//! `OutlineItem`: a row or a line of an outline, with its causes and its weight.

use crate::graph::Node;
use crate::object::Uid;
use crate::render::style::{Look, Role};
use crate::render::table::Cell;
use crate::render::text::Text;
use crate::status::Status;

/// One item of the tree.
#[derive(Clone, Debug)]
pub struct OutlineItem {
    pub(super) depth: usize,
    pub(super) body: ItemBody,
    /// The causes of its state, one on each line.
    pub(super) causes: Vec<Text>,
    /// What it printed, one on each line.
    pub(super) quotes: Vec<Text>,
    /// The changes that may have led to it, one on each line.
    pub(super) changes: Vec<Text>,
    /// The rules behind its state, one on each line.
    rules: Vec<Text>,
    /// The others that it stands for. They follow its first line.
    others: Option<String>,
    pub(super) weight: Weight,
    /// The owner with whose other Pods it shares its causes.
    pub(super) pod_owner: Option<Uid>,
    /// Whether the user named the object of the row.
    pub(super) is_named: bool,
}

/// The content of an item.
#[derive(Clone, Debug)]
pub(super) enum ItemBody {
    /// Cells under the columns. The symbol of the state comes before the branches of the tree.
    Row { status: Status, cells: Vec<Cell> },
    /// A line without cells.
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
    /// It is not well, and another item says why.
    Repeating,
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
            quotes: Vec::new(),
            changes: Vec::new(),
            rules: Vec::new(),
            others: None,
            weight,
            pod_owner: None,
            is_named: false,
        }
    }

    /// A line between the rows.
    pub fn line(depth: usize, text: &str, role: Role) -> OutlineItem {
        let text = text.to_owned();
        OutlineItem {
            body: ItemBody::Line { text, role },
            weight: Weight::Line,
            ..OutlineItem::row(depth, Status::Unknown, Vec::new())
        }
    }

    /// The item with these causes below it; each may have several lines.
    #[must_use]
    pub fn because<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> OutlineItem {
        let causes = lines(texts);
        OutlineItem { causes, ..self }
    }

    /// The item with these lines, which it printed, below its causes.
    #[must_use]
    pub fn quoting<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> OutlineItem {
        let quotes = lines(texts);
        OutlineItem { quotes, ..self }
    }

    /// The item with these changes below its causes; each may have several lines.
    #[must_use]
    pub fn after<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> OutlineItem {
        let changes = lines(texts);
        OutlineItem { changes, ..self }
    }

    /// The item with these rules below its causes.
    #[must_use]
    pub fn by<T: AsRef<str>>(self, rules: impl IntoIterator<Item = T>) -> OutlineItem {
        let rules = rules.into_iter().map(Text::dim).collect();
        OutlineItem { rules, ..self }
    }

    /// The item, whose causes so many items share: `3 × no image`.
    #[must_use]
    pub fn standing_for(mut self, count: usize) -> OutlineItem {
        if let Some(first) = self.causes.first_mut()
            && count > 1
        {
            *first = Text::from(format!("{count} × ")) + first.clone();
        }
        self
    }

    /// The row of this object. The Pods of one owner share their causes.
    #[must_use]
    pub fn showing(self, node: Option<&Node>) -> OutlineItem {
        let pod_owner = node.and_then(Node::pod_owner).cloned();
        OutlineItem { pod_owner, ..self }
    }

    /// The item with these others, which have no rows.
    #[must_use]
    pub fn with_others(mut self, others: Option<String>) -> OutlineItem {
        if self.causes.is_empty() {
            self.causes.extend(others.map(Text::from));
            return self;
        }
        OutlineItem { others, ..self }
    }

    /// The number of lines below the item.
    pub(super) fn count_below(&self) -> usize {
        self.reasons().count() + self.rules.len()
    }

    /// The number of lines that say the most: the first cause, and the first change that may have led to it.
    pub(super) fn count_essential(&self) -> usize {
        self.causes.len().min(1) + self.changes.len().min(1)
    }

    /// Its causes, what it printed, and its changes.
    pub(super) fn reasons(&self) -> impl Iterator<Item = &Text> {
        self.causes.iter().chain(&self.quotes).chain(&self.changes)
    }

    /// Keeps so many of the lines below the item: the first cause, the first change and the first quote, then the other
    /// causes, quotes and changes, and the rules.
    pub(super) fn keep_below(&mut self, count: usize) {
        let lists = [&mut self.causes, &mut self.changes, &mut self.quotes];
        let mut left = count;
        let mut firsts = lists.map(|lines| {
            let first = lines.len().min(1).min(left);
            left -= first;
            (lines, first)
        });
        firsts.swap(1, 2);
        for (lines, first) in firsts {
            let more = (lines.len() - first).min(left);
            left -= more;
            lines.truncate(first + more);
        }
        self.rules.truncate(left);
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
    pub(super) fn below(&self, branches: &str, look: Look, spare: &mut usize) -> Vec<Text> {
        let note = look.symbols.note;
        let first = Text::dim(format!("{branches}{note}"));
        let next = Text::dim(format!("{branches}{:1$}", "", Text::from(note).width()));
        let mut lines = Vec::new();
        for (place, cause) in self.reasons().enumerate() {
            let mut cause = cause.clone();
            if let Some(others) = self.others.as_ref().filter(|_| place == 0) {
                cause.push(Role::Plain, format!(" ({others})"));
            }
            let cause = Text::after_leads([&first, &next], &cause, look, *spare);
            *spare -= cause.len() - 1;
            lines.extend(cause);
        }
        let rules = self.rules.iter();
        lines.extend(rules.map(|rule| first.clone() + rule.clone()));
        lines
    }
}

fn lines<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<Text> {
    let mut lines = Vec::new();
    for text in texts {
        lines.extend(Text::lines(text.as_ref()));
    }
    lines
}

/// The index of the parent of each row: the last one of a lower depth.
pub(super) fn parents(depths: &[usize]) -> Vec<Option<usize>> {
    let mut above: Vec<usize> = Vec::new();
    let parent = |(place, &depth): (usize, &usize)| {
        while above.last().is_some_and(|&at| depths[at] >= depth) {
            above.pop();
        }
        let parent = above.last().copied();
        above.push(place);
        parent
    };
    depths.iter().enumerate().map(parent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_and_the_first_change_stay_longest() {
        let item = OutlineItem::row(0, Status::Failed, Vec::new())
            .because(["a", "b"])
            .quoting(["q", "p"])
            .after(["x", "y"])
            .by(["r"]);
        let kept = |count| {
            let mut item = item.clone();
            item.keep_below(count);
            assert_eq!(item.count_below(), count.min(7));
            let lines = item.reasons().chain(&item.rules);
            lines.map(Text::as_str).collect::<String>()
        };
        let all = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(kept);
        assert_eq!(
            all,
            [
                "", "a", "ax", "aqx", "abqx", "abqpx", "abqpxy", "abqpxyr", "abqpxyr"
            ]
        );
    }

    #[test]
    fn the_parent_of_a_row_is_the_last_one_of_lower_depth() {
        let expect = [None, Some(0), Some(0), None, Some(3)];
        assert_eq!(parents(&[1, 2, 2, 1, 3]), expect);
    }
}
