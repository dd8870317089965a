//! How much of its past a server is known to have forgotten.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::revision::Revision;
use crate::object::Resource;

/// Up to which revision the server has forgotten each resource, as far as is known. By resource, as an
/// API server can keep each in an etcd of its own (`--etcd-servers-overrides`), with revisions of its
/// own.
#[derive(Debug, Default)]
pub(in crate::watch) struct Memory {
    forgotten: Mutex<HashMap<Resource, Revision>>,
}

impl Memory {
    /// The newest revision that is known to be forgotten.
    pub(super) fn forgotten(&self, resource: &Resource) -> Option<Revision> {
        let forgotten = self.forgotten.lock();
        let forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        forgotten.get(resource).copied()
    }

    /// The server's history was set back: what is known of the lost one counts no more.
    pub(in crate::watch) fn restart(&self, resource: &Resource) {
        let forgotten = self.forgotten.lock();
        let mut forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        forgotten.remove(resource);
    }

    /// Notes that the server has forgotten a revision.
    pub(super) fn forget(&self, resource: &Resource, revision: Revision) {
        let forgotten = self.forgotten.lock();
        let mut forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        let known = forgotten.entry(resource.clone()).or_insert(revision);
        *known = (*known).max(revision);
    }
}
