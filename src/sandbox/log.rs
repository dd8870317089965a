//! The write log: every version of every object, in the order of the cluster-wide revision.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use super::kinds::Kind;

/// The effect of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The object was created.
    Added,
    /// The object has a new version.
    Modified,
    /// The object was deleted. The logged version is the last one, with the revision of the deletion.
    Deleted,
}

impl Change {
    /// The `type` of the watch event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// One version of one object.
#[derive(Debug)]
pub(super) struct StoredVersion {
    /// The object without `apiVersion` and `kind`.
    pub(super) value: Value,
    /// The object as JSON.
    pub(super) json: Bytes,
    pub(super) revision: u64,
}

impl StoredVersion {
    pub(super) fn new(value: Value, revision: u64) -> Self {
        let json = Bytes::from(value.to_string());
        Self {
            value,
            json,
            revision,
        }
    }

    /// The object as in a watch event or a GET, with `kind` and `apiVersion` first.
    pub(super) fn wire(&self, kind: &Kind) -> Bytes {
        let head = format!(
            r#"{{"kind":"{}","apiVersion":"{}""#,
            kind.resource.kind,
            kind.resource.api_version()
        );
        let mut wire = Vec::with_capacity(head.len() + self.json.len());
        wire.extend_from_slice(head.as_bytes());
        wire.push(if self.json.as_ref() == b"{}" {
            b' '
        } else {
            b','
        });
        wire.extend_from_slice(&self.json[1..]);
        Bytes::from(wire)
    }

    /// The object with `apiVersion` and `kind`, for further processing.
    pub(super) fn whole(&self, kind: &Kind) -> Value {
        let mut value = self.value.clone();
        value["apiVersion"] = Value::from(kind.resource.api_version());
        value["kind"] = Value::from(&*kind.resource.kind);
        value
    }
}

/// The key of an object in the store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoreKey {
    /// Index of its kind.
    pub(super) kind: usize,
    /// Empty for cluster-wide kinds.
    pub(super) namespace: String,
    pub(super) name: String,
}

/// One write.
#[derive(Debug)]
pub(super) struct LogEntry {
    pub(super) revision: u64,
    pub(super) key: StoreKey,
    pub(super) change: Change,
    pub(super) after: Arc<StoredVersion>,
    pub(super) before: Option<Arc<StoredVersion>>,
}
