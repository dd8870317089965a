//! The multiplexer: hands out sources, one upstream for each distinct key.

use std::sync::Arc;

use super::history::{Dates, History, leases};
use super::options::{Clock, MuxOptions};
use super::subscribe::Source;
use super::transport::Transport;
use super::upstreams::Upstreams;
use crate::source::{ClusterId, SourceKey};

/// Shares sources among views. Dropping it and all its sources ends every task it started.
#[derive(Clone)]
pub struct Mux {
    upstreams: Arc<Upstreams>,
}

impl Mux {
    /// A multiplexer over these clusters.
    pub fn new(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
    ) -> Mux {
        Mux::with_options(transports, clock, MuxOptions::default())
    }

    /// [`Mux::new`], with other settings.
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

    /// Opens a source, or joins one of an equal key. A cluster that is not among the transports gives a source that
    /// has failed.
    ///
    /// Must be called inside a tokio runtime.
    pub fn open(&self, key: SourceKey) -> Source {
        let source = self.open_idle(key);
        source.start();
        source
    }

    /// [`Mux::open`], but that nothing is read before [`Source::start`]: who subscribes until then misses
    /// nothing that comes just after the first listing.
    pub fn open_idle(&self, key: SourceKey) -> Source {
        Source::new(self.upstreams.lease(key))
    }

    /// The past of a source, as far as its server remembers; `None` for a file, and for a cluster that
    /// is not among the transports.
    pub fn history(&self, key: &SourceKey) -> Option<History> {
        let archive = self.upstreams.archive(key)?;
        History::new(archive, self.upstreams.options().page_items)
    }

    /// What dates a cluster's revisions; `None` for a cluster that is not among the transports.
    pub fn dates(&self, cluster: &ClusterId) -> Option<Dates> {
        self.upstreams.archive(&leases(cluster)).map(Dates::new)
    }
}
