//! What the server in memory remembers, and how it is read.

use super::Fake;
use super::model::api_error;
use crate::object::ResourceVersion;
use crate::watch::error::SourceError;
use crate::watch::key::SourceKey;
use crate::watch::transport::ListPage;

impl Fake {
    /// Forgets all versions before the present.
    pub(in crate::watch) fn forget(&self) {
        self.expire();
        let mut model = self.model();
        model.compacted = model.rv;
    }

    /// Forgets the events before the present, as a server does that was restarted: old versions can
    /// still be read.
    pub(in crate::watch) fn expire(&self) {
        let mut model = self.model();
        model.forgotten = model.rv;
    }

    /// What was there at a version.
    pub(super) fn read_back(&self, key: &SourceKey, rv: u64) -> Result<ListPage, SourceError> {
        let mut model = self.model();
        model.reads.push(rv);
        if let Some(error) = model.no_list.as_ref().or(model.no_history.as_ref()) {
            return Err(error.clone());
        }
        if let Some((reads, rv)) = model.compacts_after
            && model.reads.len() > reads
        {
            model.compacted = model.compacted.max(rv);
        }
        if rv < model.compacted {
            return Err(api_error(410));
        }
        let there = model.at(rv).into_values();
        let there = there.filter(|pod| pod.matches(key));
        let version = if model.unversioned {
            String::new()
        } else {
            rv.to_string()
        };
        Ok(ListPage {
            version: ResourceVersion::new(version),
            items: there.map(|pod| pod.listed().into()).collect(),
            next: None,
        })
    }
}
