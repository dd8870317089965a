//! The one seam to where objects come from: a cluster, the sandbox, a file, or a test's script.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures::Stream;

use super::error::SourceError;
use super::key::SourceKey;
use crate::object::ResourceVersion;

/// A boxed future, so that [`Transport`] can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The lines of a watch, without their line ends. Ends when the server ends it; an `Err` is the last
/// item. Every line is one watch event: `{"type":…,"object":…}`. Lines longer than 16 MiB are an
/// error, never memory.
pub type LineStream = Pin<Box<dyn Stream<Item = Result<Bytes, SourceError>> + Send>>;

/// At which version a listing is to be read
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest, confirmed by the server's store.
    Latest,
    /// Any that the server has at hand (`resourceVersion=0`).
    Cached,
    /// Exactly this one, while the server still has it.
    Exact(ResourceVersion),
}

/// Which part of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// At most this many items; 0 for all at once.
    pub limit: u32,
    /// Where the last page ended, as the server put it.
    pub next: Option<Arc<str>>,
}

/// One page of a listing.
#[derive(Debug)]
pub struct ListPage {
    /// The version the listing is of: where a watch goes on.
    pub version: ResourceVersion,
    /// The items, each as its own JSON text. Those of built-in kinds lack `apiVersion` and `kind`.
    pub items: Vec<Box<str>>,
    /// The token of the next page; `None` on the last.
    pub next: Option<Arc<str>>,
}

/// Lists and watches. Time limits on the way to an answer (the connection, the headers, a body that
/// has an end) are the transport's; how long a quiet watch is believed in is the driver's.
pub trait Transport: Send + Sync + 'static {
    /// Reads one page of a listing.
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>>;

    /// Opens a watch that starts after `from`.
    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>>;
}
