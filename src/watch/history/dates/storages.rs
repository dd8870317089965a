//! `Storages`: which resources share a storage. An API server can store a resource in an etcd of its own
//! (`--etcd-servers-overrides`). Many clusters do so for Events. Revisions are ordered within one storage, and say nothing
//! about another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use crate::object::Resource;
use crate::watch::history::History;
use crate::watch::revision::Revision;

/// One storage of a cluster. Revisions of equal storages can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Storage(usize);

#[cfg(test)]
impl Storage {
    pub(crate) fn numbered(number: u8) -> Storage {
        Storage(number.into())
    }
}

/// The storage of the Leases, which give its revisions their times.
pub(super) const OF_LEASES: Storage = Storage(0);

/// The storages of a cluster, as far as they are known.
#[derive(Default)]
pub(super) struct Storages {
    known: Mutex<HashMap<Resource, Arc<OnceCell<Storage>>>>,
    /// One source of each storage, except that of the Leases.
    others: Mutex<Vec<(Storage, History)>>,
    count: AtomicUsize,
}

impl Storages {
    pub(super) fn cell(&self, resource: &Resource) -> Arc<OnceCell<Storage>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(resource.clone()).or_default().clone()
    }

    /// A storage that equals no other.
    pub(super) fn new_storage(&self) -> Storage {
        Storage(self.count.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The storage of a source that does not share the one of the Leases: that of an earlier source, or a new one.
    pub(super) async fn other(&self, history: &History) -> Storage {
        let mut checked = 0;
        loop {
            let unchecked = self.others()[checked..].to_vec();
            if let Some(shared) = shared(&unchecked, history).await {
                return shared;
            }
            checked += unchecked.len();
            let mut others = self.others();
            // If other sources came in the meantime, one of them may be in the same storage.
            if others.len() == checked {
                let storage = self.new_storage();
                others.push((storage, history.clone()));
                return storage;
            }
        }
    }

    fn others(&self) -> MutexGuard<'_, Vec<(Storage, History)>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn shared(others: &[(Storage, History)], history: &History) -> Option<Storage> {
    for (storage, other) in others {
        let newest = async { other.newest().await.ok() };
        if is_shared(history, newest).await {
            return Some(*storage);
        }
    }
    None
}

/// Whether a source and another one share a storage. `other` reads the newest revision of that one. The newest revision of
/// one storage only grows, so this compares three reads.
pub(super) async fn is_shared(
    history: &History,
    other: impl Future<Output = Option<Revision>>,
) -> bool {
    let Ok(before) = history.newest().await else {
        return false;
    };
    let Some(other) = other.await else {
        return false;
    };
    let after = history.newest().await;
    before <= other && after.is_ok_and(|after| other <= after)
}
