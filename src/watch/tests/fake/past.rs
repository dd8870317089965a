//! The history that the server in memory keeps, and reads of it.

use std::time::Duration;

use super::Fake;
use super::model::{Model, api_error};
use crate::object::ResourceVersion;
use crate::source::SourceKey;
use crate::watch::error::SourceError;
use crate::watch::transport::ListPage;

impl Model {
    /// Counts a read of an old version. Returns how long it takes.
    pub(super) fn begin_read(&mut self) -> Duration {
        self.open_reads += 1;
        self.most_reads = self.most_reads.max(self.open_reads);
        self.read_takes
    }
}

impl Fake {
    /// Compacts all versions before the current one.
    pub(in crate::watch) fn forget(&self) {
        self.expire();
        let mut model = self.model();
        model.compacted = model.rv;
    }

    /// Drops the events before the current version, as a restarted server does. Old versions can still be read.
    pub(in crate::watch) fn expire(&self) {
        let mut model = self.model();
        model.forgotten = model.rv;
    }

    /// Stops the server, and starts it from a backup that was made at this version.
    pub(in crate::watch) fn restore(&self, to: u64) {
        let mut model = self.model();
        let lost = model.log.clone();
        model.lost.push(lost);
        model.log.retain(|op| op.pod.rv <= to);
        model.rv = to;
        model.forgotten = to;
        model.compacted = model.compacted.min(to);
        drop(model);
        self.cut();
    }

    /// The listing at an old version.
    pub(super) fn read_back(&self, key: &SourceKey, rv: u64) -> Result<ListPage, SourceError> {
        let mut model = self.model();
        model.reads.push(rv);
        if let Some(error) = model.no_list.as_ref().or(model.no_history.as_ref()) {
            return Err(error.clone());
        }
        if model.flaky > 0 && model.reads.len().is_multiple_of(model.flaky) {
            return Err(api_error(503));
        }
        if let Some((reads, rv)) = model.compacts_after
            && model.reads.len() > reads
        {
            model.compacted = model.compacted.max(rv);
        }
        if rv > model.rv {
            // Too large resource version.
            return Err(api_error(504));
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
