//! `ChangedVersion`: a record of `changes -o json`, as far as the page shows it.

use std::cmp::Reverse;

use jiff::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::Shown;
use super::object_address::RecordedRef;
use crate::render::age::rfc3339;

/// How many characters of a value are shown.
const VALUE: usize = 200;

/// The records of an answer: its versions, and what is known about their completeness.
#[derive(Debug, Default)]
pub(super) struct ChangedVersions {
    /// The newest first.
    pub(super) versions: Vec<ChangedVersion>,
    /// Since when no version is missing, of the source that is known for the shortest time; `None` if that is not known.
    pub(super) complete_since: Option<Timestamp>,
    /// When the records were made; `None` without any look-back.
    pub(super) now: Option<Timestamp>,
    /// The times of which versions may be missing, in the record.
    pub(super) holes: Vec<RecordHole>,
    /// Why sources could not be read.
    pub(super) problems: Vec<String>,
}

/// A version of an object.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangedVersion {
    #[serde(rename = "type")]
    pub(super) change: String,
    pub(super) time: Option<Timestamp>,
    time_until: Option<Timestamp>,
    seen: Option<Timestamp>,
    #[serde(rename = "ref")]
    pub(super) object_ref: RecordedRef,
    #[serde(default)]
    actors: Vec<ChangeActor>,
    #[serde(default)]
    pub(super) changes: Vec<FieldChange>,
    /// How it changed the state of the object.
    pub(super) status: Option<ChangedStatus>,
    /// The whole object, if it was created or deleted.
    pub(super) object: Option<Box<RawValue>>,
}

/// A change of the state of an object, judged from it alone.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ChangedStatus {
    pub(super) from: String,
    pub(super) to: String,
}

#[derive(Clone, Debug, Deserialize)]
struct ChangeActor {
    manager: String,
    subresource: Option<String>,
}

/// A changed field.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FieldChange {
    op: String,
    path: String,
    old: Option<Json>,
    new: Option<Json>,
}

/// The time between two moments.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::serve) struct TimeSpan {
    pub(in crate::serve) since: Timestamp,
    pub(in crate::serve) until: Timestamp,
}

/// A time of which versions may be missing.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordHole {
    #[serde(flatten)]
    pub(super) time: TimeSpan,
    /// Why; `None` if nobody recorded.
    pub(super) cause: Option<String>,
}

/// How far back a source is known.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KnownPast {
    #[serde(rename = "type")]
    record: String,
    seen: Timestamp,
    complete_time: Option<Timestamp>,
    cause: Option<String>,
    #[serde(default)]
    holes: Vec<RecordHole>,
}

impl ChangedVersions {
    /// Reads the records of an answer. Other records, such as states of sources, say nothing here.
    pub(super) fn of(records: &str) -> ChangedVersions {
        let mut all = ChangedVersions::default();
        let mut complete = Some(Timestamp::MIN);
        for line in records.lines() {
            if let Ok(version) = serde_json::from_str::<ChangedVersion>(line) {
                if version.change != "baseline" {
                    all.versions.push(version);
                }
            } else if let Ok(past) = serde_json::from_str::<KnownPast>(line)
                && past.record == "lookback"
            {
                complete = complete
                    .zip(past.complete_time)
                    .map(|(one, other)| one.max(other));
                all.now = all.now.max(Some(past.seen));
                all.problems.extend(past.cause);
                all.holes.extend(past.holes);
            }
        }
        all.complete_since = complete.filter(|time| *time > Timestamp::MIN);
        all.versions.reverse();
        let cluster = all
            .versions
            .first()
            .map(|it| it.object_ref.cluster().to_owned());
        let is_of_first = |it: &ChangedVersion| Some(it.object_ref.cluster()) == cluster.as_deref();
        if !all.versions.iter().all(is_of_first) {
            // The records of each cluster are in the order of its versions.
            all.versions.sort_by_key(|it| Reverse(it.at()));
        }
        all.holes.sort_unstable();
        all.holes.dedup();
        all.problems.sort_unstable();
        all.problems.dedup();
        all
    }
}

impl ChangedVersion {
    /// When it was written, or else when it arrived.
    pub(super) fn at(&self) -> Option<Timestamp> {
        self.time.or(self.seen)
    }

    /// Whether it only reports a state: all its writers wrote the status.
    pub(super) fn is_report(&self) -> bool {
        let mut actors = self.actors.iter();
        let is_status = |actor: &ChangeActor| actor.subresource.as_deref() == Some("status");
        let mut changes = self.changes.iter();
        (!self.actors.is_empty() && actors.all(is_status))
            || (!self.changes.is_empty()
                && changes.all(|change| change.path.starts_with(".status")))
    }

    /// Its writers; empty if the server recorded none.
    pub(super) fn who(&self) -> String {
        let managers: Vec<&str> = self.actors.iter().map(|actor| &*actor.manager).collect();
        managers.join(", ")
    }

