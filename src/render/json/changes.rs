//! The records of `changes -o json`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{RefRecord, VERSION};
use crate::diff::{Change, Diff, Noise, Op, Redactor, Shown};
use crate::object::managed_fields::{By, ManagedFieldsEntry, Writers};
use crate::object::path::Side;
use crate::render::age::rfc3339_millis;
use crate::render::diff::ChangeType;

/// A version of an object: its changes and their authors.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeRecord {
    /// [`VERSION`].
    pub v: u32,
    /// The kind of change.
    #[serde(rename = "type")]
    pub change: ChangeType,
    /// Whether the version is older than the watch.
    pub past: bool,
    /// The time by the server's clock, if known. A write that only removes fields leaves no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The end of the interval, if only an interval is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_until: Option<String>,
    /// The time of arrival by the local clock; null for past versions.
    pub seen: Option<String>,
    /// The object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// The resourceVersion of the version before.
    pub from: Option<String>,
    /// The resourceVersion of this version.
    pub to: Option<String>,
    /// The managers that wrote this version.
    pub actors: Vec<ActorRecord>,
    /// The changes, without the hidden ones.
    pub changes: Vec<ChangeEntry>,
    /// The number of hidden changes, by kind of noise.
    pub hidden: BTreeMap<Noise, usize>,
    /// How the version changed the status of the object; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusChange>,
    /// How a re-created object differs from the deleted one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former: Option<FormerRecord>,
    /// The whole object, if it was created or deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Box<RawValue>>,
}

/// The status of an object before and after a version, in kstatus's words. Each is judged from the object alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StatusChange {
    /// The status before.
    pub from: &'static str,
    /// The status after.
    pub to: &'static str,
}

/// A deleted object that had the name of a new one.
#[derive(Debug, Serialize)]
pub struct FormerRecord {
    /// Its last resourceVersion.
    pub version: Option<String>,
    /// The changes from its last version to the first of the new object. They have no authors.
    pub changes: Vec<ChangeEntry>,
}

/// A manager that wrote a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActorRecord {
    /// Its name.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// The subresource of the write.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    /// The time of the write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// One change.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeEntry {
    /// What happened to the value, in the words of JSON Patch (RFC 6902).
    pub op: &'static str,
    /// The path, as every view writes it.
    pub path: String,
    /// The path as a JSON Pointer (RFC 6901) into the newer object; into the older one for `remove`.
    pub pointer: String,
    /// The old path of a value that was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_pointer: Option<String>,
    /// The old value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Box<RawValue>>,
    /// The new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Box<RawValue>>,
    /// The manager that made the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The record of a change.
pub fn entry(
    diff: &Diff<'_>,
    writers: &Writers<'_>,
    redactor: &Redactor,
    change: &Change,
) -> ChangeEntry {
    let (op, side) = match change.op {
        Op::Add => ("add", Side::New),
        Op::Remove => ("remove", Side::Old),
        Op::Replace => ("replace", Side::New),
        Op::Move { .. } => ("move", Side::New),
    };
    let is_move = matches!(change.op, Op::Move { .. });
    let path = diff.path(change.at);
    let value = |side| {
        let shown = diff.shown(change.at, side, redactor);
        shown.filter(|_| !is_move).map(raw)
    };
    ChangeEntry {
        op,
        path: path.to_string(),
        pointer: path.pointer(side),
        from_pointer: is_move.then(|| path.pointer(Side::Old)),
        old: value(Side::Old),
        new: value(Side::New),
        by: diff.by(writers, change).and_then(actor),
    }
}

/// The manager that wrote a change. An owner that did not write is not an author.
fn actor(by: By<'_, '_>) -> Option<String> {
    match by {
        By::Actor(actor) | By::Took { actor, .. } => Some(actor.manager.to_string()),
        By::Owner(_) | By::Was(_) => None,
    }
}

/// A value as it may be shown, with all digits of its numbers.
pub fn raw(shown: Shown<'_>) -> Box<RawValue> {
    RawValue::from_string(shown.json()).expect("Shown::json writes JSON")
}

