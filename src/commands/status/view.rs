//! The frame of `status`: the table, cut to the screen, between a header and a footer.

use super::blocks::blocks;
use super::columns::{StatusColumns, printed_titles};
use super::header::{
    aggregate, collapsed, header, trace_hint, unread_changes, unread_inventories, unread_logs,
    unsearched,
};
use super::options::{Detail, HealthFilter, RowOptions, Titles};
use super::rows::{StatusRow, StatusRows};
use super::state::{StatusState, judged_without};
use super::table::lines;
use crate::model::Model;
use crate::render::canvas::Canvas;
use crate::render::header_footer::Freshness;
use crate::render::outline::{ColumnMemory, EmptyColumns};
use crate::source::{Scope, SourceKey};

/// The least number of lines for a frame with a header.
const ROOM_FOR_HEADER: usize = 6;

/// The least number of lines for a frame that names another command.
const ROOM_FOR_HINT: usize = 16;

/// The live table, and what it keeps from frame to frame.
#[derive(Debug)]
pub(super) struct LiveTable {
    pub(super) options: RowOptions,
    memory: ColumnMemory,
    has_namespaces: bool,
}

impl LiveTable {
    pub(super) fn new(options: RowOptions) -> LiveTable {
        LiveTable {
            options,
            memory: memory(options),
            has_namespaces: false,
        }
    }
}

/// No columns so far. The wide format has all of them.
fn memory(options: RowOptions) -> ColumnMemory {
    ColumnMemory::new(match options.detail {
        Detail::Whole => EmptyColumns::Kept,
        Detail::Fitted => EmptyColumns::LeftOut,
    })
}

/// A frame of the live view. It has at most as many lines as the canvas has rows (if these are three or
/// more). Each line is at least one column narrower than the terminal.
pub(super) fn view(
    state: &StatusState,
    connection: Freshness,
    table: &mut LiveTable,
    canvas: Canvas,
) -> Vec<String> {
    let options = table.options;
    let width = canvas.look.width;
    let canvas = canvas.narrowed();
    let look = canvas.look;
    let rows = options
        .health
        .without_departed(state.rows_within(canvas.rows));
    let known = rows.shown.iter().filter(|row| row.known.is_some());
    let connection = Freshness {
        objects: known.count() + rows.beyond,
        changed: state.last,
        ..connection
    };
    let mut frame = Vec::new();
    let mut end = Vec::new();
    if canvas.rows.is_none_or(|rows| rows >= ROOM_FOR_HEADER) {
        frame.push(header(state, &rows).line(canvas));
        end.extend(collapsed(state, options, look));
        end.extend(unread_inventories(state, look));
        end.extend(unsearched(state, look));
        end.extend(unread_changes(state, look));
        end.extend(unread_logs(state, look));
        end.extend(judged_without(state, look));
        end.extend(connection.first_refusals(look));
    }
    if canvas.rows.is_none_or(|rows| rows >= ROOM_FOR_HINT) {
        end.extend(trace_hint(&rows.shown, look));
    }
    end.push(connection.footer(canvas));
    table.has_namespaces |= has_namespaces(state, &rows.shown);
    let columns = StatusColumns {
        namespaces: table.has_namespaces,
        live: true,
        options,
        printed: printed_titles(&rows.shown, options.detail),
        width,
    };
    let rows = blocks(options.health.select(rows), &state.model, options.health);
    if rows.shown.is_empty() && options.health == HealthFilter::Unhealthy && state.is_settled() {
        frame.push(nothing_unhealthy(state).to_owned());
    }
    let canvas_of_rows = canvas.without_rows(frame.len() + end.len());
    frame.extend(lines(&rows, &columns, &mut table.memory, canvas_of_rows));
    frame.extend(end);
    canvas.cut(frame)
}

/// The whole table, for `--once`.
pub(super) fn table(
    state: &StatusState,
    connection: &Freshness,
    options: RowOptions,
    canvas: Canvas,
) -> Vec<String> {
    let rows = StatusRows::from(state.rows());
    let columns = StatusColumns {
        namespaces: has_namespaces(state, &rows.shown),
        live: false,
        options,
        printed: printed_titles(&rows.shown, options.detail),
        width: canvas.look.width,
    };
    let mut lines = listing(rows, &columns, &state.model, canvas);
    if let [_] = &lines[..]
        && columns.options.health == HealthFilter::Unhealthy
        && options.titles == Titles::Shown
    {
        lines.push(nothing_unhealthy(state).to_owned());
    }
    lines.extend(collapsed(state, options, canvas.look));
    lines.extend(unread_inventories(state, canvas.look));
    lines.extend(unsearched(state, canvas.look));
    lines.extend(unread_changes(state, canvas.look));
    lines.extend(unread_logs(state, canvas.look));
    lines.extend(judged_without(state, canvas.look));
    lines.extend(connection.refusals(canvas.look));
    lines
}

/// The rows, below the counts of their states if there are several.
pub(super) fn listing(
    rows: StatusRows<'_>,
    columns: &StatusColumns,
    model: &Model,
    canvas: Canvas,
) -> Vec<String> {
    let options = columns.options;
    let requested = rows.shown.iter().filter(|row| row.is_requested).count();
    let has_counts = match (options.titles, options.health) {
        (Titles::Hidden, _) => false,
        (Titles::Shown, HealthFilter::Unhealthy) => true,
        (Titles::Shown, HealthFilter::Any) => requested > 1,
    };
    let counts = has_counts.then(|| aggregate(&rows));
    let rows = blocks(options.health.select(rows), model, options.health);
    let mut all = Vec::from_iter(counts);
    all.extend(lines(&rows, columns, &mut memory(options), canvas));
    all
}

/// The words for a view of unhealthy objects that has none.
pub(super) const NOTHING_UNHEALTHY: &str = "Nothing is unhealthy.";

/// The same, as far as the requested objects were read.
pub(super) fn nothing_unhealthy(state: &StatusState) -> &'static str {
    if state.requested().iter().all(|key| state.is_read(key)) {
        NOTHING_UNHEALTHY
    } else {
        "Nothing unhealthy among the objects that could be read."
    }
}

/// Whether the objects may be in more than one namespace.
pub(super) fn has_namespaces(state: &StatusState, rows: &[StatusRow<'_>]) -> bool {
    let everywhere = |key: &SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
    state.requested().iter().any(everywhere) || are_spread(rows)
}

/// Whether the objects are in more than one namespace.
pub(super) fn are_spread(rows: &[StatusRow<'_>]) -> bool {
    // A Namespace may stand beside the objects that are in it.
    let rows = rows.iter().filter(|row| *row.object.kind != *"Namespace");
    let mut namespaces = rows.map(|row| &row.object.namespace);
    let first = namespaces.next();
    namespaces.any(|namespace| Some(namespace) != first)
}
