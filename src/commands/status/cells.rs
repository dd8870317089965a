//! The columns of the table, and what stands in them.

use jiff::Timestamp;

use super::outline::Item;
use crate::object::ObjectRef;
use crate::render::age::age;
use crate::render::style::{Look, Role, Symbols};
use crate::render::table::{Cell, Column, Fit, GUTTER};
use crate::render::text::{escape_cell, width};
use crate::status::{Row, Status};

/// The title of the column before the names.
const NAMESPACE: &str = "Namespace";
/// From how many columns of a terminal on NODE, IP and CHANGED are shown.
const WIDE: usize = 120;
/// From how many on a restart's age is shown.
const ROOMY: usize = 100;

/// What a table has columns for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// Whether objects of more than one namespace are shown.
    pub(super) namespaces: bool,
    /// Whether the table is redrawn as things change.
    pub(super) live: bool,
    /// The width of the terminal; `None` for no limit.
    pub(super) width: Option<usize>,
}

impl Columns {
    /// The columns from left to right.
    pub(super) fn titles(self) -> Vec<Column> {
        let mut columns = vec![
            Column::new("Name", Fit::CutMiddle),
            Column::new("Ready", Fit::Keep),
            Column::new("Status", Fit::Shrink),
            Column::new("Restarts", Fit::Drop(2)),
            Column::new("Age", Fit::Drop(1)),
        ];
        if self.namespaces {
            columns.insert(0, Column::new(NAMESPACE, Fit::Keep));
        }
        if self.is_wide() {
            columns.push(Column::new("Node", Fit::Drop(3)));
            columns.push(Column::new("IP", Fit::Drop(5)));
        }
        if self.is_wide() && self.live {
            columns.push(Column::new("Changed", Fit::Drop(4)));
        }
        columns
    }

    /// The cells of an object; `lead` is what stands before its name.
    pub(super) fn cells(self, item: &Item<'_>, lead: String, now: Timestamp) -> Vec<Cell> {
        let Row {
            ready,
            word,
            restarts,
        } = &item.judged.row;
        let plain = |text: Option<&str>| Cell::new(text.unwrap_or("-"), Role::Plain);
        let restarts = restarts.map(|restarts| match restarts.last {
            Some(last) if self.width.is_none_or(|width| width >= ROOMY) => {
                format!("{} ({} ago)", restarts.count, age(last, now))
            }
            _ => restarts.count.to_string(),
        });
        let created = item.created().map(|created| age(created, now));
        let mut cells = vec![
            Cell::new(&name(item), Role::Plain).with_lead(lead),
            plain(ready.as_deref()),
            Cell::new(word, role(item.judged.verdict.status)),
            plain(restarts.as_deref()),
            plain(created.as_deref()),
        ];
        if self.namespaces {
            cells.insert(0, plain(item.object.namespace.as_deref()));
        }
        if self.is_wide() {
            let (node, address) = item.whereabouts();
            cells.extend([plain(node), plain(address)]);
        }
        if self.is_wide() && self.live {
            let changed = item.changed();
            let changed = changed.map(|changed| format!("{} ago", age(changed, now)));
            cells.push(plain(changed.as_deref()));
        }
        cells
    }

    /// The blanks as wide as all that stands before the names.
    pub(super) fn before_name<'a>(self, items: impl Iterator<Item = &'a Item<'a>>) -> String {
        if !self.namespaces {
            return String::new();
        }
        let namespaces = items.filter_map(|item| item.object.namespace.as_deref());
        let widest = namespaces.map(|namespace| width(&escape_cell(namespace)));
        let column = widest.max().unwrap_or(0).max(NAMESPACE.len());
        " ".repeat(column + usize::from(GUTTER))
    }

    fn is_wide(self) -> bool {
        self.width.is_none_or(|width| width >= WIDE)
    }
}

/// `replicaset/web-5d4f8c7b9d #12`.
fn name(item: &Item<'_>) -> String {
    match item.revision() {
        Some(revision) => format!("{} #{revision}", item.object),
        None => item.object.to_string(),
    }
}

/// The painted symbol of a state.
pub(super) fn symbol(status: Status, look: Look) -> String {
    let Symbols {
        current,
        in_progress,
        failed,
        terminating,
        not_found,
        unknown,
        ..
    } = look.symbols;
    let symbol = match status {
        Status::Current => current,
        Status::InProgress => in_progress,
        Status::Failed => failed,
        Status::Terminating => terminating,
        Status::NotFound => not_found,
        Status::Unknown => unknown,
    };
    look.styles.paint(role(status), symbol)
}

/// How a state is painted.
pub(super) fn role(status: Status) -> Role {
    match status {
        Status::Current => Role::Good,
        Status::InProgress | Status::Terminating => Role::Moving,
        Status::Failed => Role::Bad,
        Status::NotFound | Status::Unknown => Role::Warning,
    }
}

/// `deployment.apps/web`: what kubectl prints for `-o name`.
pub(super) fn qualified(object: &ObjectRef) -> String {
    let kind = object.kind.to_lowercase();
    match object.group() {
        "" => format!("{kind}/{}", object.name),
        group => format!("{kind}.{group}/{}", object.name),
    }
}