/// The managers that wrote a version.
pub fn actors(writers: &Writers<'_>) -> Vec<ActorRecord> {
    let record = |entry: &ManagedFieldsEntry<'_>| ActorRecord {
        manager: entry.manager.to_string(),
        operation: entry.operation.to_string(),
        subresource: entry.subresource.to_string(),
        time: entry.time().map(rfc3339_millis),
    };
    writers.actors().map(record).collect()
}

/// A record about a source or the run. Its fields are in the order of its schema; common fields come first.
#[derive(Debug, Serialize)]
pub struct Notice<'r> {
    v: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The time, by the local clock.
    seen: &'r str,
    /// The name of the context, or of the file.
    cluster: &'r str,
    /// The resource that is listed and watched; `None` for a record about the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'r str>,
    #[serde(flatten)]
    body: NoticeBody<'r>,
}

/// The part of such a record that depends on its type.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum NoticeBody<'r> {
    /// `synced`: a full listing is complete.
    Synced {
        /// The number of objects.
        count: usize,
    },
    /// `gap`: versions may be missing.
    Gap {
        /// The last resourceVersion before the gap.
        after: Option<&'r str>,
        /// The first resourceVersion after the gap.
        upto: Option<&'r str>,
        /// The cause, in one word.
        cause: &'static str,
    },
    /// `state`: the connection changed its state.
    State {
        /// The name of the state.
        state: &'r str,
        /// The cause.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<&'r str>,
    },
    /// `undecodable`, for a watch line.
    Line {
        /// The parse error.
        cause: &'r str,
    },
    /// `undecodable`, for a version of a known object.
    Version {
        /// The parse error.
        cause: &'r str,
        /// The type that the record of the version would have.
        event: ChangeType,
        /// The object.
        #[serde(rename = "ref")]
        object_ref: RefRecord,
        /// The resourceVersion of the version before.
        from: Option<&'r str>,
        /// The resourceVersion of this version.
        to: Option<&'r str>,
    },
    /// `lookback`: how far back a source was read.
    Lookback {
        /// Why it stops there, in one word.
        end: &'static str,
        /// The revision after which every version that could be read is reported.
        from: Option<String>,
        /// The time of `from`.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<String>,
        /// The revision after which no version is missing.
        complete: Option<String>,
        /// The time of `complete`.
        #[serde(skip_serializing_if = "Option::is_none")]
        complete_time: Option<String>,
        /// Why the source could not be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
        /// The objects with missing versions, because the server did not answer.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        missing: Vec<MissingRecord>,
        /// The objects with a compacted write in the window.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        compacted: Vec<CompactedRecord>,
        /// What is not known, if the source is read from a record.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        holes: Vec<HoleRecord>,
    },
    /// `seam`: the divider between the past and what follows.
    Divider {
        /// The number of past versions reported.
        versions: usize,
        /// Whether live versions follow.
        live: bool,
        /// The managers whose versions `--people` leaves out.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOutRecord>,
    },
}

/// A manager whose versions are left out.
#[derive(Debug, Serialize)]
pub struct LeftOutRecord {
    /// Its name; `None` if the server recorded none.
    pub manager: Option<String>,
    /// The number of its versions.
    pub versions: usize,
}

/// An object with missing versions.
#[derive(Debug, Serialize)]
pub struct MissingRecord {
    /// The object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// The cause.
    pub cause: String,
}

