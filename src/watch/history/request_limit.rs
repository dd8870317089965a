//! Limits the requests for the past: how many run at the same time, and how many there are in all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::BoxFuture;
use tokio::sync::Semaphore;

use crate::object::ResourceVersion;
use crate::source::SourceKey;
use crate::watch::error::SourceError;
use crate::watch::transport::{At, LineStream, ListPage, Page, Transport};

/// Limits the concurrent requests of all its users. Further requests wait, in order.
#[derive(Clone, Debug)]
pub struct RequestLimit(Arc<Semaphore>);

impl RequestLimit {
    /// Allows this many requests at the same time.
    pub fn new(at_once: usize) -> RequestLimit {
        RequestLimit(Arc::new(Semaphore::new(at_once)))
    }

    pub(super) fn over(&self, transport: Arc<dyn Transport>) -> LimitedTransport {
        let limit = self.clone();
        LimitedTransport { transport, limit }
    }

    /// Runs a request when the limit allows it.
    async fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        let _turn = self
            .0
            .acquire()
            .await
            .expect("the semaphore is never closed");
        request.await
    }
}

/// A number of requests that several walks may make together.
#[derive(Clone, Debug)]
pub struct RequestAllowance(Arc<AtomicU32>);

impl RequestAllowance {
    /// Allows this many requests.
    pub fn new(requests: u32) -> RequestAllowance {
        RequestAllowance(Arc::new(AtomicU32::new(requests)))
    }

    /// Takes so many requests from the allowance. Returns whether they were left.
    pub fn take(&self, requests: u32) -> bool {
        let less = |left: u32| left.checked_sub(requests);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.is_ok()
    }

    /// Puts requests back that were taken and not made.
    pub fn put_back(&self, requests: u32) {
        self.0.fetch_add(requests, Ordering::Relaxed);
    }
}

/// The transport that [`RequestLimit::over`] returns. Only the opening of a watch counts as a request.
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

    fn below(&self) -> Option<&dyn Transport> {
        Some(&*self.transport)
    }
}
