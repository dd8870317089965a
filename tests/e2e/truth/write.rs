//! A write to the API server: the version that it made, its author and its time.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde_json::Value;

use super::audit::{Author, Span};
use super::objects::Kind;

/// A version of an object or its deletion, and the request that wrote it.
#[derive(Clone, Debug)]
pub struct Write {
    pub kind: Kind,
    pub name: String,
    pub uid: String,
    /// The storage whose revision it is.
    pub storage: Storage,
    pub revision: u64,
    pub what: What,
    /// The object; for a deletion its last state.
    pub object: Value,
    /// The version before it.
    pub before: Option<Value>,
    pub by: Author,
    pub verb: String,
    pub span: Span,
}

/// An etcd. Revisions of different ones cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    Main,
    Events,
}

/// The revisions to which the storages are compacted.
pub type Compacted = BTreeMap<Storage, u64>;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Created,
    Modified,
    Deleted,
}

impl Write {
    /// Whether the object records its writer with the true time.
    pub fn is_recorded(&self) -> bool {
        self.what != What::Deleted && !self.records().is_empty()
    }

    /// The new entries of its writer that have the true time.
    fn records(&self) -> Vec<Value> {
        let entries = |object: &Value| {
            let entries = object["metadata"]["managedFields"].as_array();
            entries.cloned().unwrap_or_default()
        };
        let before = self.before.as_ref().map(entries).unwrap_or_default();
        let second = |time: Timestamp| time.as_second();
        let seconds = second(self.span.received)..=second(self.span.done);
        let mut records = entries(&self.object);
        records.retain(|entry| {
            let time = entry["time"].as_str().and_then(|time| time.parse().ok());
            let is_own = entry["manager"] == self.by.manager.as_str()
                && entry["subresource"].as_str().unwrap_or_default() == self.by.subresource;
            let is_now = time.is_some_and(|time| seconds.contains(&second(time)));
            is_own && is_now && !before.contains(entry)
        });
        records
    }

    /// Whether a person is recorded for it, or a program that writes for people. A controller counts if it writes more than
    /// metadata.
    pub fn is_by_people(&self) -> bool {
        let is_owned = matches!(self.kind, Kind::ReplicaSet | Kind::Pod | Kind::Event);
        let manager = &self.by.manager;
        let is_controller = manager.contains("controller") || manager.contains("operator");
        let has_content = || {
            let records = self.records();
            let fields = records.iter().filter_map(|it| it["fieldsV1"].as_object());
            let mut names = fields.flat_map(|fields| fields.keys());
            names.any(|name| !matches!(&**name, "f:metadata" | "f:status"))
        };
        !is_owned
            && self.by.subresource != "status"
            && self.is_recorded()
            && (!is_controller || has_content())
    }

    /// Whether text shows it: more has changed than what the server counts.
    pub fn is_shown(&self) -> bool {
        let Some(before) = self.before.as_ref().filter(|_| self.what == What::Modified) else {
            return true;
        };
        silent(before) != silent(&self.object)
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.subresource {
            "" => write!(f, "{}", self.manager),
            subresource => write!(f, "{} ({subresource})", self.manager),
        }
    }
}

/// A line of a report: `01:02:03.456 7 Modified configmap/app by alice: patch`.
impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Write {
            revision,
            what,
            name,
            by,
            verb,
            ..
        } = self;
        let (done, kind) = (format!("{:.3}", self.span.done), self.kind.word());
        write!(
            f,
            "{done} {revision} {what:?} {kind}/{name} by {by}: {verb}"
        )?;
        let fields = |object: &Value| {
            let [outer, inner] = self.kind.map();
            let pointer = if outer.is_empty() {
                String::new()
            } else {
                format!("/{outer}")
            };
            let map = object.pointer(&format!("{pointer}/{inner}"));
            map.map(Value::to_string).unwrap_or_default()
        };
        let times = self.object["metadata"]["managedFields"].as_array();
        let times = times.into_iter().flatten().map(|entry| {
            format!(
                "{} {}",
                entry["manager"].as_str().unwrap_or_default(),
                entry["time"]
            )
        });
        let times: Vec<String> = times.collect();
        write!(f, " {} [{}]", fields(&self.object), times.join(", "))
    }
}

/// An object without noise.
fn silent(object: &Value) -> Value {
    let mut object = object.clone();
    for field in ["resourceVersion", "managedFields", "generation"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    object
}

/// The resourceVersion of an object.
pub fn revision(object: &Value) -> u64 {
    let revision = object["metadata"]["resourceVersion"].as_str();
    revision.and_then(|it| it.parse().ok()).unwrap_or_default()
}

pub fn created(object: &Value) -> Option<Timestamp> {
    let created = object["metadata"]["creationTimestamp"].as_str();
    created?.parse().ok()
}

/// The managers of an object, with their subresources.
pub fn owners(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array();
    let name = |entry: &Value| {
        let manager = entry["manager"].as_str().unwrap_or_default();
        match entry["subresource"].as_str() {
            Some(subresource) => format!("{manager} ({subresource})"),
            None => manager.to_owned(),
        }
    };
    entries.into_iter().flatten().map(name).collect()
}