/// A span of time in which versions may be missing from a record.
#[derive(Debug, Serialize)]
pub struct HoleRecord {
    /// Its start.
    pub since: String,
    /// Its end.
    pub until: String,
    /// Why it is there; `None` if nobody recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// An object that was written in the window, without the version that shows it.
#[derive(Debug, Serialize)]
pub struct CompactedRecord {
    /// The object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// Whether it was created in the window.
    #[serde(rename = "created")]
    pub is_creation: bool,
}

impl<'r> NoticeBody<'r> {
    /// Builds the record.
    pub fn record(self, seen: &'r str, cluster: &'r str, source: Option<&'r str>) -> Notice<'r> {
        Notice {
            v: VERSION,
            kind: self.kind(),
            seen,
            cluster,
            source,
            body: self,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            NoticeBody::Synced { .. } => "synced",
            NoticeBody::Gap { .. } => "gap",
            NoticeBody::State { .. } => "state",
            NoticeBody::Line { .. } | NoticeBody::Version { .. } => "undecodable",
            NoticeBody::Lookback { .. } => "lookback",
            NoticeBody::Divider { .. } => "seam",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::diff::Filter;
    use crate::object::{Doc, ObjectRef};
    use crate::render::diff::selected;

    #[test]
    fn a_version_is_one_line() {
        let object = |version: u32, image: &str, order: &str| {
            let time = format!("2024-05-01T14:02:0{version}Z");
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"db","namespace":"shop","uid":"u1","resourceVersion":"{version}","managedFields":[
                    {{"manager":"kubectl","operation":"Update","apiVersion":"v1","time":"{time}","fieldsV1":{{"f:spec":{{}},"f:data":{{}}}}}}]}},
                    "data":{{"a":"{image}"}},"spec":{{"n":18446744073709551617{version},"items":{order},"gone{version}":null}}}}"#
            );
            Doc::parse(text).expect("the text is valid JSON")
        };
        let (old, new) = (
            object(1, "aHVudGVyMg==", r#"[{"name":"x"},{"name":"y"}]"#),
            object(2, "aHVudGVyMw==", r#"[{"name":"y"},{"name":"x"}]"#),
        );
        let roots = (Some(old.root()), Some(new.root()));
        let (diff, writers) = (Diff::of(roots.0, roots.1), Writers::of(roots.0, roots.1));
        let redactor = Redactor::new();
        let (filter, noise) = (Filter::default(), BTreeSet::new());
        let shown = redactor.shown(new.root());
        let record = ChangeRecord {
            v: VERSION,
            change: ChangeType::Modified,
            past: true,
            time: writers.moved().map(rfc3339_millis),
            time_until: None,
            seen: None,
            object_ref: RefRecord::new("kind", &ObjectRef::of(new.root())),
            from: Some("1".to_owned()),
            to: Some("2".to_owned()),
            actors: actors(&writers),
            changes: selected(&diff, &filter, &noise)
                .map(|change| entry(&diff, &writers, &redactor, change))
                .collect(),
            hidden: crate::render::diff::counts(&diff, &filter, &noise).noise,
            status: None,
            former: None,
            object: Some(raw(shown)),
        };
        let line = serde_json::to_string(&record).expect("a record serializes");
        assert!(!line.contains('\n') && !line.contains("aHVudGVy"));
        insta::assert_snapshot!(line.replace("},{", "},\n{").replace(",\"actors", ",\n\"actors"), @r#"
        {"v":1,"type":"modified","past":true,"time":"2024-05-01T14:02:02.000Z","seen":null,"ref":{"cluster":"kind","apiVersion":"v1","kind":"Secret","namespace":"shop","name":"db","uid":"u1"},"from":"1","to":"2",
        "actors":[{"manager":"kubectl","operation":"Update","time":"2024-05-01T14:02:02.000Z"}],"changes":[{"op":"replace","path":".data.a","pointer":"/data/a","old":{"redacted":true,"bytes":7,"id":1},"new":{"redacted":true,"bytes":7,"id":2},"by":"kubectl"},
        {"op":"remove","path":".spec.gone1","pointer":"/spec/gone1","old":null,"by":"kubectl"},
        {"op":"add","path":".spec.gone2","pointer":"/spec/gone2","new":null,"by":"kubectl"},
        {"op":"move","path":".spec.items[name=y]","pointer":"/spec/items/0","fromPointer":"/spec/items/1","by":"kubectl"},
        {"op":"replace","path":".spec.n","pointer":"/spec/n","old":184467440737095516171,"new":184467440737095516172,"by":"kubectl"}],"hidden":{"version":1,"managedFields":1},"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db","namespace":"shop","uid":"u1","resourceVersion":"2","managedFields":[{"manager":"kubectl","operation":"Update","apiVersion":"v1","time":"2024-05-01T14:02:02Z","fieldsV1":{"f:spec":{},"f:data":{}}}]},"data":{"a":{"redacted":true,"bytes":7,"id":2}},"spec":{"n":184467440737095516172,"items":[{"name":"y"},
        {"name":"x"}],"gone2":null}}}
        "#);
    }
}
