//! The objects and their history: what is there now, what was there at any revision, and what followed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::kinds::Kind;
use super::log::{Change, LogEntry, Record, StoreKey, StoredVersion};

/// The state of the cluster; shared by the tests that write and the connections that read.
pub(super) struct ObjectStore {
    kinds: Vec<Kind>,
    inner: Mutex<StoreInner>,
    /// The newest revision, for those who wait for the next.
    newest: watch::Sender<u64>,
}

pub(super) struct StoreInner {
    revision: u64,
    log: Vec<Arc<LogEntry>>,
    live: BTreeMap<StoreKey, Arc<StoredVersion>>,
    /// Reads at an exact revision below this one answer 410.
    compacted: u64,
    /// Watches from a revision below this one answer 410.
    window: u64,
    pub(super) uids: fastrand::Rng,
}

/// Why a revision cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListError {
    /// Compacted.
    Forgotten,
    /// Not reached yet; the newest one.
    Future(u64),
}

/// The objects of a kind at one revision, by namespace and name.
pub(super) struct StoreListing {
    pub(super) revision: u64,
    pub(super) items: Vec<(StoreKey, Arc<StoredVersion>)>,
}

impl ObjectStore {
    pub(super) fn new(kinds: Vec<Kind>, first_revision: u64, seed: u64) -> Self {
        let inner = StoreInner {
            revision: first_revision,
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

    /// The kind served as `resource` (`deployments` or `deployments.apps`) in any group.
    pub(super) fn kind_of(&self, resource: &str) -> Option<usize> {
        self.kinds
            .iter()
            .position(|kind| kind.plural == resource || kind.qualified() == resource)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, StoreInner> {
        // A panic in a test while it held the lock must not hide behind a second one.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the watches that there is something new; to be called after the lock is released.
    pub(super) fn announce(&self) {
        let revision = self.lock().revision;
        self.newest.send_replace(revision);
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// The writes after a revision, as tests read them.
    pub(super) fn records(&self, after: u64) -> Vec<Record> {
        let inner = self.lock();
        let entries = inner.after(after).iter();
        entries
            .map(|entry| Record::new(entry, &self.kinds[entry.key.kind]))
            .collect()
    }
}

impl StoreInner {
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn get(&self, key: &StoreKey) -> Option<&Arc<StoredVersion>> {
        self.live.get(key)
    }

    /// Whether there are objects in a namespace.
    pub(super) fn holds_namespace(&self, namespace: &str) -> bool {
        self.live.keys().any(|key| key.namespace == namespace)
    }

    /// The objects of a kind as they are, or as they were at a revision.
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

    /// The oldest revision a watch can start from.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Forgets what came before now: no watch can resume from there.
    pub(super) fn expire_window(&mut self) {
        self.window = self.revision;
    }

    /// Forgets the versions that were replaced before `revision`.
    pub(super) fn compact(&mut self, revision: u64) {
        self.compacted = self.compacted.max(revision.min(self.revision));
    }

    /// Logs a version under the next revision.
    pub(super) fn commit(
        &mut self,
        key: &StoreKey,
        change: Change,
        mut value: Value,
    ) -> Arc<StoredVersion> {
        self.revision += 1;
        value["metadata"]["resourceVersion"] = Value::from(self.revision.to_string());
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