    /// What changed, in one line: the first field of what somebody wants, or else of its status, or of its metadata.
    pub(super) fn line(&self) -> String {
        let rank = |change: &&FieldChange| {
            let starts = [".status", ".metadata"];
            starts
                .iter()
                .position(|start| change.path.starts_with(start))
        };
        let first = self.changes.iter().min_by_key(rank);
        match first.filter(|_| self.change == "modified") {
            Some(first) => match self.changes.len() - 1 {
                0 => first.line(),
                others => format!("{} (+{others})", first.line()),
            },
            None => self.change.clone(),
        }
    }

    /// The time, or the interval in which it lies.
    pub(super) fn time(&self) -> Markup {
        html! {
            @match self.at() {
                Some(at) => time datetime=(rfc3339(at)) { (rfc3339(at)) },
                None => "-",
            }
            @if let Some(until) = self.time_until { "–" time datetime=(rfc3339(until)) { (rfc3339(until)) } }
        }
    }
}

impl FieldChange {
    /// `.spec.replicas: 2 → 3`.
    fn line(&self) -> String {
        let value =
            |value: &Option<Json>| value.as_ref().map_or_else(|| "-".to_owned(), shown_value);
        match &*self.op {
            "add" => format!("{}: + {}", self.path, value(&self.new)),
            "remove" => format!("{}: - {}", self.path, value(&self.old)),
            "move" => format!("{}: moved", self.path),
            _ => format!("{}: {} → {}", self.path, value(&self.old), value(&self.new)),
        }
    }

    /// A row of a diff.
    pub(super) fn row(&self) -> Markup {
        html! {
            tr.{ "op-" (op_class(&self.op)) } {
                th scope="row" { (Shown(&self.path)) }
                td { @if let Some(old) = &self.old { del { (Shown(&shown_value(old))) } } }
                td { @if let Some(new) = &self.new { ins { (Shown(&shown_value(new))) } } }
            }
        }
    }
}

/// The class of an operation. A word of a record is never part of the page's own words.
fn op_class(op: &str) -> &'static str {
    match op {
        "add" => "add",
        "remove" => "remove",
        "move" => "move",
        _ => "replace",
    }
}

/// A value in one line. A string has no quotes.
fn shown_value(value: &Json) -> String {
    let text = match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
pub(super) mod testing {
    /// The records of an answer: an edit, a report, a deletion, and how far back they reach.
    pub(in crate::serve::page) const RECORDS: &str = r#"{"v":1,"type":"baseline","ref":{"cluster":"c","apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web"},"actors":[],"changes":[]}
{"v":1,"type":"modified","past":true,"time":"2026-03-02T12:00:03Z","seen":null,"ref":{"cluster":"c","apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web"},"actors":[{"manager":"kubectl-edit","operation":"Update"}],"changes":[{"op":"add","path":".metadata.labels.a","pointer":"/x","new":"<b>"},{"op":"replace","path":".spec.replicas","pointer":"/spec/replicas","old":2,"new":3}]}
{"v":1,"type":"modified","past":true,"time":"2026-03-02T12:00:04Z","seen":null,"ref":{"cluster":"c","apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web"},"actors":[{"manager":"kube-controller-manager","operation":"Update","subresource":"status"}],"changes":[{"op":"replace","path":".status.replicas","pointer":"/status/replicas","old":2,"new":3}],"status":{"from":"Current","to":"InProgress"}}
{"v":1,"type":"deleted","past":true,"time":"2026-03-02T12:00:05Z","timeUntil":"2026-03-02T12:00:09Z","seen":null,"ref":{"cluster":"c","apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web-1"},"actors":[],"changes":[],"object":{}}
{"v":1,"type":"lookback","seen":"2026-03-02T12:05:00Z","cluster":"c","source":"deployments","end":"limit","from":"1","complete":"1","completeTime":"2026-03-02T11:55:00Z","holes":[{"since":"2026-03-02T11:57:00Z","until":"2026-03-02T11:58:00Z"}]}
"#;
}

#[cfg(test)]
mod tests {
    use super::testing::RECORDS;
    use super::*;

    #[test]
    fn records_become_versions_and_what_is_known_of_them() {
        let all = ChangedVersions::of(RECORDS);
        let lines: Vec<(String, String, bool)> = all
            .versions
            .iter()
            .map(|version| (version.line(), version.who(), version.is_report()))
            .collect();
        let row = |line: &str, who: &str, is_report| (line.to_owned(), who.to_owned(), is_report);
        assert_eq!(
            lines,
            [
                row("deleted", "", false),
                row(".status.replicas: 2 → 3", "kube-controller-manager", true),
                row(".spec.replicas: 2 → 3 (+1)", "kubectl-edit", false),
            ]
        );
        assert_eq!(
            all.complete_since.map(rfc3339).as_deref(),
            Some("2026-03-02T11:55:00Z")
        );
        assert_eq!(all.holes.len(), 1);
        let empty = ChangedVersions::of("no record\n{}\n");
        assert!(empty.versions.is_empty() && empty.complete_since.is_none());
    }
}
