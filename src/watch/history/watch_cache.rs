//! Reads the API server's watch cache. A watch from an old revision returns all events since then in one request,
//! oldest first. Unlike reads at exact revisions, events show deletions and short lifetimes.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::{Instant, timeout};

use super::past_event::{PastEvent, Presence};
use super::read::Archive;
use crate::object::ResourceVersion;
use crate::source::{Version, Why};
use crate::watch::backoff::Speed;
use crate::watch::envelope::{Reader, WatchLine, WatchVerb};
use crate::watch::error::SourceError;
use crate::watch::revision::{Revision, RevisionSpan};
use crate::watch::transport::LineStream;

/// One span of waiting for the cache, at least. A single silent span proves nothing: a busy program notices its timer
/// before the bytes that have arrived. Neither does the silence of a busy server: a span is as long as the server
/// took to open the watch.
const LISTEN: Duration = Duration::from_millis(50);
/// How many such spans to wait for an event that must still arrive.
const SPANS_LACKING: u32 = 100;
/// One span of waiting for the first event, if it is unknown whether there is one. A cache sends its events in one go, but
/// a busy server may start late.
const LISTEN_FOR_THE_FIRST: Duration = Duration::from_millis(250);

/// How long a cache must be silent before it counts as read to its end.
#[derive(Clone, Copy, Debug)]
pub(in crate::watch) enum CacheWait {
    /// A user waits for the result: two spans, often a tenth of a second, or half a second before the first
    /// event.
    Short,
    /// Nobody waits for the result: twenty spans, often one second, at this speed.
    Long(Speed),
}

/// Whether an event is known to be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) enum Lacks {
    AnEvent,
    Nothing,
    /// No event has arrived, and there may be none.
    Unknown,
}

#[derive(Clone, Debug)]
pub(in crate::watch) struct CachedEvent {
    pub(in crate::watch) at: Revision,
    pub(in crate::watch) verb: WatchVerb,
    pub(in crate::watch) version: Arc<Version>,
}

impl CachedEvent {
    /// The event as a past event. `there` is the object before it, and then the object after it.
    pub(in crate::watch) fn past(self, there: &mut Presence) -> PastEvent {
        let prev = there.take();
        let why = match self.verb {
            WatchVerb::Deleted => Why::Deleted,
            WatchVerb::Added | WatchVerb::Modified => {
                *there = Some(self.version.clone());
                prev.as_ref().map_or(Why::Added, |_| Why::Modified)
            }
        };
        PastEvent {
            why,
            at: Some(self.at),
            now: self.version,
            prev,
        }
    }
}

/// Why the cache returned no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) enum CacheEnd {
    /// It has only the events after this revision.
    Only(Revision),
    /// It has no events, or an event that must exist did not arrive.
    Never,
    /// The connection broke.
    Broken,
}

pub(in crate::watch) struct WatchCache {
    lines: LineStream,
    reader: Reader,
    quiet: CacheWait,
    /// How long the server took to open the watch.
    opening: Duration,
    /// All events up to this revision have arrived.
    pub(in crate::watch) last: Revision,
    upto: Revision,
}

impl WatchCache {
    /// Requests the events of a span.
    pub(in crate::watch) async fn open(
        archive: &Archive,
        span: RevisionSpan,
        quiet: CacheWait,
    ) -> Result<WatchCache, CacheEnd> {
        let from = ResourceVersion::from(span.after);
        let asked = Instant::now();
        let opened = archive.transport.watch(&archive.key, &from).await;
        Ok(WatchCache {
            opening: asked.elapsed(),
            lines: opened.map_err(|error| CacheEnd::of(&error))?,
            reader: Reader::new(&archive.key),
            quiet,
            last: span.after,
            upto: span.upto,
        })
    }

