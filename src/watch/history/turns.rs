//! Taking turns: how much of a server's past is asked for at a time.

use std::sync::Arc;

use jiff::SignedDuration;
use tokio::sync::Semaphore;

use crate::object::ResourceVersion;
use crate::watch::error::SourceError;
use crate::watch::key::SourceKey;
use crate::watch::transport::{At, BoxFuture, LineStream, ListPage, Page, Transport, Upstream};

/// Bounds how many requests are under way of all that share it. The others wait, and come in order.
#[derive(Clone, Debug)]
pub struct Turns(Arc<Semaphore>);

impl Turns {
    /// So many requests at a time.
    pub fn new(at_once: usize) -> Turns {
        Turns(Arc::new(Semaphore::new(at_once)))
    }

    /// A transport whose requests wait their turn.
    pub(super) fn of(&self, transport: Arc<dyn Transport>) -> InTurn {
        let turns = self.clone();
        InTurn { transport, turns }
    }

    /// What comes of a request, once it is its turn.
    async fn take<T>(&self, request: impl Future<Output = T>) -> T {
        let _turn = self.0.acquire().await.expect("nobody closes it");
        request.await
    }
}

/// See [`Turns::of`]. A watch that is open takes no turn.
pub(super) struct InTurn {
    transport: Arc<dyn Transport>,
    turns: Turns,
}

impl Transport for InTurn {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(self.turns.take(self.transport.list(key, at, page)))
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(self.turns.take(self.transport.watch(key, from)))
    }

    fn skew(&self) -> SignedDuration {
        self.transport.skew()
    }

    fn upstream(&self) -> Upstream {
        self.transport.upstream()
    }
}
