//! How much of a server's past is asked for at a time.

use std::sync::Arc;

use jiff::SignedDuration;
use tokio::sync::Semaphore;

use crate::object::ResourceVersion;
use crate::source::SourceKey;
use crate::watch::error::SourceError;
use crate::watch::transport::{At, BoxFuture, LineStream, ListPage, Page, Transport, Upstream};

/// Bounds how many requests are under way at a time, of all that share it. The others wait, and come in order.
#[derive(Clone, Debug)]
pub struct RequestLimit(Arc<Semaphore>);

impl RequestLimit {
    /// So many requests at a time.
    pub fn new(at_once: usize) -> RequestLimit {
        RequestLimit(Arc::new(Semaphore::new(at_once)))
    }

    /// The same transport, under this limit.
    pub(super) fn over(&self, transport: Arc<dyn Transport>) -> LimitedTransport {
        let limit = self.clone();
        LimitedTransport { transport, limit }
    }

    /// The answer to a request, which waits until it is its turn.
    async fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        let _turn = self.0.acquire().await.expect("nobody closes it");
        request.await
    }
}

/// See [`RequestLimit::over`]. A watch that is open does not count.
pub(super) struct LimitedTransport {
    transport: Arc<dyn Transport>,
    limit: RequestLimit,
}

impl Transport for LimitedTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(self.limit.wait(self.transport.list(key, at, page)))
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(self.limit.wait(self.transport.watch(key, from)))
    }

    fn skew(&self) -> SignedDuration {
        self.transport.skew()
    }

    fn upstream(&self) -> Upstream {
        self.transport.upstream()
    }
}
