//! The one seam to where objects come from: a cluster, the sandbox, a file, or a test's script.

use std::fmt;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures::Stream;
use jiff::SignedDuration;

use super::envelope::Reader;
use super::error::SourceError;
use super::history::Revision;
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::Select;
use crate::source::{Scope, SourceKey};

/// How many seconds a watch asks the server to run (`timeoutSeconds`). A transport picks one of them
/// at random for each request, so that the watches of one view do not end together.
pub const WATCH_SECONDS: RangeInclusive<u32> = 240..=300;

/// A boxed future, so that [`Transport`] can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The lines of a watch, without their line ends. Ends when the server ends it; an `Err` is the last
/// item, but for [`SourceError::Decode`] of an [`Upstream::Kept`], which goes on behind what it cannot read. Every line is one watch event: `{"type":…,"object":…}`. Lines longer than 16 MiB are an
/// error, never memory.
pub type LineStream = Pin<Box<dyn Stream<Item = Result<Bytes, SourceError>> + Send>>;

/// How long what has not been read yet can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// As long as the server's history reaches: a reader that is too slow misses some of it.
    Live,
    /// For ever, as in a file: nobody need hurry.
    Kept,
}

/// At which version a listing is to be read
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest, confirmed by the server's store.
    Latest,
    /// Exactly this one, while the server still has it.
    Exact(Revision),
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
pub struct ListPage {
    /// The version the listing is of: where a watch goes on.
    pub version: ResourceVersion,
    /// The items, each as its own JSON text. Those of built-in kinds lack `apiVersion` and `kind`.
    pub items: Vec<Box<str>>,
    /// The token of the next page; `None` on the last.
    pub next: Option<Arc<str>>,
}

/// Leaves out the items: they may be Secrets.
impl fmt::Debug for ListPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListPage")
            .field("version", &self.version)
            .field("items", &self.items.len())
            .field("next", &self.next)
            .finish()
    }
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

    /// Whether the object, with the uid it had, is there in any state. Asked when a `DELETED` may also
    /// mean that the object no longer matches a selector.
    fn exists<'a>(
        &'a self,
        key: &'a SourceKey,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<bool, SourceError>> {
        let alone = SourceKey {
            scope: object
                .namespace
                .clone()
                .map_or(Scope::Cluster, Scope::Namespace),
            select: Select::Name(object.name.clone()),
            ..key.clone()
        };
        Box::pin(async move {
            let page = self.list(&alone, At::Latest, Page::default()).await?;
            let mut reader = Reader::new(&alone);
            for item in &page.items {
                let there = reader
                    .item(item)
                    .map_err(|detail| SourceError::Decode { detail })?;
                if there.object.uid == object.uid {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// How far the server's clock is ahead of this machine's; negative if it is behind, zero if both agree or
    /// nothing tells. Its answers show it.
    fn skew(&self) -> SignedDuration {
        SignedDuration::ZERO
    }

    /// Whether slow readers can be waited for.
    fn upstream(&self) -> Upstream {
        Upstream::Live
    }
}
