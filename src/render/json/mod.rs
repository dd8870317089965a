//! The records of `-o json`: one object a line, each kind with a JSON Schema in docs/schema. Fields are
//! only ever added.

pub mod changes;
pub mod line;
pub mod notice;
pub mod status;
pub mod trace;

use serde::Serialize;

use crate::object::ObjectRef;

/// The version of the records, in their field `v`.
pub const VERSION: u32 = 1;

/// Which object, in which cluster. Absent parts are left out.
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
    /// The namespace; none for cluster-scoped objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
    /// The uid, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl RefRecord {
    /// The record of a reference.
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
