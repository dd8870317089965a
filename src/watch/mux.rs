//! The multiplexer: gives views their sources, with one upstream per distinct key.

use std::sync::Arc;

use super::history::{Dates, History, leases};
use super::options::{Clock, MuxOptions};
use super::subscribe::Source;
use super::transport::Transport;
use super::upstreams::Upstreams;
use crate::source::{ClusterId, SourceKey};

/// Shares sources among views. Dropping it and all its sources ends every task that it started.
#[derive(Clone)]
pub struct Mux {
    upstreams: Arc<Upstreams>,
}

impl Mux {
    /// Creates a multiplexer for these clusters.
    pub fn new(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
    ) -> Mux {
        Mux::with_options(transports, clock, MuxOptions::default())
    }

    /// Creates a multiplexer as [`Mux::new`] does, with other settings.
    pub fn with_options(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
        options: MuxOptions,
    ) -> Mux {
        let upstreams = Upstreams::new(transports, clock, options);
        Mux {
            upstreams: Arc::new(upstreams),
        }
    }

    /// Opens a source, or joins one with an equal key. It reads nothing before [`Source::start`]. A subscriber that
    /// joins until then also gets the events just after the first listing. A source of an unknown cluster has the
    /// state Failed.
    ///
    /// Must be called inside a tokio runtime.
    pub fn open_idle(&self, key: SourceKey) -> Source {
        Source::new(self.upstreams.lease(key))
    }

    /// The past of a source, as far back as the server keeps it. `None` for a file, and for an unknown cluster.
    pub fn history(&self, key: &SourceKey) -> Option<History> {
        let archive = self.upstreams.archive(key)?;
        History::new(archive, self.upstreams.options().page_items)
    }

    /// The times of a cluster's revisions; `None` for an unknown cluster.
    pub fn dates(&self, cluster: &ClusterId) -> Option<Dates> {
        self.upstreams.archive(&leases(cluster)).map(Dates::new)
    }
}
