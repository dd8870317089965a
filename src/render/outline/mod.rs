//! `Outline`: the tree of a view. All rows share one set of columns, and each has its causes below it; plain
//! lines stand between rows. The outline is fitted to the available lines.

mod fold;
mod item;
mod repeated;
mod tree;

use super::status::symbol;
use super::style::Look;
use super::table::{Cell, Column, Row, Table};
use fold::Fitted;
use item::ItemBody;
pub use item::{OutlineItem, Weight};

/// A tree of rows and lines.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The columns. A column without a text in any row is dropped.
    pub columns: Vec<Column>,
    /// The index of the tree's column.
    pub tree: usize,
    /// The items, from top to bottom.
    pub items: Vec<OutlineItem>,
    /// A line below the items. It is shown if there is room for two lines.
    pub footnote: Option<String>,
}

impl Outline {
    /// The titles and the lines below them, at most `room` lines in total.
    pub fn lines(self, look: Look, room: Option<usize>) -> Vec<String> {
        self.lines_filled(look, room, |_| Vec::new())
    }

    /// The same lines. `fill` makes the cells of a shown row that has none, by its place among the items: to make the
    /// cells of all rows of a long outline would cost more than to show it.
    pub fn lines_filled(
        mut self,
        look: Look,
        room: Option<usize>,
        fill: impl Fn(usize) -> Vec<Cell>,
    ) -> Vec<String> {
        let has_titles = self.has_titles();
        let room = room.map_or(usize::MAX, |room| {
            room.saturating_sub(usize::from(has_titles))
        });
        let footnote = self.footnote.take().filter(|_| room > 1);
        let room = room.saturating_sub(usize::from(footnote.is_some()));
        repeated::merge_repeated(&mut self.items);
        let mut fitted = fold::fold(&self.items, room);
        let is_cut = fitted.contains(&Fitted::No) && room > 1;
        if is_cut {
            fitted = fold::fold(&self.items, room - 1);
        }
        let count = is_cut.then(|| fold::omitted(&self.items, &fitted));
        self.fill(&fitted, fill);
        self.keep(&fitted);
        self.drop_empty_columns();
        let mut lines = self.table(look).lines(look);
        if !has_titles {
            lines.remove(0);
        }
        let last = footnote.into_iter().chain(count);
        lines.extend(last.map(|line| look.styles.dim(&line)));
        lines
    }

    /// Makes the cells of the shown rows that have none.
    fn fill(&mut self, fitted: &[Fitted], fill: impl Fn(usize) -> Vec<Cell>) {
        for (place, item) in self.items.iter_mut().enumerate() {
            if let ItemBody::Row { cells, .. } = &mut item.body
                && cells.is_empty()
                && fitted
                    .get(place)
                    .is_some_and(|fitted| *fitted != Fitted::No)
            {
                *cells = fill(place);
            }
        }
    }

    /// Whether there is a row, and so a line of titles.
    pub fn has_titles(&self) -> bool {
        let mut items = self.items.iter();
        items.any(|item| matches!(item.body, ItemBody::Row { .. }))
    }

    /// Drops the items and causes that do not fit.
    fn keep(&mut self, fitted: &[Fitted]) {
        let items = std::mem::take(&mut self.items).into_iter().zip(fitted);
        let shown = items.filter_map(|(mut item, fitted)| match *fitted {
            Fitted::No => None,
            Fitted::With { causes } => {
                item.keep_below(causes);
                Some(item)
            }
        });
        self.items = shown.collect();
    }

    /// Drops the columns right of the tree that are empty in every row.
    fn drop_empty_columns(&mut self) {
        let is_filled =
            |cells: &[Cell], at: usize| cells.get(at).is_some_and(|cell| *cell != Cell::default());
        for at in (self.tree + 1..self.columns.len()).rev() {
            let is_used = self.items.iter().any(|item| match &item.body {
                ItemBody::Row { cells, .. } => is_filled(cells, at),
                ItemBody::Line { .. } => false,
            });
            if is_used {
                continue;
            }
            self.columns.remove(at);
            for item in &mut self.items {
                if let ItemBody::Row { cells, .. } = &mut item.body
                    && at < cells.len()
                {
                    cells.remove(at);
                }
            }
        }
    }

    fn table(self, look: Look) -> Table {
        let depths: Vec<usize> = self.items.iter().map(|item| item.depth).collect();
        let prefixes = tree::prefixes(&depths, look.symbols);
        let indent = self.indent();
        let mut table = Table {
            columns: self.columns,
            ..Table::default()
        };
        for (item, prefix) in self.items.into_iter().zip(&prefixes) {
            let below = item.below(&indent, prefix, look);
            match item.body {
                ItemBody::Row { status, mut cells } => {
                    if let Some(cell) = cells.get_mut(self.tree) {
                        let branches = look.styles.dim(&prefix.row);
                        let lead = format!("{branches}{} ", symbol(status, look));
                        *cell = std::mem::take(cell).with_lead(lead);
                    }
                    table.rows.push(Row { cells, below });
                }
                ItemBody::Line { text, role } => {
                    let text = look.styles.paint(role, &text);
                    let branches = look.styles.dim(&format!("{indent}{}", prefix.row));
                    let lines = table.last_lines();
                    lines.push(format!("{branches} {text}"));
                    lines.extend(below);
                }
            }
        }
        table
    }

    /// Blanks as wide as the columns left of the tree.
    fn indent(&self) -> String {
        let rows = self.items.iter().filter_map(|item| match &item.body {
            ItemBody::Row { cells, .. } => Some(&cells[..]),
            ItemBody::Line { .. } => None,
        });
        let before = Table::width_before(&self.columns, self.tree, rows);
        " ".repeat(before)
    }
}
