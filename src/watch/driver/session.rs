//! One watch, from its opening to its end. Each line is stored before the next is read.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use tokio::time::{Instant, timeout, timeout_at};

use super::continuity::{WatchOrder, is_set_back};
use crate::cluster::{ApiError, ApiStatus};
use crate::object::ResourceVersion;
use crate::source::{SourceKey, SourceState, Why};
use crate::watch::backoff::Speed;
use crate::watch::envelope::{Item, Reader, WatchLine, WatchVerb};
use crate::watch::error::SourceError;
use crate::watch::history::Archive;
use crate::watch::source::SharedSource;
use crate::watch::transport::{LineStream, Upstream};

/// How long a server that sends bookmarks (one per minute) may be silent.
const IDLE: Duration = Duration::from_secs(90);
/// How long a watch without any bookmark may be silent. kube-apiserver sends its first bookmark after a minute,
/// and HTTP/1.1 has no other way to check the connection. Other servers send no bookmarks, so their silence is no
/// evidence of a failure: another watch continues from the same version.
const UNPROVEN: Duration = Duration::from_secs(75);

#[derive(Debug)]
pub(super) enum WatchEnd {
    /// The server closed it, as it does after `timeoutSeconds`. Or it was silent for long, which is no evidence
    /// of a failure.
    Closed,
    /// The server's history was restored.
    Restored,
    /// A line could not be parsed.
    Unreadable(Arc<str>),
    /// Any other error.
    Failed(SourceError),
}

/// The state that one watch uses.
pub(super) struct WatchSession<'a> {
    pub(super) shared: &'a SharedSource,
    pub(super) archive: &'a Archive,
    pub(super) reader: &'a mut Reader,
    /// Whether the server has ever sent a bookmark.
    pub(super) bookmarks: &'a mut bool,
    /// The progress of the watch, to notice lower versions.
    pub(super) order: WatchOrder,
    /// The end of the trial. Until then the source is not live, unless a line proves that it is.
    pub(super) trial: Option<Instant>,
    pub(super) speed: Speed,
}

impl WatchSession<'_> {
    pub(super) async fn read(&mut self, mut lines: LineStream) -> WatchEnd {
        loop {
            // Without this, a stream that always has a line ready would block the thread.
            tokio::task::consume_budget().await;
            let line = match self.next(&mut lines).await {
                None => return WatchEnd::Closed,
                // A file does not change: reading it again would fail at the same place.
                Some(Err(SourceError::Decode { detail })) if self.is_kept() => {
                    self.shared.undecodable(detail);
                    continue;
                }
                Some(Err(SourceError::Decode { detail })) => return WatchEnd::Unreadable(detail),
                Some(Err(error)) => return WatchEnd::Failed(error),
                Some(Ok(line)) => line,
            };
            match self.reader.line(&line) {
                Err(detail) if self.is_kept() => self.shared.undecodable(detail),
                Err(detail) => return WatchEnd::Unreadable(detail),
                Ok(WatchLine::Error(status)) => {
                    return WatchEnd::Failed(refusal(&self.shared.key, status));
                }
                Ok(WatchLine::Bookmark(version)) => {
                    if let Some(end) = self.doubt(&version).await {
                        return end;
                    }
                    self.prove();
                    *self.bookmarks = true;
                    self.shared.bookmark(version);
                }
                Ok(WatchLine::Object { verb, item }) => {
                    if let Some(end) = self.doubt(&item.version.version).await {
                        return end;
                    }
                    self.prove();
                    if let Err(error) = self.take_in(verb, item).await {
                        return WatchEnd::Failed(error);
                    }
                    self.shared.settle().await;
                }
            }
        }
    }

    /// Checks a version that is lower than an earlier one. The server may have sent it again, or its history was
    /// restored. Returns the end of the watch after a restore, or if the check fails.
    async fn doubt(&mut self, version: &ResourceVersion) -> Option<WatchEnd> {
        let newest = self.order.lower_than_newest(version, self.speed)?;
        match is_set_back(self.archive, newest).await {
            Ok(true) => Some(WatchEnd::Restored),
            Ok(false) => None,
            Err(error) => Some(WatchEnd::Failed(error)),
        }
    }

    /// The next line. A healthy watch may be silent for long, so a watch without an error until the end of its
    /// trial has passed it.
    async fn next(&mut self, lines: &mut LineStream) -> Option<Result<Bytes, SourceError>> {
        if let Some(until) = self.trial {
            if let Ok(line) = timeout_at(until, lines.next()).await {
                return line;
            }
            self.prove();
        }
        let after = self.speed.of(if *self.bookmarks { IDLE } else { UNPROVEN });
        match timeout(after, lines.next()).await {
            Ok(line) => line,
            Err(_) if *self.bookmarks => Some(Err(SourceError::Idle { after })),
            Err(_) => None,
        }
    }

    fn is_kept(&self) -> bool {
        self.archive.transport.upstream() == Upstream::Replayable
    }

    /// Ends the trial: the source is live.
    fn prove(&mut self) {
        if self.trial.take().is_some() {
            self.shared.set_state(SourceState::Live);
        }
    }

    async fn take_in(&mut self, verb: WatchVerb, item: Item) -> Result<(), SourceError> {
        if self.shared.was_seen(verb, &item.version) {
            return Ok(());
        }
        match verb {
            WatchVerb::Added | WatchVerb::Modified => self.shared.put(verb, item.version),
            WatchVerb::Deleted => {
                let why = self.why_deleted(&item).await?;
                self.shared.remove(why, item.version);
            }
        }
        Ok(())
    }

    /// Why an object was deleted. A source with a selector also gets `DELETED` when an object stops matching; the
    /// body is then the last state that matched
    /// (<https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go>).
    async fn why_deleted(&self, item: &Item) -> Result<Why, SourceError> {
        let key = &self.shared.key;
        if item.deleting || !key.select.can_leave() {
            return Ok(Why::Deleted);
        }
        match self
            .archive
            .transport
            .exists(key, &item.version.object)
            .await
        {
            Ok(true) => Ok(Why::LeftSelector),
            Ok(false) => Ok(Why::Deleted),
            // The server does not answer this: it is only known that the object is no longer visible.
            Err(
                SourceError::Forbidden(_)
                | SourceError::NotServed(_)
                | SourceError::MethodNotAllowed(_)
                | SourceError::Rejected(_),
            ) => Ok(Why::Vanished),
            // The watch resumes before the event, so the question is asked again.
            Err(error) => Err(error),
        }
    }
}

fn refusal(key: &SourceKey, status: ApiStatus) -> SourceError {
    let error = ApiError {
        verb: "watch",
        resource: key.resource.group_resource().into(),
        namespace: key.namespace().map(Into::into),
        status,
    };
    SourceError::answered(error, None)
}
