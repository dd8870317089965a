//! Converts stored versions into the form that a client accepts: objects, metadata or table rows.

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{Kind, KindOrigin};
use super::route::{AnswerForm, Query};
use super::status::ApiFailure;
use super::store::{StoredVersion, VersionText};
use super::table;

/// What a table row contains besides its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Include {
    None,
    Metadata,
    Object,
}

/// The form of the objects in one answer.
#[derive(Debug)]
pub(super) struct ObjectView {
    pub(super) form: AnswerForm,
    pub(super) version_text: VersionText,
    include: Include,
    kind: Kind,
}

impl ObjectView {
    pub(super) fn of(
        form: AnswerForm,
        version_text: VersionText,
        query: &Query,
        kind: &Kind,
    ) -> Result<Self, ApiFailure> {
        let include = match query.get("includeObject") {
            None | Some("Metadata") => Include::Metadata,
            Some("None") => Include::None,
            Some("Object") => Include::Object,
            Some(other) => {
                let message = format!("unrecognized includeObject value: {other:?}");
                return Err(ApiFailure::bad_request(message));
            }
        };
        Ok(Self {
            form,
            version_text,
            include,
            kind: kind.clone(),
        })
    }

    /// One object, alone or in a watch event. Only the first table of a watch names its columns.
    pub(super) fn object(
        &self,
        version: &StoredVersion,
        now: Timestamp,
        columns: TableColumns,
    ) -> Bytes {
        match self.form {
            AnswerForm::Full | AnswerForm::Discovery => version.wire(&self.kind),
            AnswerForm::Metadata => Bytes::from(partial(version).to_string()),
            AnswerForm::Table => {
                let metadata = json!({"resourceVersion": self.version_text.of(version.revision)});
                self.table(&metadata, &[self.row(version, now)], columns)
            }
        }
    }

    pub(super) fn list(
        &self,
        metadata: &Value,
        versions: &[&StoredVersion],
        now: Timestamp,
    ) -> Bytes {
        let head = match self.form {
            AnswerForm::Table => {
                let rows: Vec<Value> = versions
                    .iter()
                    .map(|version| self.row(version, now))
                    .collect();
                return self.table(metadata, &rows, TableColumns::Given);
            }
            AnswerForm::Metadata => {
                r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1""#.to_owned()
            }
            AnswerForm::Full | AnswerForm::Discovery => {
                format!(
                    r#"{{"kind":"{}List","apiVersion":"{}""#,
                    self.kind.resource.kind,
                    self.kind.resource.api_version()
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

    pub(super) fn bookmark(&self, revision: u64) -> Bytes {
        let metadata =
            json!({"resourceVersion": self.version_text.of(revision), "creationTimestamp": null});
        let (api_version, kind) = match self.form {
            AnswerForm::Full | AnswerForm::Discovery => {
                (self.kind.resource.api_version(), &*self.kind.resource.kind)
            }
            AnswerForm::Metadata => ("meta.k8s.io/v1".to_owned(), "PartialObjectMetadata"),
            AnswerForm::Table => return self.table(&metadata, &[], TableColumns::Known),
        };
        Bytes::from(
            json!({"kind": kind, "apiVersion": api_version, "metadata": metadata}).to_string(),
        )
    }

    fn item(&self, version: &StoredVersion) -> Bytes {
        match (self.form, self.kind.origin) {
            (AnswerForm::Metadata, _) => Bytes::from(partial(version).to_string()),
            (_, KindOrigin::BuiltIn) => version.json.clone(),
            (_, KindOrigin::Custom) => version.wire(&self.kind),
        }
    }

    fn table(&self, metadata: &Value, rows: &[Value], columns: TableColumns) -> Bytes {
        let definitions = match columns {
            TableColumns::Given => table::definitions(&self.kind),
            TableColumns::Known => Value::Null,
        };
        let table = json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
            "columnDefinitions": definitions, "rows": rows,
        });
        Bytes::from(table.to_string())
    }

    fn row(&self, version: &StoredVersion, now: Timestamp) -> Value {
        let object = match self.include {
            Include::None => Value::Null,
            Include::Metadata => partial(version),
            Include::Object => version.whole(&self.kind),
        };
        json!({"cells": table::cells(&self.kind, &version.value, now), "object": object})
    }
}

/// Whether a table lists its column definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableColumns {
    /// The table lists them.
    Given,
    /// An earlier event listed them.
    Known,
}

fn partial(version: &StoredVersion) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": version.value["metadata"],
    })
}
