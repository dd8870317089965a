//! Tables as kubectl prints them: upper-case headers, three spaces between columns, no borders.
//!
//! This module decides which columns and cells fit the width. Then `comfy-table` lays out the remaining cells.

use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, Width};

use super::style::{Look, Role};
use super::text::{self, Text};

/// How a column behaves on a narrow terminal. Columns are dropped before texts are cut, and names are cut before states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The column is dropped, the one with the highest number first.
    Drop(u8),
    /// Its texts are cut at their ends, down to 12 columns. For the words of a state.
    Shrink,
    /// Its texts are cut in the middle, down to 16 columns. For names, which often differ at their ends.
    CutMiddle,
    /// The column keeps its width.
    Keep,
}

/// A column: its header, and its behaviour on a narrow terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    title: Cell,
    fit: Fit,
}

impl Column {
    /// A column with this title, in upper case as in kubectl.
    pub fn new(title: &str, fit: Fit) -> Column {
        Column {
            title: Cell::new(&title.to_uppercase(), Role::Heading),
            fit,
        }
    }

    /// The title, in upper case.
    pub fn title(&self) -> &str {
        &self.title.text
    }
}

/// A cell: one line of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    lead: Text,
    text: String,
    role: Role,
}

impl Cell {
    /// A cell with the first line of this text ([`text::escape_cell`]), in this role.
    pub fn new(text: &str, role: Role) -> Cell {
        Cell {
            lead: Text::default(),
            text: text::escape_cell(text).into_owned(),
            role,
        }
    }

    /// The cell with a lead: the branches of a tree, or a symbol. The lead is cut only after the whole text
    /// is.
    #[must_use]
    pub fn with_lead(self, lead: impl Into<Text>) -> Cell {
        Cell {
            lead: lead.into(),
            ..self
        }
    }

    /// Whether there is no text, or only the dash of a missing value.
    fn is_blank(&self) -> bool {
        self.lead.is_empty() && matches!(&*self.text, "" | "-")
    }

    fn width(&self) -> usize {
        self.lead.width() + text::width(&self.text)
    }

    /// The cell, at most `width` columns wide.
    fn fitted(&self, width: usize, fit: Fit, look: Look) -> Text {
        let cut = match fit {
            Fit::CutMiddle => text::cut_middle,
            Fit::Drop(_) | Fit::Shrink | Fit::Keep => text::cut_end,
        };
        let ellipsis = look.symbols.ellipsis;
        let room = width.saturating_sub(self.lead.width());
        let text = Text::new(self.role, cut(&self.text, room, ellipsis));
        (self.lead.clone() + text).fit(width, ellipsis)
    }
}

/// A row: its cells, and the lines below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRow {
    /// One cell for each column; missing cells are empty.
    pub cells: Vec<Cell>,
    /// Lines below the row, across all columns.
    pub below: Vec<Text>,
}

/// The blanks between two columns, as in kubectl's tab writer.
const GUTTER: usize = 3;
/// The minimum width of a column. With its padding it is six, as in kubectl's tab writer.
const MIN_WIDTH: usize = 3;

/// The width limit of a cell, even without cutting. The layout counts in `u16`.
const MAX_WIDTH: usize = (1 << 15) - 1;

/// The widths of the columns without cutting, and which of them have a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnWidths {
    natural: Vec<usize>,
    /// Whether a row has a text in each column.
    pub(super) is_filled: Vec<bool>,
    /// Whether a row has a text in each column that is not the dash of a missing value.
    pub(super) has_value: Vec<bool>,
}

impl ColumnWidths {
    /// The widths of the titles alone.
    pub fn of_titles(columns: &[Column]) -> ColumnWidths {
        let title = |column: &Column| column.title.width().max(MIN_WIDTH);
        ColumnWidths {
            natural: columns.iter().map(title).collect(),
            is_filled: vec![false; columns.len()],
            has_value: vec![false; columns.len()],
        }
    }

    /// Makes room for the cells of a row.
    pub fn widen(&mut self, cells: &[Cell]) {
        for (column, cell) in cells.iter().enumerate().take(self.natural.len()) {
            let natural = &mut self.natural[column];
            *natural = cell.width().max(*natural);
            self.is_filled[column] |= *cell != Cell::default();
            self.has_value[column] |= !cell.is_blank();
        }
    }

    /// The width of the first `count` columns, gutters included.
    pub fn before(&self, count: usize) -> usize {
        let widths = self.natural[..count].iter();
        widths.map(|width| width + GUTTER).sum()
    }
}

/// The columns that fit, with their widths: every part of a table is laid out alike.
#[derive(Clone, Debug)]
pub struct TableLayout<'c> {
    columns: &'c [Column],
    /// The index and the width of each kept column.
    kept: Vec<(usize, usize)>,
    look: Look,
}

