//! `ChangesPage`: the versions of an object and of what it owns, the newest first: when, who, and what changed.

use maud::{Markup, html};

use super::changed_version::{ChangedVersion, ChangedVersions};
use super::object_address::ObjectAddress;
use super::{MAX_ROWS, Shown};
use crate::render::age::rfc3339;

/// The most changed fields of one version.
const MAX_FIELDS: usize = 50;

/// The versions of these records.
pub(super) fn changes(records: &str) -> Markup {
    let all = ChangedVersions::of(records);
    let beyond = all.versions.len().saturating_sub(MAX_ROWS);
    html! {
        (known(&all))
        @if all.versions.is_empty() { p.empty { "No version is known from this time." } }
        div.rows { @for version in all.versions.iter().take(MAX_ROWS) { (shown(version)) } }
        @if beyond > 0 { p { "and " (beyond) " more: choose a shorter time" } }
    }
}

/// How far the versions are complete.
pub(super) fn known(all: &ChangedVersions) -> Markup {
    html! {
        p.dim {
            @match all.complete_since {
                Some(time) => { "complete since " (rfc3339(time)) },
                None => "some versions may be missing",
            }
            @for hole in &all.holes {
                ", except " (rfc3339(hole.time.since)) " to " (rfc3339(hole.time.until)) ": "
                (Shown(hole.cause.as_deref().unwrap_or("nobody recorded")))
            }
        }
        @for problem in &all.problems { p.dim { (Shown(problem)) } }
    }
}

fn shown(version: &ChangedVersion) -> Markup {
    let who = version.who();
    let fields = version.changes.len();
    html! {
        details.version.report[version.is_report()] {
            summary {
                (version.time()) " " b { (Shown(&ObjectAddress::of_record(&version.object_ref).display())) } " "
                @if who.is_empty() { span.dim { "writer not recorded" } } @else { span.dim { (Shown(&who)) } }
                " " (Shown(&version.line()))
            }
            @if fields > 0 {
                table.diff {
                    tbody { @for change in version.changes.iter().take(MAX_FIELDS) { (change.row()) } }
                }
            }
            @if fields > MAX_FIELDS { p { "and " (fields - MAX_FIELDS) " more fields" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::page::changed_version::testing::RECORDS;

    #[test]
    fn each_version_has_its_writer_and_its_diff() {
        let html = changes(RECORDS).into_string();
        assert_eq!(html.matches("<details").count(), 3);
        assert_eq!(html.matches("version report").count(), 1);
        for part in [
            "kubectl-edit",
            "<del>2</del>",
            "<ins>3</ins>",
            "<ins>&lt;b&gt;</ins>",
            "writer not recorded",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(
            html.contains("except 2026-03-02T11:57:00Z to 2026-03-02T11:58:00Z: nobody recorded")
        );
        assert!(
            changes("")
                .into_string()
                .contains("some versions may be missing")
        );
    }
}
