//! `Outline`: the tree of a frame, rows under one set of columns with plain lines between them, cut to
//! the lines there is room for.

use super::page::Page;
use crate::render::style::Role;
use crate::render::table::{Cell, Column, Row, Table};
use crate::render::text::escape_line;
use crate::render::tree::{self, Prefix};

/// A tree of rows and lines.
pub(super) struct Outline {
    /// The names of the columns; the first is that of the tree.
    pub(super) titles: Vec<&'static str>,
    /// The columns.
    pub(super) columns: Vec<Column>,
    /// The items, from top to bottom.
    pub(super) items: Vec<Item>,
    /// How many more there are, which there is no room for in any case.
    pub(super) hidden: usize,
}

/// One item of the tree.
pub(super) struct Item {
    /// How deep it stands, from 1.
    pub(super) depth: usize,
    /// What it shows.
    pub(super) body: Body,
    /// Why it is as it is; not escaped.
    pub(super) notes: Vec<String>,
    /// Whether it may be left out.
    pub(super) weight: Weight,
}

/// What an item shows.
pub(super) enum Body {
    /// Cells under the columns, the first behind the branches of the tree and a painted symbol.
    Row { symbol: String, cells: Vec<Cell> },
    /// A line of its own, which may be painted.
    Line(String),
}

/// What is left out first where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// What is as it should be.
    Light,
    /// Everything else.
    Heavy,
}

impl Outline {
    /// The lines of the outline, at most `room` of them.
    pub(super) fn lines(mut self, page: &Page, room: Option<usize>) -> Vec<String> {
        self.drop_empty_columns();
        let hidden = room.map_or(0, |room| self.trim(room));
        let look = page.look;
        let depths: Vec<usize> = self.items.iter().map(|item| item.depth).collect();
        let prefixes = tree::prefixes(&depths, look.symbols);
        let is_row = |item: &Item| matches!(item.body, Body::Row { .. });
        let has_titles = self.items.iter().any(is_row);
        let titles = self.titles.iter().map(|title| Cell::new(title, Role::Dim));
        let mut rows = vec![Row {
            cells: titles.collect(),
            below: Vec::new(),
        }];
        for (item, prefix) in self.items.into_iter().zip(prefixes) {
            item.push_to(&mut rows, &prefix, page);
        }
        let table = Table {
            columns: self.columns,
            rows,
        };
        let mut lines = table.lines_without_header(look);
        if !has_titles {
            lines.remove(0);
        }
        if hidden > 0 {
            lines.push(
                look.styles
                    .dim(&format!("+ {hidden} more (--once shows all)")),
            );
        }
        lines
    }

    /// Leaves out the columns in which no row has anything.
    fn drop_empty_columns(&mut self) {
        let is_empty = |cell: Option<&Cell>| cell.is_none_or(|cell| *cell == Cell::default());
        for at in (1..self.columns.len()).rev() {
            let is_used = self.items.iter().any(|item| match &item.body {
                Body::Row { cells, .. } => !is_empty(cells.get(at)),
                Body::Line(_) => false,
            });
            if is_used {
                continue;
            }
            self.columns.remove(at);
            self.titles.remove(at);
            for item in &mut self.items {
                if let Body::Row { cells, .. } = &mut item.body
                    && at < cells.len()
                {
                    cells.remove(at);
                }
            }
        }
    }

    /// Leaves out what there is no room for, the last first, what is well before what is not; returns
    /// how many items that are.
    fn trim(&mut self, room: usize) -> usize {
        let height = |items: &[Item]| 1 + items.iter().map(Item::height).sum::<usize>();
        let mut hidden = self.hidden;
        while !self.items.is_empty() && height(&self.items) + usize::from(hidden > 0) > room {
            let light = |item: &Item| item.weight == Weight::Light;
            let at = self.items.iter().rposition(light);
            self.items.remove(at.unwrap_or(self.items.len() - 1));
            hidden += 1;
        }
        hidden
    }
}

impl Item {
    fn height(&self) -> usize {
        1 + self.notes.len()
    }

    fn push_to(self, rows: &mut Vec<Row>, prefix: &Prefix, page: &Page) {
        let look = page.look;
        let notes = self.notes.iter().map(|note| {
            let note = format!("{}{}", look.symbols.note, escape_line(note));
            format!("{}{}", prefix.below, look.styles.paint(Role::Plain, &note))
        });
        match self.body {
            Body::Row { symbol, mut cells } => {
                if let Some(first) = cells.first_mut() {
                    let lead = format!("{}{symbol} ", prefix.row);
                    *first = std::mem::take(first).with_lead(lead);
                }
                rows.push(Row {
                    cells,
                    below: notes.collect(),
                });
            }
            Body::Line(line) => {
                if let Some(above) = rows.last_mut() {
                    above.below.push(format!("{} {line}", prefix.row));
                    above.below.extend(notes);
                }
            }
        }
    }
}
