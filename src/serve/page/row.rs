//! One row of a table: the cells of `status`, and below them why the object is not well.

use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{PageRow, Shown};
use crate::object::is_kubernetes_own;
use crate::render::age::rfc3339;
use crate::render::style::{Symbols, symbol};
use crate::render::text::escape_line;
use crate::serve::snapshot::ServedRow;
use crate::status::Status;

/// What a segment of a path must not hold: all but the unreserved characters of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// What a word of a command may hold without quotes, besides letters and digits.
const PLAIN: &str = "-_./:=@%+,";

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
}

/// A row as a table body of its own.
pub(super) fn row(row: &ServedRow, place: &RowPlace<'_>) -> PageRow {
    let id = escape_line(&row.id()).into_owned();
    let record = &row.record;
    let depth = place.depth.min(MAX_DEPTH);
    let namespace = record.object_ref.namespace.as_deref();
    let namespace = namespace.filter(|own| place.namespace != Some(*own));
    let restarts = record.restarts.map(|restarts| restarts.to_string());
    let html = html! {
        tbody.row.(class(row.status)) data-id=(id) {
            tr {
                td.name.{ "d" (depth) } {
                    a href=(address(row)) { (Shown(&row.name())) }
                    @if let Some(namespace) = namespace {
                        " " span.dim { "-n " (Shown(namespace)) }
                    }
                }
                td data-label="ready" { (Shown(record.ready.as_deref().unwrap_or("-"))) }
                td.state { (sign(row.status)) " " (Shown(&record.word)) }
                td data-label="restarts" { (restarts.as_deref().unwrap_or("-")) }
                td data-label="age" { (age(row)) }
            }
            @if !reasons_are_empty(row, place) {
                tr.why { td.{ "d" (depth) } colspan="5" { (reasons(row, place)) } }
            }
        }
    };
    PageRow {
        id,
        html: html.into_string(),
    }
}

fn reasons_are_empty(row: &ServedRow, place: &RowPlace<'_>) -> bool {
    let lines = [&row.lines, &row.last_lines, &row.changes];
    lines.iter().all(|lines| lines.is_empty()) && place.beside.is_empty()
}

/// Why the object is not well, what its containers printed, what changed before, and what only repeats it.
fn reasons(row: &ServedRow, place: &RowPlace<'_>) -> Markup {
    html! {
        ul {
            @for line in &row.lines { li { (Shown(line)) } }
            @for line in &row.last_lines { li.quote { code { (Shown(line)) } } }
            @for line in &row.changes { li.change { (Shown(line)) } }
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

/// The symbol of a state, as on a terminal. The word beside it says the same.
pub(super) fn sign(status: Status) -> String {
    symbol(status, &Symbols::UNICODE).to_string()
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

/// The address of the page about an object: `/o/CLUSTER/KIND/NAMESPACE/NAME`.
pub(super) fn address(row: &ServedRow) -> String {
    let object = &row.record.object_ref;
    let kind = row.kind_and_group();
    // No namespace is called `-`.
    let namespace = object.namespace.as_deref().unwrap_or("-");
    let segments = [&object.cluster, &*kind, namespace, &object.name];
    let segments = segments.map(|segment| utf8_percent_encode(segment, SEGMENT).to_string());
    format!("/o/{}", segments.join("/"))
}

/// The command that shows the same: `kubectl spy status deployment/web -n shop --context prod`.
pub(super) fn command(verb: &str, row: &ServedRow) -> String {
    let object = &row.record.object_ref;
    let name = match row.group() {
        group if is_kubernetes_own(group) => row.name(),
        group => format!("{}.{group}/{}", object.kind.to_lowercase(), object.name),
    };
    let mut words = vec![quoted(&name)];
    if let Some(namespace) = &object.namespace {
        words.extend(["-n".to_owned(), quoted(namespace)]);
    }
    words.extend(["--context".to_owned(), quoted(&object.cluster)]);
    format!("kubectl spy {verb} {}", words.join(" "))
}

/// A word of a POSIX shell that stands for this text.
fn quoted(text: &str) -> String {
    let text = escape_line(text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::snapshot::testing::failed_pod;

    #[test]
    fn an_object_has_an_address_and_a_command() {
        let mut row = failed_pod("web-1", "it fails");
        assert_eq!(address(&row), "/o/test/Pod/shop/web-1");
        assert_eq!(
            command("status", &row),
            "kubectl spy status pod/web-1 -n shop --context test"
        );
        let object = &mut row.record.object_ref;
        object.namespace = None;
        "x.io/v1".clone_into(&mut object.api_version);
        "a/b c".clone_into(&mut object.cluster);
        "it's; rm -rf /".clone_into(&mut object.name);
        assert_eq!(
            address(&row),
            "/o/a%2Fb%20c/Pod.x.io/-/it%27s%3B%20rm%20-rf%20%2F"
        );
        assert_eq!(
            command("trace", &row),
            r"kubectl spy trace 'pod.x.io/it'\''s; rm -rf /' --context 'a/b c'"
        );
    }
}
