//! The Events about an object and what it owns, the newest first, from the versions of the Events of its namespace.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde::Deserialize;

use super::changed_version::{ChangedVersion, ChangedVersions};
use super::changes::known;
use super::object_address::{ObjectAddress, RecordedRef};
use super::{MAX_ROWS, Shown};

/// What an Event says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportedEvent {
    #[serde(default)]
    involved_object: RecordedRef,
    #[serde(default, rename = "type")]
    level: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    count: Option<u64>,
}

/// An Event and its newest version.
struct EventRow<'v> {
    event: ReportedEvent,
    /// What it is about.
    about: ObjectAddress,
    last: &'v ChangedVersion,
}

/// The Events of these records that are about `names`: `Pod/web-1`, ….
pub(super) fn events(records: &str, names: &BTreeSet<String>) -> Markup {
    let all = ChangedVersions::of(records);
    let rows = rows(&all, names);
    let beyond = rows.len().saturating_sub(MAX_ROWS);
    html! {
        (known(&all))
        @if rows.is_empty() { p.empty { "No Event is known from this time." } }
        table.rows {
            thead { tr { th scope="col" { "Object" } th scope="col" { "Event" } th scope="col" { "Last seen" } } }
            @for row in rows.iter().take(MAX_ROWS) { (shown(row)) }
        }
        @if beyond > 0 { p { "and " (beyond) " more: choose a shorter time" } }
    }
}

/// The newest version of each Event. A later version of an Event names only what changed in it.
fn rows<'v>(all: &'v ChangedVersions, names: &BTreeSet<String>) -> Vec<EventRow<'v>> {
    let mut last: BTreeMap<String, &ChangedVersion> = BTreeMap::new();
    let mut rows = Vec::new();
    for version in &all.versions {
        let (.., name) = version.object_ref.order();
        let newest = *last.entry(name.to_owned()).or_insert(version);
        let object = version
            .object
            .as_ref()
            .filter(|_| version.change != "deleted");
        let parsed = object.and_then(|object| serde_json::from_str(object.get()).ok());
        let Some(event): Option<ReportedEvent> = parsed else {
            continue;
        };
        let mut about = ObjectAddress::of_record(&event.involved_object);
        if names.contains(&about.event_name()) {
            about.cluster = ObjectAddress::of_record(&version.object_ref).cluster;
            rows.push(EventRow {
                event,
                about,
                last: newest,
            });
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.last.at()));
    rows
}

fn shown(row: &EventRow<'_>) -> Markup {
    let (event, about) = (&row.event, &row.about);
    let (class, sign) = match &*event.level {
        "Warning" => ("moving", "! "),
        _ => ("current", ""),
    };
    html! {
        tbody.row.(class) {
            tr {
                td.name { a href=(about.path("o")) { (Shown(&about.display())) } }
                td.wide { span.state { (sign) (Shown(&event.reason)) } " " (Shown(&event.message)) }
                td {
                    (row.last.time())
                    @if let Some(count) = event.count.filter(|count| *count > 1) { span.dim { " ×" (count) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_an_object_come_with_their_newest_times() {
        let record = |kind: &str, name: &str, second: u32, object: &str| {
            format!(
                r#"{{"v":1,"type":"{kind}","time":"2026-03-02T12:00:0{second}Z","ref":{{"cluster":"c","apiVersion":"v1","kind":"Event","namespace":"n","name":"{name}"}},"actors":[],"changes":[]{object}}}"#
            )
        };
        let about = |pod: &str, reason: &str| {
            format!(
                r#","object":{{"involvedObject":{{"apiVersion":"v1","kind":"Pod","namespace":"n","name":"{pod}"}},"type":"Warning","reason":"{reason}","message":"<b>","count":3}}"#
            )
        };
        let records = [
            record("created", "web.1", 1, &about("web", "Failed")),
            record("created", "web.2", 2, &about("web", "BackOff")),
            record("created", "api.1", 3, &about("api", "Failed")),
            record("modified", "web.1", 4, ""),
            record("deleted", "web.2", 5, &about("web", "BackOff")),
        ];
        let names = BTreeSet::from(["Pod/web".to_owned()]);
        let html = events(&records.join("\n"), &names).into_string();
        assert_eq!(html.matches("class=\"row moving\"").count(), 2, "{html}");
        assert!(html.contains("&lt;b&gt;") && html.contains(" ×3"), "{html}");
        assert!(html.contains("href=\"/o/c/Pod/n/web\""), "{html}");
        assert!(!html.contains("pod/api"), "it is about another object");
        let at = |text: &str| html.find(text).expect(text);
        assert!(at("BackOff") < at("Failed") && at("BackOff") < at("12:00:04Z"));
        let none = events("", &names).into_string();
        assert!(none.contains("No Event is known"), "{none}");
    }
}
