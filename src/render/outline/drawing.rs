//! Draws the items that fit: rows under their columns, lines between them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::fold::Fitted;
use super::item::{ItemBody, OutlineItem};
use crate::render::style::{Look, Symbols};
use crate::render::table::{Cell, Column, ColumnWidths, TableLayout, TableRow};
use crate::render::text::Text;

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
    ) -> Vec<Text> {
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
                    part.push(TableRow { cells, below });
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
                memory.dropped.insert(of.title().to_owned());
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
            let lead = Text::dim(&prefix.row) + Text::symbol(*status, self.look.symbols) + " ";
            *cell = std::mem::take(cell).with_lead(lead);
        }
        Some(cells)
    }

    /// A line between the rows; empty for a row. If space is short, its names give way to its counts.
    fn line(&self, item: &OutlineItem, prefix: &Prefix, indent: &str) -> Text {
        let ItemBody::Line { text, role } = &item.body else {
            return Text::default();
        };
        let start = Text::dim(format!("{indent}{}", prefix.row)) + " ";
        start.with_names(*role, text, self.look)
    }
}

/// The most levels of a tree that are drawn. A row further down has the number of the levels above it that are left out:
/// otherwise a chain of a thousand owners would be a million branches.
const MAX_LEVELS: usize = 64;

/// The text before a row of a tree and before the lines that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Before the row itself: `│ └─`.
    pub(super) row: Cow<'static, str>,
    /// The text before each line below the row. It is as wide as the row's own prefix.
    pub(super) below: Cow<'static, str>,
}

/// The prefixes of rows in depth-first order, given by their depths. Rows of depth 0 are roots and have no
/// prefix.
pub(super) fn prefixes(depths: &[usize], symbols: &Symbols) -> Vec<Prefix> {
    let mut prefixes: Vec<Prefix> = Vec::with_capacity(depths.len());
    // The loop runs from the last row to the first. `later[depth]` is whether a row of that depth and the
    // same parent follows the current one.
    let mut later = Vec::new();
    for &depth in depths.iter().rev() {
        let has_children = later.len() > depth + 1;
        later.resize(depth + 1, false);
        let column = |is_drawn: bool| if is_drawn { symbols.trunk } else { BLANK };
        let left_out = depth.saturating_sub(MAX_LEVELS);
        let mut above = if left_out > 0 {
            format!("+{left_out} ")
        } else {
            String::new()
        };
        let levels = later[..depth].iter().skip(1 + left_out);
        above.extend(levels.map(|&more| column(more)));
        let own = match (depth, later[depth]) {
            (0, _) => None,
            (_, true) => Some((symbols.branch, symbols.trunk)),
            (_, false) => Some((symbols.last_branch, BLANK)),
        };
        let below = column(has_children);
        prefixes.push(match own {
            None => Prefix {
                row: "".into(),
                below: below.into(),
            },
            Some((row, own)) => Prefix {
                row: format!("{above}{row}").into(),
                below: format!("{above}{own}{below}").into(),
            },
        });
        later[depth] = true;
    }
    prefixes.reverse();
    prefixes
}

/// An empty column of the tree, as wide as [`Symbols::trunk`].
const BLANK: &str = "  ";

/// The columns that a live outline has shown and dropped so far, by their titles.
#[derive(Clone, Debug, Default)]
pub struct ColumnMemory {
    /// The width of the terminal for which the columns were dropped.
    width: Option<usize>,
    dropped: BTreeSet<String>,
    filled: BTreeSet<String>,
    empty: EmptyColumns,
}

/// Which columns are left out for want of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyColumns {
    /// On a terminal, those with a dash in each row. A pipe gets them: a program counts the columns.
    #[default]
    LeftOut,
    /// Only those without a text.
    Kept,
}

impl ColumnMemory {
    /// No columns so far.
    pub fn new(empty: EmptyColumns) -> ColumnMemory {
        ColumnMemory {
            empty,
            ..ColumnMemory::default()
        }
    }

    /// Starts a frame. A terminal of another width may have room for other columns.
    pub(super) fn begin(&mut self, width: Option<usize>) {
        if self.width != width {
            self.dropped.clear();
            self.width = width;
        }
    }

    /// Whether to show a column, if it fits: a row of this or an earlier frame has something in it, and no earlier frame
    /// of this width had no room for it.
    pub(super) fn shows(&mut self, title: &str, column: usize, widths: &ColumnWidths) -> bool {
        let is_filled = match self.empty {
            EmptyColumns::LeftOut if self.width.is_some() => widths.has_value[column],
            EmptyColumns::LeftOut | EmptyColumns::Kept => widths.is_filled[column],
        };
        if is_filled && !self.filled.contains(title) {
            self.filled.insert(title.to_owned());
        }
        self.filled.contains(title) && !self.dropped.contains(title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(rows: &[(usize, &str)], symbols: &Symbols) -> String {
        let depths: Vec<usize> = rows.iter().map(|&(depth, _)| depth).collect();
        let (mark, note) = (symbols.failed, symbols.note);
        let prefixes = prefixes(&depths, symbols).into_iter().zip(rows);
        let lines = prefixes.flat_map(|(prefix, (_, name))| {
            [
                format!("{}{mark} {name}", prefix.row),
                format!("{}{note}why", prefix.below),
            ]
        });
        lines.collect::<Vec<String>>().join("\n")
    }

    /// The trees of a trace begin at depth 1, and none of them is the child of another.
    const ROWS: [(usize, &str); 7] = [
        (0, "deployment/web"),
        (1, "replicaset/new"),
        (2, "pod/new-1"),
        (2, "pod/new-2"),
        (1, "replicaset/old"),
        (2, "pod/old-1"),
        (0, "deployment/api"),
    ];

    #[test]
    fn rows_are_drawn_below_their_parents() {
        insta::assert_snapshot!(draw(&ROWS, &Symbols::UNICODE), @"
        ✗ deployment/web
        │ └ why
        ├─✗ replicaset/new
        │ │ └ why
        │ ├─✗ pod/new-1
        │ │   └ why
        │ └─✗ pod/new-2
        │     └ why
        └─✗ replicaset/old
          │ └ why
          └─✗ pod/old-1
              └ why
        ✗ deployment/api
          └ why
        ");
    }

    #[test]
    fn ascii_symbols_keep_the_shape() {
        insta::assert_snapshot!(draw(&ROWS[..4], &Symbols::ASCII), @"
        x deployment/web
        | ` why
        `-x replicaset/new
          | ` why
          |-x pod/new-1
          |   ` why
          `-x pod/new-2
              ` why
        ");
    }

    #[test]
    fn of_deep_rows_the_last_levels_are_drawn() {
        let depths: Vec<usize> = (0..=1_000).collect();
        let prefixes = prefixes(&depths, &Symbols::UNICODE);
        let widths = [64, 65, 1_000].map(|depth| prefixes[depth].row.chars().count());
        assert_eq!(widths, [128, 131, 133]);
        assert!(prefixes[1_000].row.starts_with("+936  "));
        assert!(prefixes[1_000].row.ends_with(" └─"));
    }

    #[test]
    fn depths_that_skip_a_level_are_drawn() {
        let rows = [(1, "a"), (3, "b"), (1, "c")];
        insta::assert_snapshot!(draw(&rows, &Symbols::UNICODE), @"
        ├─✗ a
        │ │ └ why
        │   └─✗ b
        │       └ why
        └─✗ c
            └ why
        ");
        assert!(prefixes(&[], &Symbols::UNICODE).is_empty());
    }
}