impl<'c> TableLayout<'c> {
    /// A layout of the columns that `keeps` names, as far as they fit.
    pub fn new(
        columns: &'c [Column],
        widths: &ColumnWidths,
        keeps: impl Fn(usize) -> bool,
        look: Look,
    ) -> TableLayout<'c> {
        let natural = widths.natural.iter().enumerate();
        let natural = natural.filter(|(index, _)| keeps(*index));
        let natural = natural.map(|(index, width)| (index, (*width).min(MAX_WIDTH)));
        TableLayout {
            columns,
            kept: fit(columns, natural.collect(), look.width),
            look,
        }
    }

    /// Whether there is room for a column.
    pub fn has(&self, column: usize) -> bool {
        self.kept.iter().any(|(index, _)| *index == column)
    }

    /// The titles, as a row.
    pub fn titles(&self) -> TableRow {
        let titles = self.columns.iter().map(|column| column.title.clone());
        TableRow {
            cells: titles.collect(),
            below: Vec::new(),
        }
    }

    /// The lines of these rows. No line is wider than the look's width or ends in blanks.
    pub fn lines(&self, rows: &[TableRow]) -> Vec<Text> {
        let blank = Cell::default();
        let fitted = rows.iter().map(|row| {
            let cells = self.kept.iter().map(|&(index, width)| {
                let cell = row.cells.get(index).unwrap_or(&blank);
                cell.fitted(width, self.columns[index].fit, self.look)
            });
            cells.collect()
        });
        let fitted: Vec<Vec<Text>> = fitted.collect();
        let table = self.table(&fitted);
        let mut drawn = table.lines();
        let mut lines = Vec::with_capacity(rows.len());
        for (row, cells) in rows.iter().zip(&fitted) {
            let line = self.line(&drawn.next().unwrap_or_default(), cells);
            lines.push(line.trim_end().fit_to(self.look));
            let below = row.below.iter().cloned();
            lines.extend(below.map(|line| line.trim_end().fit_to(self.look)));
        }
        lines
    }

    /// A line with the roles of its cells, and the blanks between them as they were laid out.
    fn line(&self, drawn: &str, cells: &[Text]) -> Text {
        let (mut line, mut start) = (Text::default(), 0);
        for (cell, (_, width)) in cells.iter().zip(&self.kept) {
            let end = start + cell.as_str().len();
            start = end + (width + GUTTER).saturating_sub(cell.width());
            line = line + cell + drawn.get(end..start).unwrap_or_default();
        }
        line
    }

    fn table(&self, rows: &[Vec<Text>]) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING);
        for cells in rows {
            table.add_row(cells.iter().map(Text::as_str));
        }
        let blanks = u16::try_from(GUTTER).unwrap_or_default();
        for (column, &(_, width)) in table.column_iter_mut().zip(&self.kept) {
            let width = u16::try_from(width).unwrap_or(u16::MAX / 2) + blanks;
            column.set_padding((0, blanks));
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        }
        table
    }
}

/// Decides which columns are kept and how wide they are. A table that is still too wide is cut line by line.
fn fit(
    columns: &[Column],
    natural: Vec<(usize, usize)>,
    width: Option<usize>,
) -> Vec<(usize, usize)> {
    let mut kept = natural;
    let Some(width) = width else { return kept };
    while excess(&kept, width) > 0 {
        let drop_rank = |&(_, &(index, _)): &(usize, &(usize, usize))| match columns[index].fit {
            Fit::Drop(rank) => Some(rank),
            Fit::Shrink | Fit::CutMiddle | Fit::Keep => None,
        };
        let candidates = kept
            .iter()
            .enumerate()
            .filter(|column| drop_rank(column).is_some());
        let Some((first_to_go, _)) = candidates.max_by_key(drop_rank) else {
            break;
        };
        kept.remove(first_to_go);
    }
    for (step, least) in [(Fit::CutMiddle, 16), (Fit::Shrink, 12)] {
        for place in 0..kept.len() {
            let excess = excess(&kept, width);
            let (index, natural) = kept[place];
            if columns[index].fit == step {
                let slack = natural.saturating_sub(least);
                kept[place].1 -= excess.min(slack);
            }
        }
    }
    kept
}

/// The number of columns by which the table is wider than `width`.
fn excess(columns: &[(usize, usize)], width: usize) -> usize {
    let texts: usize = columns.iter().map(|(_, width)| width).sum();
    let gutters = columns.len().saturating_sub(1) * GUTTER;
    (texts + gutters).saturating_sub(width)
}

#[cfg(test)]
mod tests;
