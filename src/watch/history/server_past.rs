//! What is known of the past that a server keeps: how much it has compacted, and whether it offers the rest.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::revision::Revision;
use crate::object::Resource;
use crate::watch::trouble::Trouble;

/// The past of one server. All its sources share this.
#[derive(Debug, Default)]
pub(in crate::watch) struct ServerPast {
    /// The newest revision of each resource that is known to be compacted. It is kept by resource, because an API
    /// server can store each resource in its own etcd (`--etcd-servers-overrides`), with its own revisions.
    forgotten: Mutex<HashMap<Resource, Revision>>,
    /// The errors of reads at old revisions.
    pub(in crate::watch) trouble: Trouble,
}

impl ServerPast {
    /// The newest revision of a resource that is known to be compacted.
    pub(super) fn forgotten(&self, resource: &Resource) -> Option<Revision> {
        let forgotten = self.forgotten.lock();
        let forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        forgotten.get(resource).copied()
    }

    /// Forgets what is known of a resource, after the server's history was restored.
    pub(in crate::watch) fn restart(&self, resource: &Resource) {
        let forgotten = self.forgotten.lock();
        let mut forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        forgotten.remove(resource);
    }

    /// Records that the server has compacted a revision.
    pub(super) fn forget(&self, resource: &Resource, revision: Revision) {
        let forgotten = self.forgotten.lock();
        let mut forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        let known = forgotten.entry(resource.clone()).or_insert(revision);
        *known = (*known).max(revision);
    }
}
