//! Stores the objects and their history: the current state, the state at any revision, and the writes after
//! it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::kinds::Kind;
use super::log::{Change, LogEntry, StoreKey, StoredVersion};
use super::version_text::VersionText;

/// The state of the cluster, shared by the tests that write and the connections that read.
pub(super) struct ObjectStore {
    kinds: Vec<Kind>,
    inner: Mutex<StoreInner>,
    /// The newest revision. Watches wait for its changes.
    newest: watch::Sender<u64>,
}

pub(super) struct StoreInner {
    pub(super) revision: u64,
    version_text: VersionText,
    log: Vec<Arc<LogEntry>>,
    live: BTreeMap<StoreKey, Arc<StoredVersion>>,
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

impl ObjectStore {
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

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
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
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn get(&self, key: &StoreKey) -> Option<&Arc<StoredVersion>> {
        self.live.get(key)
    }

    /// Whether a namespace contains objects.
    pub(super) fn holds_namespace(&self, namespace: &str) -> bool {
        self.live.keys().any(|key| key.namespace == namespace)
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

    /// The oldest revision from which a watch can start.
    pub(super) fn window(&self) -> u64 {
        self.window
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
