//! Turns stored versions into the form a client has asked for: objects, metadata or table rows.

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{Kind, Origin};
use super::log::Version;
use super::route::{Form, Query};
use super::status::Failure;
use super::table;

/// What a table row carries besides its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Include {
    None,
    Metadata,
    Object,
}

/// How one request wants its objects.
#[derive(Debug)]
pub(super) struct View {
    pub(super) form: Form,
    include: Include,
    kind: Kind,
}

impl View {
    pub(super) fn of(form: Form, query: &Query, kind: &Kind) -> Result<Self, Failure> {
        let include = match query.get("includeObject") {
            None | Some("Metadata") => Include::Metadata,
            Some("None") => Include::None,
            Some("Object") => Include::Object,
            Some(other) => {
                let message = format!("unrecognized includeObject value: {other:?}");
                return Err(Failure::bad_request(message));
            }
        };
        Ok(Self {
            form,
            include,
            kind: kind.clone(),
        })
    }

    /// One object, for a GET.
    pub(super) fn object(&self, version: &Version, now: Timestamp) -> Bytes {
        match self.form {
            Form::Full | Form::Discovery => version.wire(&self.kind),
            Form::Metadata => Bytes::from(partial(version).to_string()),
            Form::Table => {
                let metadata = json!({"resourceVersion": version.revision.to_string()});
                self.table(&metadata, &[self.row(version, now)], Columns::Given)
            }
        }
    }

    /// A LIST with its `metadata`.
    pub(super) fn list(&self, metadata: &Value, versions: &[&Version], now: Timestamp) -> Bytes {
        let head = match self.form {
            Form::Table => {
                let rows: Vec<Value> = versions
                    .iter()
                    .map(|version| self.row(version, now))
                    .collect();
                return self.table(metadata, &rows, Columns::Given);
            }
            Form::Metadata => {
                r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1""#.to_owned()
            }
            Form::Full | Form::Discovery => {
                format!(
                    r#"{{"kind":"{}List","apiVersion":"{}""#,
                    self.kind.kind,
                    self.kind.api_version()
                )
            }
        };
        let mut body = format!(r#"{head},"metadata":{metadata},"items":["#).into_bytes();
        for (index, version) in versions.iter().enumerate() {
            if index > 0 {
                body.push(b',');
            }
            body.extend_from_slice(&self.item(version));
        }
        body.extend_from_slice(b"]}\n");
        Bytes::from(body)
    }

    /// The object of a watch event; tables name their columns in the first one only.
    pub(super) fn event(&self, version: &Version, now: Timestamp, columns: Columns) -> Bytes {
        match self.form {
            Form::Table => {
                let metadata = json!({"resourceVersion": version.revision.to_string()});
                self.table(&metadata, &[self.row(version, now)], columns)
            }
            Form::Full | Form::Metadata | Form::Discovery => self.object(version, now),
        }
    }

    /// The object of a bookmark.
    pub(super) fn bookmark(&self, revision: u64) -> Bytes {
        let metadata = json!({"resourceVersion": revision.to_string(), "creationTimestamp": null});
        let (api_version, kind) = match self.form {
            Form::Full | Form::Discovery => (self.kind.api_version(), self.kind.kind.as_str()),
            Form::Metadata => ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadata"),
            Form::Table => return self.table(&metadata, &[], Columns::Known),
        };
        Bytes::from(
            json!({"kind": kind, "apiVersion": api_version, "metadata": metadata}).to_string(),
        )
    }

    fn item(&self, version: &Version) -> Bytes {
        match (self.form, self.kind.origin) {
            (Form::Metadata, _) => Bytes::from(partial(version).to_string()),
            (_, Origin::BuiltIn) => version.json.clone(),
            (_, Origin::Custom) => version.wire(&self.kind),
        }
    }

    fn table(&self, metadata: &Value, rows: &[Value], columns: Columns) -> Bytes {
        let definitions = match columns {
            Columns::Given => table::definitions(&self.kind),
            Columns::Known => Value::Null,
        };
        let table = json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
            "columnDefinitions": definitions, "rows": rows,
        });
        Bytes::from(table.to_string())
    }

    fn row(&self, version: &Version, now: Timestamp) -> Value {
        let object = match self.include {
            Include::None => Value::Null,
            Include::Metadata => partial(version),
            Include::Object => version.whole(&self.kind),
        };
        json!({"cells": table::cells(&self.kind, &version.value, now), "object": object})
    }
}

/// Whether a table names its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// It does.
    Given,
    /// The client has them from an event before.
    Known,
}

fn partial(version: &Version) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": version.value["metadata"],
    })
}
