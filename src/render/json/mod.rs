//! The records of `-o json`: one object on each line. Each kind of record has a JSON Schema in docs/schema.
//! Fields are only added, never removed.

pub mod changes;
pub mod last_change;
pub mod line;
pub mod notice;
pub mod status;
pub mod trace;

use serde::Serialize;

use crate::object::ObjectRef;

/// The version of the record format, in the field `v`.
pub const VERSION: u32 = 1;

/// Identifies an object and its cluster. Unknown parts are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefRecord {
    /// The name of the context, or of the file.
    pub cluster: String,
    /// The `apiVersion`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The namespace; `None` for cluster-scoped objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
    /// The uid, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl RefRecord {
    /// The record of an object reference.
    pub fn new(cluster: impl Into<String>, object: &ObjectRef) -> RefRecord {
        RefRecord {
            cluster: cluster.into(),
            api_version: object.api_version.to_string(),
            kind: object.kind.to_string(),
            namespace: object.namespace.as_deref().map(str::to_owned),
            name: object.name.to_string(),
            uid: object.uid.as_ref().map(|uid| uid.as_str().to_owned()),
        }
    }
}
