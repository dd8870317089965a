//! What `status` shows: the whole table, or as much of it as a screen holds, between a header and a footer.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::cells::Columns;
use super::margins::{Connection, first_refusals, flatness, footer, header, refusals};
use super::outline::Item;
use super::rows::rows;
use super::state::State;
use crate::render::style::Look;
use crate::render::text::cut_line;
use crate::watch::{Scope, SourceKey};

/// What a view is drawn on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas {
    /// The time.
    pub(super) now: Timestamp,
    /// How text looks, and the width of the terminal.
    pub(super) look: Look,
    /// How many lines there may be; `None` for no limit.
    pub(super) rows: Option<usize>,
    /// Whether `ReplicaSet`s that are kept for roll-backs alone are shown too.
    pub(super) idle: Idle,
}

/// What becomes of `ReplicaSet`s that are kept for roll-backs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// They are counted.
    Counted,
    /// Each has a row.
    Shown,
}

/// How many lines there must be for a header to be one of them.
const ROOM_FOR_HEADER: usize = 6;

/// A frame of the live view. It has no more lines than the canvas has rows (if these are three or more),
/// and none is wider than one column less than the terminal.
pub(super) fn view(state: &State, connection: &Connection, canvas: Canvas) -> Vec<String> {
    let columns = Columns {
        namespaces: false,
        live: true,
        width: canvas.look.width,
    };
    let canvas = narrowed(canvas);
    let items = state.outline();
    let has_header = canvas.rows.is_none_or(|rows| rows >= ROOM_FOR_HEADER);
    let mut frame: Vec<String> = has_header
        .then(|| header(state, &items, canvas))
        .into_iter()
        .collect();
    let mut end = Vec::new();
    if has_header {
        end.extend(flatness(state, canvas.look));
        end.extend(first_refusals(connection, canvas.look));
    }
    end.push(footer(state, (&items, connection), canvas));
    let titles = 1;
    let taken = frame.len() + titles + end.len();
    let room = canvas.rows.map(|rows| rows.saturating_sub(taken));
    let columns = Columns {
        namespaces: has_namespaces(state, &items),
        ..columns
    };
    frame.extend(rows(&items, columns, (room, canvas)));
    frame.extend(end);
    frame
        .into_iter()
        .map(|line| fitted(line, canvas.look))
        .collect()
}

/// The table of everything, for those who look once.
pub(super) fn table(state: &State, connection: &Connection, canvas: Canvas) -> Vec<String> {
    let items = state.outline();
    let columns = Columns {
        namespaces: has_namespaces(state, &items),
        live: false,
        width: canvas.look.width,
    };
    let mut lines = rows(&items, columns, (None, canvas));
    lines.extend(refusals(connection, canvas.look));
    lines
}

/// The table of objects that are judged each on its own.
pub(super) fn listing(items: &[Item<'_>], canvas: Canvas) -> Vec<String> {
    let columns = Columns {
        namespaces: are_spread(items),
        live: false,
        width: canvas.look.width,
    };
    rows(items, columns, (None, canvas))
}

/// Whether more than one namespace is looked at.
pub(super) fn has_namespaces(state: &State, items: &[Item<'_>]) -> bool {
    let everywhere = |key: &SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
    state.asked().any(everywhere) || are_spread(items)
}

/// Whether the objects are of more than one namespace.
fn are_spread(items: &[Item<'_>]) -> bool {
    let namespaces: BTreeSet<_> = items.iter().map(|item| &item.object.namespace).collect();
    namespaces.len() > 1
}

/// The canvas without its last column: what stands there may wrap.
fn narrowed(canvas: Canvas) -> Canvas {
    let width = canvas.look.width;
    Canvas {
        look: Look {
            width: width.map(|columns| columns.saturating_sub(1).max(1)),
            ..canvas.look
        },
        ..canvas
    }
}

fn fitted(line: String, look: Look) -> String {
    match look.width {
        Some(columns) => cut_line(&line, columns, look.symbols.ellipsis).into_owned(),
        None => line,
    }
}
