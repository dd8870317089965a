//! The frame of `status`: the table, cut to the screen, between a header and a footer.

use std::collections::BTreeSet;

use super::columns::StatusColumns;
use super::header::{header, hidden_dependents};
use super::rows::StatusRow;
use super::state::StatusState;
use super::table::{Idle, outline};
use crate::render::canvas::Canvas;
use crate::render::header_footer::Connection;
use crate::source::{Scope, SourceKey};

/// The least number of lines for a frame with a header.
const ROOM_FOR_HEADER: usize = 6;

/// A frame of the live view. It has at most as many lines as the canvas has rows (if these are three or
/// more). Each line is at least one column narrower than the terminal.
pub(super) fn view(
    state: &StatusState,
    connection: Connection,
    idle: Idle,
    canvas: Canvas,
) -> Vec<String> {
    let columns = StatusColumns {
        namespaces: false,
        live: true,
        width: canvas.look.width,
    };
    let canvas = canvas.narrowed();
    let look = canvas.look;
    let rows = state.rows();
    let connection = Connection {
        objects: rows.iter().filter(|row| row.known.is_some()).count(),
        changed: state.last,
        ..connection
    };
    let mut frame = Vec::new();
    let mut end = Vec::new();
    if canvas.rows.is_none_or(|rows| rows >= ROOM_FOR_HEADER) {
        frame.push(header(state, &rows).line(canvas));
        end.extend(hidden_dependents(state, look));
        end.extend(connection.first_refusals(look));
    }
    end.push(connection.footer(canvas));
    let columns = StatusColumns {
        namespaces: has_namespaces(state, &rows),
        ..columns
    };
    let room = canvas.without_rows(frame.len() + end.len()).rows;
    frame.extend(outline(&rows, columns, idle, canvas.now).lines(look, room));
    frame.extend(end);
    canvas.cut(frame)
}

/// The whole table, for `--once`.
pub(super) fn table(
    state: &StatusState,
    connection: &Connection,
    idle: Idle,
    canvas: Canvas,
) -> Vec<String> {
    let rows = state.rows();
    let columns = StatusColumns {
        namespaces: has_namespaces(state, &rows),
        live: false,
        width: canvas.look.width,
    };
    let mut lines = outline(&rows, columns, idle, canvas.now).lines(canvas.look, None);
    lines.extend(connection.refusals(canvas.look));
    lines
}

/// The table of objects that are assessed one by one.
pub(super) fn listing(rows: &[StatusRow<'_>], idle: Idle, canvas: Canvas) -> Vec<String> {
    let columns = StatusColumns {
        namespaces: are_spread(rows),
        live: false,
        width: canvas.look.width,
    };
    outline(rows, columns, idle, canvas.now).lines(canvas.look, None)
}

/// Whether the objects may be in more than one namespace.
pub(super) fn has_namespaces(state: &StatusState, rows: &[StatusRow<'_>]) -> bool {
    let everywhere = |key: &SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
    state.requested().iter().any(everywhere) || are_spread(rows)
}

/// Whether the objects are in more than one namespace.
fn are_spread(rows: &[StatusRow<'_>]) -> bool {
    let namespaces: BTreeSet<_> = rows.iter().map(|row| &row.object.namespace).collect();
    namespaces.len() > 1
}
