//! The log of writes in a form for readers: tests, and the demo that records them.

use bytes::Bytes;

use crate::sandbox::kinds::Kind;
use crate::sandbox::store::{Change, LogEntry, VersionStore};

impl VersionStore {
    /// The writes after a revision.
    pub(super) fn records(&self, after: u64) -> Vec<Record> {
        let inner = self.lock();
        let entries = inner.after(after).iter();
        entries
            .map(|entry| Record::new(entry, &self.kinds()[entry.key.kind]))
            .collect()
    }
}

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The cluster-wide revision: the `resourceVersion` of the version written.
    pub revision: u64,
    /// The resource, as in `deployments.apps`.
    pub resource: String,
    /// Empty for cluster-wide kinds.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The effect of the write.
    pub change: Change,
    /// The JSON of the object after the write; for a deletion, as in its DELETED event.
    pub after: Bytes,
    /// The JSON of the object before the write; `None` for a creation.
    pub before: Option<Bytes>,
}

impl Record {
    fn new(entry: &LogEntry, kind: &Kind) -> Self {
        Self {
            revision: entry.revision,
            resource: kind.resource.group_resource(),
            namespace: entry.key.namespace.clone(),
            name: entry.key.name.clone(),
            uid: entry.after.value["metadata"]["uid"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            change: entry.change,
            after: entry.after.wire(kind),
            before: entry.before.as_ref().map(|version| version.wire(kind)),
        }
    }
}
