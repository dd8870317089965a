//! The frame of `status`: the table, cut to the screen, between a header and a footer.

use std::collections::BTreeSet;

use super::cluster_views::ClusterViews;
use super::columns::{StatusColumns, printed_titles};
use super::header::{aggregate, collapsed, header, shortfalls, trace_hint, unread_inventories};
use super::options::{Detail, HealthFilter, RowOptions, Titles};
use super::rows::{StatusRow, StatusRows};
use super::state::{StatusState, judged_without};
use super::table::lines;
use crate::render::canvas::Canvas;
use crate::render::header_footer::Freshness;
use crate::render::outline::{ColumnMemory, EmptyColumns};
use crate::render::text::Text;
use crate::render::unhealthy::{LookedAt, ReadShare};
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
    states: &ClusterViews<'_>,
    connection: Freshness,
    table: &mut LiveTable,
    canvas: Canvas,
) -> Vec<Text> {
    let options = table.options;
    let width = canvas.look.width;
    let canvas = canvas.narrowed();
    let rows = states.rows(canvas.rows).into_iter();
    let rows = rows.map(|rows| options.health.without_departed(rows));
    let rows: Vec<StatusRows<'_>> = rows.collect();
    let all = || rows.iter().flat_map(|rows| &rows.shown);
    let known = all().filter(|row| row.known.is_some());
    let beyond: usize = rows.iter().map(|rows| rows.beyond).sum();
    let connection = Freshness {
        objects: known.count() + beyond,
        changed: states.last_change(),
        ..connection
    };
    let mut frame = Vec::new();
    let mut end = Vec::new();
    if canvas.rows.is_none_or(|rows| rows >= ROOM_FOR_HEADER) {
        frame.push(header(states, &rows).line(canvas));
        end.extend(states.lines_about(|state| lines_below(state, options)));
        end.extend(connection.first_refusals());
    }
    if canvas.rows.is_none_or(|rows| rows >= ROOM_FOR_HINT)
        && let [rows] = &rows[..]
    {
        end.extend(trace_hint(&rows.shown));
    }
    end.push(connection.footer(canvas));
    let shown: Vec<&StatusRow<'_>> = all().collect();
    table.has_namespaces |= has_namespaces(states, &shown);
    let columns = StatusColumns {
        clusters: states.are_of_several(),
        namespaces: table.has_namespaces,
        live: true,
        options,
        printed: printed_titles(&shown, options.detail),
        width,
    };
    let rows = states.merged(rows, options.health);
    if rows.shown.is_empty()
        && options.health == HealthFilter::Unhealthy
        && states.are_settled()
        && connection.clusters.is_empty()
    {
        frame.push(nothing_unhealthy(states).into());
    }
    let canvas_of_rows = canvas.without_rows(frame.len() + end.len());
    frame.extend(lines(&rows, &columns, &mut table.memory, canvas_of_rows));
    frame.extend(end);
    canvas.cut(frame)
}

/// The lines below the table about what it lacks.
pub(super) fn lines_below(state: &StatusState, options: RowOptions) -> Vec<Text> {
    let mut lines = Vec::from_iter(collapsed(state, options));
    lines.extend(unread_inventories(state));
    lines.extend(shortfalls(state));
    lines.extend(judged_without(state));
    lines
}

/// The whole table, for `--once`.
pub(super) fn table(
    states: &ClusterViews<'_>,
    connection: &Freshness,
    options: RowOptions,
    canvas: Canvas,
) -> Vec<Text> {
    let rows = states.rows(None);
    let shown: Vec<&StatusRow<'_>> = rows.iter().flat_map(|rows| &rows.shown).collect();
    let columns = StatusColumns {
        clusters: states.are_of_several(),
        namespaces: has_namespaces(states, &shown),
        live: false,
        options,
        printed: printed_titles(&shown, options.detail),
        width: canvas.look.width,
    };
    let counts = counts(&rows, options);
    let rows = states.merged(rows, options.health);
    let mut lines = listing(counts, &rows, &columns, canvas);
    if let [_] = &lines[..]
        && columns.options.health == HealthFilter::Unhealthy
        && options.titles == Titles::Shown
        && connection.clusters.is_empty()
    {
        lines.push(nothing_unhealthy(states).into());
    }
    lines.extend(states.lines_about(|state| lines_below(state, options)));
    lines.extend(connection.refusals());
    lines
}

/// The rows, below the counts of the states.
pub(super) fn listing(
    counts: Option<String>,
    rows: &StatusRows<'_>,
    columns: &StatusColumns,
    canvas: Canvas,
) -> Vec<Text> {
    let mut all = Vec::from_iter(counts.map(Text::from));
    all.extend(lines(rows, columns, &mut memory(columns.options), canvas));
    all
}

/// The counts of the states of the requested objects, if there are several.
pub(super) fn counts(rows: &[StatusRows<'_>], options: RowOptions) -> Option<String> {
    let shown = rows.iter().flat_map(|rows| &rows.shown);
    let requested = shown.filter(|row| row.is_requested).count();
    let has_counts = match (options.titles, options.health) {
        (Titles::Hidden, _) => false,
        (Titles::Shown, HealthFilter::Unhealthy) => true,
        (Titles::Shown, HealthFilter::Any) => requested > 1,
    };
    has_counts.then(|| aggregate(rows))
}

/// The words for a view of unhealthy objects that has none.
pub(super) fn nothing_unhealthy(states: &ClusterViews<'_>) -> String {
    let read = states.iter().flat_map(|state| {
        let keys = state.requested().iter();
        keys.map(|key| state.is_read(key))
    });
    let namespaces: BTreeSet<_> = states.requested().map(SourceKey::namespace).collect();
    let looked_at = LookedAt {
        namespace: match namespaces.first() {
            Some(namespace) if namespaces.len() == 1 => *namespace,
            Some(_) | None => None,
        },
        read: ReadShare::of(read),
    };
    looked_at.nothing_unhealthy()
}

/// Whether the objects may be in more than one namespace.
pub(super) fn has_namespaces(states: &ClusterViews<'_>, rows: &[&StatusRow<'_>]) -> bool {
    let everywhere = |key: &SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
    states.requested().any(everywhere) || are_spread(rows)
}

/// Whether the objects are in more than one namespace.
pub(super) fn are_spread(rows: &[&StatusRow<'_>]) -> bool {
    // A Namespace may stand beside the objects that are in it.
    let rows = rows.iter().filter(|row| *row.object.kind != *"Namespace");
    let mut namespaces = rows.map(|row| &row.object.namespace);
    let first = namespaces.next();
    namespaces.any(|namespace| Some(namespace) != first)
}
