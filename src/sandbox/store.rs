//! Stores the objects and their history: the current state, the state at any revision, and the writes after
//! it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch;

use super::kinds::Kind;

/// The state of the cluster, shared by the tests that write and the connections that read.
pub(super) struct VersionStore {
    pub(super) kinds: Vec<Kind>,
    inner: Mutex<StoreInner>,
    /// The newest revision. Watches wait for its changes.
    newest: watch::Sender<u64>,
}

pub(super) struct StoreInner {
    pub(super) revision: u64,
    version_text: VersionText,
    log: Vec<Arc<LogEntry>>,
    pub(super) live: BTreeMap<StoreKey, Arc<StoredVersion>>,
    /// Exact reads below this revision return 410.
    pub(super) compacted: u64,
    /// Watches from below this revision return 410.
    pub(super) window: u64,
    pub(super) uids: fastrand::Rng,
}

/// Why a revision cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListError {
    /// The revision is compacted.
    Forgotten,
    /// The revision is not reached yet; this is the newest one.
    Future(u64),
}

/// The objects of a kind at one revision, by namespace and name.
pub(super) struct StoreListing {
    pub(super) revision: u64,
    pub(super) items: Vec<(StoreKey, Arc<StoredVersion>)>,
}

impl VersionStore {
    pub(super) fn new(
        kinds: Vec<Kind>,
        first_revision: u64,
        version_text: VersionText,
        seed: u64,
    ) -> Self {
        let inner = StoreInner {
            revision: first_revision,
            version_text,
            log: Vec::new(),
            live: BTreeMap::new(),
            compacted: 0,
            window: 0,
            uids: fastrand::Rng::with_seed(seed),
        };
        Self {
            kinds,
            inner: Mutex::new(inner),
            newest: watch::Sender::new(first_revision),
        }
    }

    /// The writes after a revision.
    pub(super) fn records(&self, after: u64) -> Vec<Record> {
        let inner = self.lock();
        let entries = inner.after(after).iter();
        entries
            .map(|entry| Record::new(entry, &self.kinds[entry.key.kind]))
            .collect()
    }

    /// The kind with this resource name (`deployments` or `deployments.apps`) in any group.
    pub(super) fn kind_of(&self, resource: &str) -> Option<usize> {
        self.kinds.iter().position(|kind| {
            *kind.resource.plural == *resource || kind.resource.group_resource() == resource
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, StoreInner> {
        // A test that panics with the lock held must not hide behind a second panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies the watches of new writes. The caller must have released the lock.
    pub(super) fn announce(&self) {
        let revision = self.lock().revision;
        self.newest.send_replace(revision);
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }
}

impl StoreInner {
    pub(super) fn get(&self, key: &StoreKey) -> Option<&Arc<StoredVersion>> {
        self.live.get(key)
    }

    /// The current objects of a kind, or those at a revision.
    pub(super) fn list(&self, kind: usize, at: Option<u64>) -> Result<StoreListing, ListError> {
        let Some(at) = at.filter(|at| *at != self.revision) else {
            let of_kind = self.live.iter().filter(|(key, _)| key.kind == kind);
            let items = of_kind
                .map(|(key, version)| (key.clone(), Arc::clone(version)))
                .collect();
            return Ok(StoreListing {
                revision: self.revision,
                items,
            });
        };
        if at > self.revision {
            return Err(ListError::Future(self.revision));
        }
        if at < self.compacted {
            return Err(ListError::Forgotten);
        }
        let mut then = BTreeMap::new();
        for entry in self.log.iter().take_while(|entry| entry.revision <= at) {
            if entry.key.kind != kind {
                continue;
            }
            match entry.change {
                Change::Deleted => then.remove(&entry.key),
                Change::Added | Change::Modified => {
                    then.insert(entry.key.clone(), Arc::clone(&entry.after))
                }
            };
        }
        Ok(StoreListing {
            revision: at,
            items: then.into_iter().collect(),
        })
    }

    /// The writes after a revision, in order.
    pub(super) fn after(&self, revision: u64) -> &[Arc<LogEntry>] {
        let start = self.log.partition_point(|entry| entry.revision <= revision);
        &self.log[start..]
    }

    /// The writes up to and including a revision, in order.
    pub(super) fn until(&self, revision: u64) -> &[Arc<LogEntry>] {
        let end = self.log.partition_point(|entry| entry.revision <= revision);
        &self.log[..end]
    }

    /// Logs a version under the next revision.
    pub(super) fn commit(
        &mut self,
        key: &StoreKey,
        change: Change,
        mut value: Value,
    ) -> Arc<StoredVersion> {
        self.revision += 1;
        value["metadata"]["resourceVersion"] = Value::from(self.version_text.of(self.revision));
        let after = Arc::new(StoredVersion::new(value, self.revision));
        let before = match change {
            Change::Deleted => self.live.remove(key),
            Change::Added | Change::Modified => self.live.insert(key.clone(), Arc::clone(&after)),
        };
        self.log.push(Arc::new(LogEntry {
            revision: self.revision,
            key: key.clone(),
            change,
            after: Arc::clone(&after),
            before,
        }));
        after
    }
}

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
        whole(self.value.clone(), kind)
    }
}

/// An object with `apiVersion` and `kind`.
pub(super) fn whole(mut value: Value, kind: &Kind) -> Value {
    value["apiVersion"] = Value::from(kind.resource.api_version());
    value["kind"] = Value::from(&*kind.resource.kind);
    value
}

/// The text of a value; empty if it is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The number at a pointer; 0 if there is none.
pub(super) fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

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

/// How this server writes a revision as a resourceVersion: a prefix and the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VersionText {
    /// Empty: resourceVersions are numbers, as with etcd.
    prefix: &'static str,
}

impl VersionText {
    pub(super) fn new(prefix: &'static str) -> Self {
        Self { prefix }
    }

    /// The resourceVersion of a revision.
    pub(super) fn of(self, revision: u64) -> String {
        format!("{}{revision}", self.prefix)
    }

    /// The revision of a resourceVersion. `0` is revision 0 on every server.
    pub(super) fn revision(self, text: &str) -> Option<u64> {
        match text {
            "0" => Some(0),
            text => text.strip_prefix(self.prefix)?.parse().ok(),
        }
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