    /// The next event; `None` after the last.
    pub(in crate::watch) async fn next(
        &mut self,
        lacks: Lacks,
    ) -> Result<Option<CachedEvent>, CacheEnd> {
        while self.last < self.upto {
            let Some(line) = self.line(lacks).await? else {
                return Ok(None);
            };
            let (at, object) = match self.reader.line(&line).map_err(|_| CacheEnd::Never)? {
                WatchLine::Object { verb, item } => {
                    let at = Revision::parse(&item.version.version);
                    (at, Some((verb, item.version)))
                }
                WatchLine::Bookmark(version) => (Revision::parse(&version), None),
                WatchLine::Error(status) if status.code == 410 => {
                    return Err(too_old(&status.message));
                }
                WatchLine::Error(_) => return Err(CacheEnd::Broken),
            };
            let at = at.ok_or(CacheEnd::Never)?;
            let is_new = at > self.last && at <= self.upto;
            self.last = self.last.max(at);
            if let Some((verb, version)) = object.filter(|_| is_new) {
                let version = Arc::new(version);
                return Ok(Some(CachedEvent { at, verb, version }));
            }
        }
        Ok(None)
    }

    /// The next line; `None` if the cache has sent everything.
    async fn line(&mut self, lacks: Lacks) -> Result<Option<bytes::Bytes>, CacheEnd> {
        let (span, enough) = match (self.quiet, lacks) {
            (CacheWait::Short, Lacks::Unknown) => (LISTEN_FOR_THE_FIRST, 2),
            (CacheWait::Short, _) => (LISTEN, 2),
            (CacheWait::Long(speed), _) => (speed.of(LISTEN), 20),
        };
        let span = span.max(self.opening);
        let spans = match lacks {
            Lacks::AnEvent => SPANS_LACKING,
            Lacks::Nothing | Lacks::Unknown => enough,
        };
        for _ in 0..spans {
            if let Ok(line) = timeout(span, self.lines.next()).await {
                return line.and_then(Result::ok).map(Some).ok_or(CacheEnd::Broken);
            }
        }
        match lacks {
            Lacks::AnEvent => Err(CacheEnd::Never),
            Lacks::Nothing | Lacks::Unknown => Ok(None),
        }
    }
}

/// The number in the parentheses of `too old resource version: 5 (1234)`: the oldest revision that a
/// watch can start from
/// (<https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/storage/cacher/watch_cache.go>).
fn named_oldest(message: &str) -> Option<Revision> {
    let (_, tail) = message.rsplit_once('(')?;
    Revision::read(tail.split_once(')')?.0)
}

fn too_old(message: &str) -> CacheEnd {
    named_oldest(message).map_or(CacheEnd::Never, CacheEnd::Only)
}

impl CacheEnd {
    /// Whether the cache lacks the events after a revision.
    pub(in crate::watch) fn is_after(self, begin: Revision) -> bool {
        match self {
            CacheEnd::Only(oldest) => oldest > begin,
            CacheEnd::Never => true,
            CacheEnd::Broken => false,
        }
    }

    /// Why the watch could not be opened. Only a 410 names the oldest revision.
    fn of(error: &SourceError) -> CacheEnd {
        match error {
            SourceError::Expired(error) => too_old(&error.status.message),
            error if error.is_transient() => CacheEnd::Broken,
            _ => CacheEnd::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ApiError, ApiStatus};

    fn api_error(code: u16) -> ApiError {
        ApiError {
            verb: "watch",
            resource: "pods".into(),
            namespace: None,
            status: ApiStatus {
                code,
                reason: String::new(),
                message: "refused (1234)".to_owned(),
            },
        }
    }

    #[test]
    fn the_oldest_revision_is_in_parentheses() {
        for (message, number) in [
            ("too old resource version: 5 (1234)", Some("1234")),
            ("too old resource version: 5", None),
            ("(x)", None),
            ("(12", None),
        ] {
            let read = named_oldest(message).map(|oldest| oldest.to_string());
            assert_eq!(read.as_deref(), number, "{message}");
        }
    }

    #[test]
    fn only_a_410_names_the_oldest_revision() {
        let answered = |code| {
            let error = SourceError::answered(api_error(code), None);
            CacheEnd::of(&error)
        };
        let oldest = Revision::read("1234").expect("a number");
        assert_eq!(answered(410), CacheEnd::Only(oldest));
        for code in [429, 500, 503] {
            assert_eq!(answered(code), CacheEnd::Broken, "{code}");
        }
        for code in [400, 403, 404, 405] {
            assert_eq!(answered(code), CacheEnd::Never, "{code}");
        }
    }
}
