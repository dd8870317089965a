//! `Outline`: the tree of a view. All rows share one set of columns, and each has its causes below it; plain
//! lines stand between rows. The outline is fitted to the available lines.

mod drawing;
mod fold;
mod item;
mod repeated;

use super::style::Look;
use super::table::{Cell, Column};
use super::text::Text;
use drawing::Drawing;
pub use drawing::{ColumnMemory, EmptyColumns};
use fold::Fitted;
use item::ItemBody;
pub use item::{OutlineItem, Weight};

/// A tree of rows and lines.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The columns. A column right of the tree is dropped if no row has a text in it; on a terminal, also if each row
    /// has nothing or a dash in it.
    pub columns: Vec<Column>,
    /// The index of the tree's column.
    pub tree: usize,
    /// The items, from top to bottom.
    pub items: Vec<OutlineItem>,
    /// The number of healthy rows that are not among the items, because there is no room for them anyway.
    pub healthy_beyond: usize,
    /// A line below the items. It is shown if there is room for two lines.
    pub footnote: Option<String>,
}

/// The space of an outline on a screen.
#[derive(Clone, Copy, Debug)]
pub struct OutlineSpace {
    /// The styles, the symbols and the width.
    pub look: Look,
    /// The number of lines; `None` for no limit.
    pub room: Option<usize>,
    /// How to read what has no room.
    pub reads_on: &'static str,
}

impl Outline {
    /// The titles and the lines below them, at most as many as there is room for.
    pub fn lines(self, space: OutlineSpace) -> Vec<Text> {
        self.lines_filled(space, &mut ColumnMemory::default(), |_| Vec::new())
    }

    /// The same lines, with the columns of the frames before, as far as `memory` knows them. `fill` makes the cells of a
    /// shown row that has none, by its place among the items: to make the cells of all rows of a long outline would cost
    /// more than to show it.
    pub fn lines_filled(
        mut self,
        space: OutlineSpace,
        memory: &mut ColumnMemory,
        fill: impl Fn(usize) -> Vec<Cell>,
    ) -> Vec<Text> {
        let OutlineSpace {
            look,
            room,
            reads_on,
        } = space;
        let has_titles = self.has_titles();
        let has_room = room != Some(0);
        let room = room.map_or(usize::MAX, |room| {
            room.saturating_sub(usize::from(has_titles))
        });
        let footnote = self.footnote.take().filter(|_| room > 1);
        let room = room.saturating_sub(usize::from(footnote.is_some()));
        self.merge();
        if self.count_lines() <= room {
            repeated::remove_repeated_below(&mut self.items);
        }
        let width = look.width.unwrap_or(usize::MAX);
        let mut fitted = fold::fold(&self.items, room, width);
        let is_cut = self.healthy_beyond > 0 || fitted.contains(&Fitted::No);
        if is_cut && room > 1 {
            fitted = fold::fold(&self.items, room - 1, width);
        }
        if has_titles && !self.shows_row(&fitted) {
            // Titles and headings without a row say nothing.
            let hidden = vec![Fitted::No; self.items.len()];
            let count = fold::omitted(&self.items, &hidden, self.healthy_beyond);
            let count = format!("{count} ({reads_on})");
            return Vec::from_iter(has_room.then(|| Text::dim(count)));
        }
        let count = (is_cut && room > 1).then(|| {
            let count = fold::omitted(&self.items, &fitted, self.healthy_beyond);
            format!("{count} ({reads_on})")
        });
        for (item, fitted) in self.items.iter_mut().zip(&fitted) {
            match *fitted {
                Fitted::With { below } => item.keep_below(below),
                Fitted::No => item.keep_below(0),
            }
        }
        // Only what an item above still shows is repeated.
        repeated::remove_repeated_below(&mut self.items);
        let shown = self.items.iter().zip(&fitted);
        let shown = shown.filter(|(_, fitted)| **fitted != Fitted::No);
        let used = shown.map(|(item, _)| 1 + item.count_below()).sum::<usize>();
        let used = used + usize::from(count.is_some());
        let drawing = Drawing {
            columns: self.columns,
            tree: self.tree,
            items: self.items,
            fitted,
            spare: room.saturating_sub(used),
            look,
        };
        let mut lines = drawing.lines(memory, fill);
        if !has_titles {
            lines.remove(0);
        }
        let last = footnote.into_iter().chain(count);
        lines.extend(last.map(Text::dim));
        lines
    }

