//! Reads the past: the versions that an API server still has, one by one at their exact revisions. It has them
//! until it compacts its storage, by default for five to ten minutes.
//!
//! A list with `resourceVersionMatch=Exact` returns the objects at a revision
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>). With
//! `fieldSelector=metadata.name=` the server reads only one key. It needs the permission to list, which a source
//! needs anyway.

mod dates;
mod past_event;
mod read;
mod refusals;
mod replay;
mod request_limit;
#[cfg(test)]
mod tests;
mod versions_before;
mod walk;
mod watch_cache;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::{NamespacedName, ObjectRef};
use crate::source::{SourceKey, Version, Why};
use crate::watch::error::SourceError;
use crate::watch::revision::{Revision, RevisionSpan};
use crate::watch::transport::{Page, RecordedPast, Upstream};
use read::ended;
use replay::{Before, Cached};
use versions_before::VersionsBefore;

pub(super) use dates::leases;
pub use dates::{Dates, Storage, is_surely_before};
pub(super) use past_event::ObjectAt;
pub(crate) use past_event::deleted;
pub use past_event::{ObjectsAt, Past, PastEvent, Presence, in_order};
pub use read::End;
pub(super) use read::{Archive, PastError};
pub use refusals::Refusals;
pub use request_limit::{RequestAllowance, RequestLimit};
pub use versions_before::Missing;
pub use walk::{Walk, WalkLimits};
pub(super) use watch_cache::{CacheEnd, CacheWait, CachedEvent, Lacks, WatchCache};
pub use window::{Changed, Comparison};

/// The past of one source.
#[derive(Clone)]
pub struct History {
    archive: Archive,
}

impl History {
    /// `None` if the source has no past: a file already contains everything.
    pub(in crate::watch) fn new(archive: Archive) -> Option<History> {
        archive.transport.has_past().then(|| History {
            archive: archive.retrying(),
        })
    }

