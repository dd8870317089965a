//! The interface to every origin of objects: a cluster, the sandbox, a file, or a test's script.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use jiff::Timestamp;

use super::envelope::Reader;
use super::error::SourceError;
use super::revision::{Between, Revision};
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::SourceKey;
use crate::source::log::{LogRefusal, LogRequest};

/// How many seconds a watch asks the server to run (`timeoutSeconds`). A transport picks a random value for each
/// request, so that the watches of one view do not end together.
pub const WATCH_SECONDS: RangeInclusive<u32> = 240..=300;

/// The lines of a watch, without their line ends. It ends when the server ends the watch. An `Err` is the last
/// item, with one exception: an [`Upstream::Replayable`] continues after a [`SourceError::Decode`]. Every line is one
/// watch event: `{"type":…,"object":…}`. A line longer than 16 MiB is an error and is not kept in memory.
pub type LineStream = BoxStream<'static, Result<Bytes, SourceError>>;

/// The answer to a request for a log.
pub enum LogAnswer {
    /// The bytes of the log, each line with its time. An error ends them.
    Bytes(BoxStream<'static, Result<Bytes, Arc<str>>>),
    /// The Pod has no node, so there is no log (204).
    Unscheduled,
}

/// How long an unread event stays available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// As long as the server's history keeps it: a slow reader misses events.
    Live,
    /// For ever, as in a file: a reader may be slow.
    Replayable,
}

/// The version at which to read a listing
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest version, confirmed by the server's storage.
    Latest,
    /// Exactly this version, while the server still has it.
    Exact(Revision),
}

/// A part of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// At most this many items; 0 for all items.
    pub limit: u32,
    /// The server's continue token of the last page.
    pub next: Option<Arc<str>>,
}

/// One page of a listing.
pub struct ListPage {
    /// The version of the listing. A watch continues from it.
    pub version: ResourceVersion,
    /// The items, each as its own JSON text: parts of the server's response, which they keep in memory. Items of built-in
    /// kinds have no `apiVersion` and no `kind`.
    pub items: Vec<Bytes>,
    /// The continue token of the next page; `None` on the last page.
    pub next: Option<Arc<str>>,
}

/// Leaves out the items, because they may be Secrets.
impl fmt::Debug for ListPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListPage")
            .field("version", &self.version)
            .field("items", &self.items.len())
            .field("next", &self.next)
            .finish()
    }
}

/// A part of a history that is not known: the revisions after `after`, up to `upto`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The last recorded revision before it.
    pub after: Revision,
    /// The first recorded revision after it.
    pub upto: Revision,
    /// When it begins, by the server's clock.
    pub since: Timestamp,
    /// When it ends.
    pub until: Timestamp,
    /// Why it is there: `FILE cannot be read: CAUSE`, or what became of the recorder that ran. `None` if nobody recorded.
    pub cause: Option<Arc<str>>,
}

/// The beginning of the record of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordBegin {
    /// When it begins, by the server's clock.
    pub since: Timestamp,
    /// Why what was recorded before cannot be read; `None` if nobody recorded before.
    pub unread: Option<Arc<str>>,
}

/// What a record knows about the past of its sources, and a server does not. Each answer may need a look into files.
pub trait RecordedPast: Send + Sync {
    /// When the record of a source begins; `None` if it is not recorded.
    fn begin<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Option<RecordBegin>>;

    /// The revision with which the record of a source begins; `None` if it is not recorded.
    fn oldest<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Option<Revision>>;

    /// The holes in the record of a source, the oldest first. A list inside a hole returns the state before it.
    fn holes<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Vec<Hole>>;

    /// When a revision of a source was written; `None` if it is not recorded.
    fn time_of<'a>(&'a self, key: &'a SourceKey, at: Revision) -> BoxFuture<'a, Option<Between>>;

    /// A revision of a source from before a time, close to it; `None` if the record begins later.
    fn before<'a>(&'a self, key: &'a SourceKey, time: Timestamp)
    -> BoxFuture<'a, Option<Revision>>;
}

/// Lists and watches objects. The transport sets the time limits up to an answer: for the connection, the
/// headers, and a body that has an end. The driver decides how long a watch may stay silent.
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

    /// Whether the object with this uid still exists, in any state. The driver asks this when a `DELETED` event
    /// may also mean that the object no longer matches a selector.
    fn exists<'a>(
        &'a self,
        key: &'a SourceKey,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<bool, SourceError>> {
        let alone = key.of_object(object);
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

    /// Opens the log of a container. A line that does not begin with a time is an error of the node.
    fn log<'a>(&'a self, _request: &'a LogRequest) -> BoxFuture<'a, Result<LogAnswer, LogRefusal>> {
        let text = "error: logs need a cluster".into();
        Box::pin(std::future::ready(Err(LogRefusal { code: 405, text })))
    }

    /// The transport below, if it only changes how requests are made. Then it has the properties of that one.
    fn below(&self) -> Option<&dyn Transport> {
        None
    }

    /// The error of the last request, if it failed and is repeated. Only a transport that repeats requests has one.
    fn trouble(&self) -> Option<SourceError> {
        self.below()?.trouble()
    }

    /// Whether the source can wait for slow readers without losing events.
    fn upstream(&self) -> Upstream {
        self.below().map_or(Upstream::Live, Transport::upstream)
    }

    /// Whether it has old versions ([`At::Exact`]).
    fn has_past(&self) -> bool {
        match self.below() {
            Some(below) => below.has_past(),
            None => self.upstream() == Upstream::Live,
        }
    }

    /// What a record knows about its past; `None` for a server, which knows no times.
    fn recorded(&self) -> Option<&dyn RecordedPast> {
        self.below()?.recorded()
    }
}
