//! `ColumnMemory`: which columns a live outline has shown and dropped, so that they do not come and go with its rows.

use std::collections::BTreeSet;

use crate::render::table::ColumnWidths;

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
            EmptyColumns::LeftOut if self.width.is_some() => widths.has_value(column),
            EmptyColumns::LeftOut | EmptyColumns::Kept => widths.is_filled(column),
        };
        if is_filled && !self.filled.contains(title) {
            self.filled.insert(title.to_owned());
        }
        self.filled.contains(title) && !self.dropped.contains(title)
    }

    /// Notes that there was no room for a column.
    pub(super) fn drop_column(&mut self, title: &str) {
        self.dropped.insert(title.to_owned());
    }
}
