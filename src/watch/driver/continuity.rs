//! Whether the server's history still is the one that was watched.
//!
//! An etcd that is restored from a backup counts on from a lower revision, and writes other versions under
//! numbers that were given out before. kube-apiserver takes a watch from a revision that it has not come
//! to, and sends neither events nor bookmarks until it has
//! (<https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go>):
//! the watch looks healthy, and what is written meanwhile is lost. So with each watch that is opened, but
//! the one after a listing, the server is asked how far it has come.
//!
//! The evidence is a newest listing with a lower version than one that was seen. Such a listing asks for
//! no version, so that the server confirms it with a quorum of etcd
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>): it is no older than
//! anything that any API server has sent, even where several stand behind a load balancer and one lags.
//! A lower version in a watch alone is none: what was sent may be sent again when a watch resumes, and a
//! server that lags bookmarks what it has. It is the reason to ask.
//!
//! A restored server may have passed the revision that the watch had come to before the watch is opened again.
//! Then the newest version that the source holds is the evidence: the server reads its object at that revision,
//! and answers with another write, or with none. This shows no restore if the server has compacted that revision,
//! or if the source holds nothing that was written after the backup.

use std::time::Duration;

use tokio::time::Instant;

use crate::object::ResourceVersion;
use crate::watch::backoff::Speed;
use crate::watch::error::SourceError;
use crate::watch::history::{Archive, Revision, Unread};
use crate::watch::transport::Upstream;

/// How long an answer counts for the lower versions that follow.
const ASKED: Duration = Duration::from_secs(10);

/// Whether a watch that is opened goes on where the last one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// A listing has just shown where the server is.
    Proven,
    /// There was a watch since, and the server may have been restored.
    Doubted,
}

/// How far a watch has come.
#[derive(Debug)]
pub(super) struct WatchOrder {
    /// The newest revision; `None` where versions are no revisions, or may come in any order.
    newest: Option<Revision>,
    /// When a lower one was last looked into.
    asked: Option<Instant>,
}

impl WatchOrder {
    /// Of a watch that starts here.
    pub(super) fn after(from: &ResourceVersion, upstream: Upstream) -> WatchOrder {
        WatchOrder {
            newest: Revision::parse(from).filter(|_| upstream == Upstream::Live),
            asked: None,
        }
    }

    /// The newest revision if this one is lower and that has to be looked into.
    pub(super) fn is_back(&mut self, version: &ResourceVersion, pace: Speed) -> Option<Revision> {
        let newest = self.newest?;
        let at = Revision::parse(version)?;
        if at >= newest {
            self.newest = Some(at);
            return None;
        }
        let is_known = |asked: Instant| asked.elapsed() < pace.of(ASKED);
        if self.asked.is_some_and(is_known) {
            return None;
        }
        self.asked = Some(Instant::now());
        Some(newest)
    }
}

/// Whether the server has come less far than this.
pub(super) async fn is_set_back(archive: &Archive, known: Revision) -> Result<bool, SourceError> {
    match archive.metadata().newest().await {
        Ok(newest) => Ok(newest < known),
        Err(Unread::Failed(error)) => Err(error),
        // Nobody will tell.
        Err(Unread::Forgotten | Unread::NotOffered(_) | Unread::Spent) => Ok(false),
    }
}
