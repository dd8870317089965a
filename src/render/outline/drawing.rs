//! Draws the items that fit: rows under their columns, lines between them.

use super::column_memory::ColumnMemory;
use super::fold::Fitted;
use super::item::{ItemBody, OutlineItem};
use super::tree::{Prefix, prefixes};
use crate::render::names::fit_names;
use crate::render::status::symbol;
use crate::render::style::Look;
use crate::render::table::{Cell, Column, ColumnWidths, Row, TableLayout};

/// How many rows have their cells at once. The cells and the layout of ten thousand rows would take 20 MB.
const LAID_OUT_AT_ONCE: usize = 256;

/// The items to draw.
pub(super) struct Drawing {
    pub(super) columns: Vec<Column>,
    /// The index of the tree's column.
    pub(super) tree: usize,
    /// All items of the outline.
    pub(super) items: Vec<OutlineItem>,
    /// Which of them fit.
    pub(super) fitted: Vec<Fitted>,
    /// How many more lines there is room for. They hold the ends of long causes.
    pub(super) spare: usize,
    pub(super) look: Look,
}

impl Drawing {
    /// The titles and the lines below them. `fill` makes the cells of a row that has none, by its place; it is called
    /// once to measure them and once to draw them.
    pub(super) fn lines(
        &self,
        memory: &mut ColumnMemory,
        fill: impl Fn(usize) -> Vec<Cell>,
    ) -> Vec<String> {
        let depths: Vec<usize> = self.shown().map(|(_, item)| item.depth).collect();
        let prefixes = prefixes(&depths, self.look.symbols);
        let mut widths = ColumnWidths::of_titles(&self.columns);
        for ((place, item), prefix) in self.shown().zip(&prefixes) {
            if let Some(cells) = self.cells(item, prefix, || fill(place)) {
                widths.widen(&cells);
            }
        }
        let layout = self.layout(&widths, memory);
        let indent = " ".repeat(widths.before(self.tree));
        let mut spare = self.spare;
        let mut lines = Vec::new();
        let mut part = vec![layout.titles()];
        for ((place, item), prefix) in self.shown().zip(&prefixes) {
            let branches = format!("{indent}{}", prefix.below);
            let below = item.below(&branches, self.look, &mut spare);
            match self.cells(item, prefix, || fill(place)) {
                Some(cells) => {
                    if part.len() >= LAID_OUT_AT_ONCE {
                        lines.extend(layout.lines(&std::mem::take(&mut part)));
                    }
                    part.push(Row { cells, below });
                }
                None => {
                    if let Some(row) = part.last_mut() {
                        row.below.push(self.line(item, prefix, &indent));
                        row.below.extend(below);
                    }
                }
            }
        }
        lines.extend(layout.lines(&part));
        lines
    }

    /// The columns up to the tree, and those right of it that the memory shows and that fit.
    fn layout(&self, widths: &ColumnWidths, memory: &mut ColumnMemory) -> TableLayout<'_> {
        memory.begin(self.look.width);
        let columns = self.columns.iter().enumerate();
        let shown: Vec<bool> = columns
            .map(|(column, of)| column <= self.tree || memory.shows(of.title(), column, widths))
            .collect();
        let layout = TableLayout::new(&self.columns, widths, |column| shown[column], self.look);
        for (column, of) in self.columns.iter().enumerate() {
            if shown[column] && !layout.has(column) {
                memory.drop_column(of.title());
            }
        }
        layout
    }

    /// The items that fit, each with its place in the outline.
    fn shown(&self) -> impl Iterator<Item = (usize, &OutlineItem)> {
        let items = self.items.iter().enumerate().zip(&self.fitted);
        let shown = items.filter(|(_, fitted)| **fitted != Fitted::No);
        shown.map(|(item, _)| item)
    }

    /// The cells of a row, with the branches of the tree; `None` for a line.
    fn cells(
        &self,
        item: &OutlineItem,
        prefix: &Prefix,
        fill: impl Fn() -> Vec<Cell>,
    ) -> Option<Vec<Cell>> {
        let ItemBody::Row { status, cells } = &item.body else {
            return None;
        };
        let mut cells = if cells.is_empty() {
            fill()
        } else {
            cells.clone()
        };
        if let Some(cell) = cells.get_mut(self.tree) {
            let branches = self.look.styles.dim(&prefix.row);
            let lead = format!("{branches}{} ", symbol(*status, self.look));
            *cell = std::mem::take(cell).with_lead(lead);
        }
        Some(cells)
    }

    /// A line between the rows; empty for a row. If space is short, its names give way to its counts.
    fn line(&self, item: &OutlineItem, prefix: &Prefix, indent: &str) -> String {
        let ItemBody::Line { text, role } = &item.body else {
            return String::new();
        };
        let branches = self.look.styles.dim(&format!("{indent}{}", prefix.row));
        let start = format!("{branches} ");
        let text = fit_names(&start, text, self.look);
        format!("{start}{}", self.look.styles.paint(*role, &text))
    }
}