    /// The key of the source.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.archive.key
    }

    /// Limits the number of concurrent requests.
    #[must_use]
    pub fn limited(mut self, limit: &RequestLimit) -> History {
        self.archive = self.archive.limited(limit);
        self
    }

    /// Shares these refusals. It comes after [`History::limited`], because a read that waits for another one takes no turn.
    #[must_use]
    pub fn remembering(mut self, refusals: &Refusals) -> History {
        self.archive = self.archive.remembering(refusals);
        self
    }

    /// The walk back from a version; `None` if its resourceVersion is not a revision.
    pub fn before(&self, version: &Arc<Version>, limits: WalkLimits) -> Option<Walk> {
        let at = Revision::parse(&version.version)?;
        let there = Some(version.clone());
        let start = ObjectAt { at, there };
        Some(Walk::new(&self.archive, &version.object, start, limits))
    }

    /// The walk back from a revision at which an object does not exist.
    pub fn absent(&self, object: &ObjectRef, at: Revision, limits: WalkLimits) -> Walk {
        let start = ObjectAt { at, there: None };
        Walk::new(&self.archive, object, start, limits)
    }

    /// The object as it is now, and the walk back from there.
    pub async fn now(
        &self,
        object: &ObjectRef,
        limits: WalkLimits,
    ) -> Result<(Presence, Walk), End> {
        let now = self.archive.alone(object).object_now(object).await;
        let start = now.map_err(ended)?;
        let there = start.there.clone();
        let walk = Walk::new(&self.archive, object, start, limits);
        Ok((there, walk))
    }

    /// The objects of a source with few of them, as they are now. This makes one request.
    pub async fn listing_now(&self) -> Result<Vec<Arc<Version>>, End> {
        let (_, objects) = self.archive.listing_now().await.map_err(ended)?;
        Ok(objects.into_iter().map(Arc::new).collect())
    }

    /// The first objects of a source as they are now, at most this many. This makes one request.
    pub async fn first_now(&self, limit: u32) -> Result<Vec<Arc<Version>>, End> {
        let page = Page { limit, next: None };
        let (_, objects) = self.archive.page_now(page).await.map_err(ended)?;
        Ok(objects.into_iter().map(Arc::new).collect())
    }

    /// The objects of a source with few of them, and what the server's watch cache tells of their past, each object's oldest
    /// event first. This makes three requests, and one more for each object that changed and is older than the cache.
    pub async fn lately(&self) -> Result<(ObjectsAt, Vec<PastEvent>), End> {
        let (at, objects) = self.archive.listing_now().await.map_err(ended)?;
        let objects = objects.into_iter().map(Arc::new).collect();
        let now = ObjectsAt { at, objects };
        let cached = Cached::read(&self.archive, &now, Revision::FIRST).await;
        let mut before = VersionsBefore::read(&self.archive, &cached, &now)
            .await?
            .known;
        let events = cached.objects.into_iter().flat_map(|(name, events)| {
            let before = before.remove(&name).unwrap_or(Before::Known(None));
            events.past_events(before)
        });
        let events = events.collect();
        Ok((now, events))
    }

    /// Whether there is no server beside the record.
    pub fn is_kept(&self) -> bool {
        self.archive.transport.upstream() == Upstream::Replayable
    }

    /// What a record knows about the source; `None` for a server.
    pub fn recorded(&self) -> Option<&dyn RecordedPast> {
        self.archive.transport.recorded()
    }

    /// Marks the versions that may not be the only ones since the one before: they were written in a hole of the record.
    pub async fn mark_holes(&self, events: &mut [PastEvent]) {
        let Some(recorded) = self.recorded() else {
            return;
        };
        let holes = recorded.holes(self.key()).await;
        for event in events {
            let is_inside = |at| holes.iter().any(|hole| at > hole.after && at <= hole.upto);
            if event.why == Why::Modified && event.at.is_some_and(is_inside) {
                event.why = Why::Skipped;
            }
        }
    }

    /// The error of the last request for the past, if it failed and is repeated.
    pub fn trouble(&self) -> Option<SourceError> {
        self.archive.transport.trouble()
    }

    /// Tells objects that only started or stopped matching the selector from created and deleted ones, as far as the
    /// server's answers show it.
    pub async fn tell_matching(&self, events: &mut [PastEvent]) {
        self.archive.mark_joined_selector(events).await;
        for event in events {
            // After an error it stays a deletion, because the object is no longer visible either way.
            let one = std::slice::from_mut(event);
            let _unknown = self.archive.mark_left_selector(one).await;
        }
    }

    /// The newest revision of the server. This makes one request.
    pub async fn newest(&self) -> Result<Revision, End> {
        self.archive.metadata().newest().await.map_err(ended)
    }

    /// Finds the changes of the source's objects up to `now`. It starts after `floor`, or as far back as the
    /// server's history reaches. Only revisions decide which objects have changed: their `managedFields` may
    /// have times of a client.
    pub async fn compare(&self, now: ObjectsAt, floor: Revision) -> Result<Comparison, End> {
        Comparison::read(&self.archive, now, floor).await
    }

    /// The walks back of the objects that existed after a revision and ended by `upto`, and that revision, or the oldest
    /// one that can be read. `known` has the names whose versions are known from then on. With a revision, they are known
    /// only from their creation at it.
    pub async fn ended(
        &self,
        after: Revision,
        upto: Revision,
        known: &BTreeMap<NamespacedName, Option<Revision>>,
    ) -> Result<(Revision, Vec<Walk>), End> {
        let span = RevisionSpan { after, upto };
        let oldest = self.archive.oldest_metadata(span).await?;
        let limits = WalkLimits {
            floor: oldest.at,
            ..WalkLimits::default()
        };
        let walk = |there: Arc<Version>| {
            let absent = match known.get(&there.object.namespaced_name()) {
                Some(created) => created.filter(|created| *created > oldest.at)?.back(1),
                None => upto,
            };
            let walk = self.absent(&there.object, absent, limits.clone());
            Some(walk.without_watch_cache())
        };
        let walks = oldest.objects.into_iter().filter_map(walk);
        Ok((oldest.at, walks.collect()))
    }
}