    /// Merges the causes that siblings share.
    pub fn merge(&mut self) {
        repeated::merge_siblings(&mut self.items);
    }

    /// The number of lines that show everything after a merge, each cause in one line.
    pub fn height(&self) -> usize {
        let titles = usize::from(self.has_titles());
        self.count_lines() + titles + usize::from(self.footnote.is_some())
    }

    /// The number of lines that show all items, each cause once.
    fn count_lines(&self) -> usize {
        let items = self.items.iter().map(|item| 1 + item.count_below());
        items.sum::<usize>() - repeated::count_repeated_below(&self.items)
    }

    fn shows_row(&self, fitted: &[Fitted]) -> bool {
        let mut items = self.items.iter().zip(fitted);
        items.any(|(item, fitted)| {
            matches!(item.body, ItemBody::Row { .. }) && *fitted != Fitted::No
        })
    }

    /// Whether there is a row, and so a line of titles.
    pub fn has_titles(&self) -> bool {
        let mut items = self.items.iter();
        items.any(|item| matches!(item.body, ItemBody::Row { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::testing::plain;
    use crate::render::style::{Role, Styles, Symbols};
    use crate::render::table::Fit;
    use crate::status::Status;

    #[test]
    fn a_failing_row_without_room_is_counted() {
        let outline = Outline {
            columns: vec![Column::new("Connected", Fit::Keep)],
            tree: 0,
            items: vec![
                OutlineItem::line(1, "in front", Role::Heading),
                OutlineItem::row(2, Status::Failed, vec![Cell::new("hpa/web", Role::Plain)]),
                OutlineItem::row(
                    2,
                    Status::Current,
                    vec![Cell::new("service/web", Role::Plain)],
                ),
            ],
            healthy_beyond: 0,
            footnote: None,
        };
        let look = Look {
            width: None,
            styles: Styles::PLAIN,
            symbols: &Symbols::UNICODE,
        };
        let space = |room| OutlineSpace {
            look,
            room: Some(room),
            reads_on: "use --once | less",
        };
        let lines = |room| plain(outline.clone().lines(space(room)));
        let count = "+ 1 failing, 1 healthy, 1 more (use --once | less)";
        assert_eq!(
            [lines(0), lines(1), lines(2), lines(3)],
            ["", count, count, count]
        );
        insta::assert_snapshot!(lines(4), @"
        CONNECTED
        └─ in front
          ├─✗ hpa/web
          └─● service/web
        ");
    }

    #[test]
    fn a_cause_that_only_a_hidden_line_above_has_stays() {
        let row = |depth, name: &str, causes: &[&str]| {
            let row = OutlineItem::row(depth, Status::Failed, vec![Cell::new(name, Role::Plain)]);
            row.because(causes)
        };
        let healthy = || OutlineItem::row(1, Status::Current, vec![Cell::new("pod", Role::Plain)]);
        let outline = Outline {
            columns: vec![Column::new("Name", Fit::Keep)],
            tree: 0,
            items: vec![
                row(
                    0,
                    "deployment/web",
                    &["0 of 3 pods ready", "changed by jenkins"],
                ),
                row(1, "pod/web-1", &["changed by jenkins"]),
                healthy(),
                healthy(),
                healthy(),
            ],
            healthy_beyond: 0,
            footnote: None,
        };
        let look = Look {
            width: None,
            styles: Styles::PLAIN,
            symbols: &Symbols::UNICODE,
        };
        let space = |room| OutlineSpace {
            look,
            room: Some(room),
            reads_on: "use --once | less",
        };
        let lines = |room| plain(outline.clone().lines(space(room)));
        for room in 6..12 {
            assert_eq!(
                lines(room).matches("changed by jenkins").count(),
                1,
                "{}",
                lines(room)
            );
        }
    }
}
