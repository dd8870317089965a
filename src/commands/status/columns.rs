//! The columns of the table and their cells.

use jiff::Timestamp;

use super::options::{Detail, RowOptions};
use super::rows::StatusRow;
use crate::graph::Node;
use crate::render::age::age;
use crate::render::style::{Role, role};
use crate::render::table::{Cell, Column, Fit};
use crate::status::Row;

/// The least terminal width at which NODE, IP and CHANGED are shown.
const WIDE: usize = 120;
/// The least terminal width at which a restart's age is shown.
const ROOMY: usize = 100;

/// Which columns a table has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatusColumns {
    /// Whether to show clusters.
    pub(super) clusters: bool,
    /// Whether to show namespaces.
    pub(super) namespaces: bool,
    /// Whether the table is redrawn on changes.
    pub(super) live: bool,
    /// Which rows and columns to show.
    pub(super) options: RowOptions,
    /// The titles of the columns that the server prints beside ours.
    pub(super) printed: Vec<Box<str>>,
    /// The width of the terminal; `None` for no limit.
    pub(super) width: Option<usize>,
}

impl StatusColumns {
    /// The columns from left to right.
    pub(super) fn titles(&self) -> Vec<Column> {
        let drop = |rank| match self.options.detail {
            Detail::Fitted => Fit::Drop(rank),
            Detail::Whole => Fit::Keep,
        };
        let mut columns = vec![
            Column::new("Name", Fit::CutMiddle),
            Column::new("Ready", Fit::Keep),
            Column::new("Status", Fit::Shrink),
            Column::new("Restarts", drop(2)),
            Column::new("Age", drop(1)),
        ];
        if self.namespaces {
            columns.insert(0, Column::new("Namespace", Fit::Keep));
        }
        if self.clusters {
            columns.insert(0, Column::new("Cluster", Fit::Keep));
        }
        let printed = self.printed.iter();
        columns.extend(printed.map(|title| Column::new(title, drop(6))));
        if self.is_wide() {
            columns.push(Column::new("Node", drop(3)));
            columns.push(Column::new("IP", drop(5)));
        }
        if self.is_wide() && self.live {
            columns.push(Column::new("Changed", drop(4)));
        }
        columns
    }

    /// The index of the name column.
    pub(super) fn name(&self) -> usize {
        usize::from(self.clusters) + usize::from(self.namespaces)
    }

    /// The cells of a row.
    pub(super) fn cells(&self, row: &StatusRow<'_>, now: Timestamp) -> Vec<Cell> {
        let now = row.now(now);
        let Row {
            ready,
            word,
            restarts,
        } = &row.assessment.row;
        let plain = |text: Option<&str>| Cell::new(text.unwrap_or("-"), Role::Plain);
        let restarts = restarts.map(|restarts| match restarts.last {
            Some(last) if self.width.is_none_or(|width| width >= ROOMY) => {
                format!("{} ({} ago)", restarts.count, age(last, now))
            }
            _ => restarts.count.to_string(),
        });
        let created = row.created().map(|created| age(created, now));
        let mut cells = vec![
            Cell::new(&name(row), Role::Plain),
            plain(ready.as_deref()),
            Cell::new(word, role(row.assessment.verdict.status)),
            plain(restarts.as_deref()),
            plain(created.as_deref()),
        ];
        if self.namespaces {
            cells.insert(0, plain(row.object.namespace.as_deref()));
        }
        if self.clusters {
            cells.insert(0, plain(row.origin.cluster));
        }
        let printed = self.printed.iter();
        cells.extend(printed.map(|title| plain(row.printed(title))));
        if self.is_wide() {
            let pod = row.node.and_then(Node::pod);
            let node = pod.and_then(|pod| pod.node.as_deref());
            let address = pod.and_then(|pod| pod.addresses.first());
            cells.extend([plain(node), plain(address.map(|address| &**address))]);
        }
        if self.is_wide() && self.live {
            let changed = row.changed();
            let changed = changed.map(|changed| format!("{} ago", age(changed, now)));
            cells.push(plain(changed.as_deref()));
        }
        cells
    }

    fn is_wide(&self) -> bool {
        self.options.detail == Detail::Whole || self.width.is_none_or(|width| width >= WIDE)
    }
}

/// The titles of the columns that the server prints of these objects, in its order.
pub(super) fn printed_titles(rows: &[&StatusRow<'_>], detail: Detail) -> Vec<Box<str>> {
    let mut titles: Vec<Box<str>> = Vec::new();
    let cells = rows.iter().filter_map(|row| row.known);
    for cell in cells.flat_map(|known| &known.printed) {
        let is_shown = !cell.is_wide || detail == Detail::Whole;
        if is_shown && !titles.contains(&cell.column) {
            titles.push(cell.column.clone());
        }
    }
    titles
}

/// `replicaset/web-5d4f8c7b9d #12`.
fn name(row: &StatusRow<'_>) -> String {
    match row.revision() {
        Some(revision) => format!("{} #{revision}", row.object),
        None => row.object.to_string(),
    }
}
