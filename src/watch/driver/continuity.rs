//! Checks whether the server still has the history that the source watched.
//!
//! An etcd that was restored from a backup continues from a lower revision. It then writes new versions under
//! revisions that it has used before. kube-apiserver accepts a watch from a future revision, and sends neither
//! events nor bookmarks before it reaches that revision
//! (<https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go>).
//! Such a watch looks healthy, but the writes in between are lost. So each watch, except the one after a listing,
//! comes with a read of the server's newest revision.
//!
//! The evidence is a newest listing with a lower version than one that arrived before. The request for it names
//! no version, so the server confirms it with a quorum of etcd
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>). It is therefore no older
//! than anything that any API server has sent, even if one of several servers behind a load balancer lags. A
//! lower version in a watch is not evidence: servers send events again when a watch resumes, and a server that
//! lags sends bookmarks of its own progress. It is only the reason to check.
//!
//! A restored server may pass the watch's revision before the watch is opened again. Then the newest version in
//! the store is the evidence: the server reads that object at that revision, and returns another write, or no
//! object. This finds no restore if the server has compacted the revision, or if the store holds nothing that was
//! written after the backup.

use std::time::Duration;

use tokio::time::Instant;

use crate::object::ResourceVersion;
use crate::object::managed_fields::newest_time;
use crate::source::Version;
use crate::watch::backoff::Speed;
use crate::watch::error::SourceError;
use crate::watch::history::{Archive, PastError};
use crate::watch::revision::Revision;
use crate::watch::source::SharedSource;
use crate::watch::transport::Upstream;

/// How long one check covers further lower versions.
const ASKED: Duration = Duration::from_secs(10);

/// Whether the history may have changed since the last watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// A listing has just confirmed the server's revision.
    Proven,
    /// A watch has run since the last listing, and the server may have been restored.
    Doubted,
}

/// The progress of a watch.
#[derive(Debug)]
pub(super) struct WatchOrder {
    /// The newest revision; `None` if versions are not revisions, or may arrive in any order.
    newest: Option<Revision>,
    /// The time of the last check for a lower version.
    asked: Option<Instant>,
}

impl WatchOrder {
    pub(super) fn after(from: &ResourceVersion, upstream: Upstream) -> WatchOrder {
        WatchOrder {
            newest: Revision::parse(from).filter(|_| upstream == Upstream::Live),
            asked: None,
        }
    }

    pub(super) fn lower_than_newest(
        &mut self,
        version: &ResourceVersion,
        speed: Speed,
    ) -> Option<Revision> {
        let newest = self.newest?;
        let at = Revision::parse(version)?;
        if at >= newest {
            self.newest = Some(at);
            return None;
        }
        let is_known = |asked: Instant| asked.elapsed() < speed.of(ASKED);
        if self.asked.is_some_and(is_known) {
            return None;
        }
        self.asked = Some(Instant::now());
        Some(newest)
    }
}

/// Whether the server's newest revision is lower than `known`.
pub(super) async fn is_set_back(archive: &Archive, known: Revision) -> Result<bool, SourceError> {
    match archive.metadata().newest().await {
        Ok(newest) => Ok(newest < known),
        Err(PastError::Failed(error)) => Err(error),
        // The server does not answer this question.
        Err(PastError::Forgotten | PastError::NotOffered(_) | PastError::Spent) => Ok(false),
    }
}

/// Whether the newest version in the store is missing from the server's history.
///
/// An error does not count: the server has just served a watch and a listing, so the watch continues.
pub(super) async fn is_overtaken(archive: &Archive, shared: &SharedSource) -> bool {
    let Some((at, held)) = shared.newest_held() else {
        return false;
    };
    let archive = archive.alone(&held.object).metadata();
    let there = archive.object(&held.object, at).await;
    there.is_ok_and(|there| !there.is_some_and(|there| is_same_write(&held, &there)))
}

/// Whether two versions are the same write. Two histories may use one revision for different writes of an object.
/// The times of the writes distinguish them, if both versions have one.
fn is_same_write(held: &Version, there: &Version) -> bool {
    let time = |version: &Version| newest_time(version.doc().ok()?.root());
    let is_another_time =
        matches!((time(held), time(there)), (Some(held), Some(there)) if held != there);
    held.object.uid == there.object.uid && held.version == there.version && !is_another_time
}
