//! One row of a table: the cells of `status`, and below them why the object is not well.

use maud::{Markup, html};

use super::object_address::ObjectAddress;
use super::{PageRow, Shown};
use crate::render::age::rfc3339;
use crate::render::json::LastLinesRecord;
use crate::render::style::Symbols;
use crate::render::text::{Text, escape_line};
use crate::serve::served_row::ServedRow;
use crate::status::Status;

/// The deepest row that is indented further than the one above it.
const MAX_DEPTH: usize = 12;

/// Where a row stands, and what stands beside it.
pub(super) struct RowPlace<'a> {
    /// The number of shown owners above it.
    pub(super) depth: usize,
    /// What is left out beside it.
    pub(super) beside: &'a [String],
    /// The namespace of all objects; `None` if there are several.
    pub(super) namespace: Option<&'a str>,
    /// The short name of its cluster, in a table with this column.
    pub(super) label: Option<&'a str>,
}

/// A row as a table body of its own.
pub(super) fn row(row: &ServedRow, place: &RowPlace<'_>) -> PageRow {
    let id = escape_line(&row.id()).into_owned();
    let cells = &row.assessment.row;
    let depth = place.depth.min(MAX_DEPTH);
    let object = &row.object_ref;
    let namespace = object.namespace.as_deref();
    let namespace = namespace.filter(|own| place.namespace != Some(*own));
    let restarts = cells.restarts.map(|restarts| restarts.count.to_string());
    let html = html! {
        tbody.row.(class(row.status())) data-id=(id) {
            tr {
                td.name.{ "d" (depth) } {
                    a href=(ObjectAddress::of_row(row).path("o")) { (Shown(&row.name())) }
                    @if let Some(namespace) = namespace {
                        " " span.dim { "-n " (Shown(namespace)) }
                    }
                }
                @if let Some(label) = place.label { (cluster_cell(label, &object.cluster)) }
                td data-label="ready" { (Shown(cells.ready.as_deref().unwrap_or("-"))) }
                td.state { (sign(row.status())) " " (Shown(&cells.word)) }
                td data-label="restarts" { (restarts.as_deref().unwrap_or("-")) }
                td data-label="age" { (age(row)) }
            }
            @if !reasons_are_empty(row, place) {
                tr.why { td.{ "d" (depth) } colspan=(5 + usize::from(place.label.is_some())) { (reasons(row, place)) } }
            }
        }
    };
    PageRow {
        id,
        html: html.into_string(),
    }
}

/// The cell with the short name of a cluster. It shows the whole name as a hint.
pub(super) fn cluster_cell(label: &str, name: &str) -> Markup {
    html! { td data-label="cluster" title=(Shown(name)) { (Shown(label)) } }
}

fn reasons_are_empty(row: &ServedRow, place: &RowPlace<'_>) -> bool {
    row.assessment.lines().next().is_none()
        && row.last_lines.is_empty()
        && row.last_changes.is_empty()
        && place.beside.is_empty()
}

/// Why the object is not well, what its containers printed, what changed before, and what only repeats it.
fn reasons(row: &ServedRow, place: &RowPlace<'_>) -> Markup {
    html! {
        ul {
            @for line in row.assessment.lines() { li { (Shown(line)) } }
            @for line in row.last_lines.iter().flat_map(LastLinesRecord::texts) { li.quote { code { (Shown(&line)) } } }
            @for change in &row.last_changes { li.change { (Shown(&change.text)) } }
            @for line in place.beside { li.dim { (Shown(line)) } }
        }
    }
}

/// When the object was created. The script turns the time into an age.
fn age(row: &ServedRow) -> Markup {
    html! {
        @match row.created.map(rfc3339) {
            Some(created) => time datetime=(created) { (created) },
            None => "-",
        }
    }
}

/// The symbol of a state that a record names.
pub(super) fn sign_of_word(word: &str) -> String {
    sign(Status::named(word).unwrap_or(Status::Unknown))
}

/// The class of a state that a record names.
pub(super) fn class_of_word(word: &str) -> &'static str {
    class(Status::named(word).unwrap_or(Status::Unknown))
}

/// The symbol of a state, as on a terminal. The word beside it says the same.
pub(super) fn sign(status: Status) -> String {
    Text::symbol(status, &Symbols::UNICODE).to_string()
}

/// The class of a state, which gives the colour.
pub(super) fn class(status: Status) -> &'static str {
    match status {
        Status::Current => "current",
        Status::InProgress => "moving",
        Status::Failed => "failed",
        Status::Terminating | Status::NotFound | Status::Unknown => "other",
    }
}
