//! The version of each object before its first event in the watch cache. That event is compared with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{StreamExt, stream};

use super::past_event::ObjectsAt;
use super::read::{Archive, End, PastError, end};
use super::replay::{Before, Cached};
use crate::object::{NamespacedName, ObjectRef};
use crate::source::Version;
use crate::watch::error::SourceError;
use crate::watch::revision::{Revision, RevisionSpan};

/// How many objects are read at the same time.
const AT_ONCE: usize = 8;
/// How many single reads cost the server as much as one page of a list. One list may occupy ten of the seats that
/// a server has for all clients
/// (<https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#seats-occupied-by-a-request>).
const READS_A_PAGE: usize = 10;

/// The versions that were read.
#[derive(Default)]
pub(super) struct VersionsBefore {
    /// By name, without the objects that their first event created.
    pub(super) known: BTreeMap<NamespacedName, Before>,
    /// The newest first event whose version before is compacted.
    pub(super) forgotten: Option<Revision>,
    /// The objects that could not be read because a request failed.
    pub(super) missing: Vec<Missing>,
}

/// An object with missing versions, because a request failed.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The object.
    pub object: ObjectRef,
    /// The error.
    pub cause: SourceError,
}

type First<'c> = (&'c ObjectRef, Revision);

impl VersionsBefore {
    /// Reads the version of each object before its first event.
    pub(super) async fn read(
        archive: &Archive,
        cached: &Cached,
        now: &ObjectsAt,
    ) -> Result<VersionsBefore, End> {
        let wanted: Vec<First<'_>> = cached
            .objects
            .values()
            .filter(|events| events.follow_a_version())
            .filter_map(|events| Some((events.object()?, events.first()?)))
            .collect();
        let page = usize::try_from(archive.page_items).unwrap_or(usize::MAX);
        let pages = now.objects.len().div_ceil(page.max(1));
        let pages = if page == 0 { 1 } else { pages.max(1) };
        if wanted.len() > pages * READS_A_PAGE {
            let span = RevisionSpan {
                after: cached.reaches,
                upto: now.at,
            };
            VersionsBefore::in_one_list(archive, &wanted, span).await
        } else {
            VersionsBefore::one_by_one(archive, &wanted).await
        }
    }

    /// Reads each object at the revision before its first event.
    async fn one_by_one(archive: &Archive, wanted: &[First<'_>]) -> Result<VersionsBefore, End> {
        let reads = wanted.iter().map(|&(object, at)| async move {
            let before = archive.alone(object);
            (object, at, before.object(object, at.back(1)).await)
        });
        let reads: Vec<_> = reads.collect();
        let mut reads = stream::iter(reads).buffered(AT_ONCE);
        let mut found = VersionsBefore::default();
        while let Some((object, at, read)) = reads.next().await {
            let before = match read {
                Ok(there) => Before::Known(there),
                Err(PastError::Failed(cause)) => {
                    let object = object.clone();
                    found.missing.push(Missing { object, cause });
                    Before::Unread
                }
                Err(PastError::Forgotten | PastError::Spent) => {
                    found.forgotten = found.forgotten.max(Some(at));
                    Before::Unread
                }
                Err(not_offered @ PastError::NotOffered(_)) => return Err(end(not_offered, at)),
            };
            found.known.insert(object.namespaced_name(), before);
        }
        Ok(found)
    }

    /// Reads all of them with one list: at the start of the watch cache, or at the oldest revision after it.
    async fn in_one_list(
        archive: &Archive,
        wanted: &[First<'_>],
        span: RevisionSpan,
    ) -> Result<VersionsBefore, End> {
        let names: BTreeSet<NamespacedName> = wanted
            .iter()
            .map(|(object, _)| object.namespaced_name())
            .collect();
        let is_wanted = |object: &ObjectRef| names.contains(&object.namespaced_name());
        let oldest = archive.oldest_listing(span, &is_wanted).await?;
        let (at, listed) = (oldest.at, oldest.objects);
        let listed = listed
            .into_iter()
            .map(|there| (there.object.namespaced_name(), there));
        let mut listed: BTreeMap<NamespacedName, Arc<Version>> = listed.collect();
        let mut found = VersionsBefore::default();
        for &(object, first) in wanted {
            let name = object.namespaced_name();
            let there = listed.remove(&name);
            let before = if first > at {
                Before::Known(there)
            } else {
                found.forgotten = found.forgotten.max(Some(first));
                Before::Unread
            };
            found.known.insert(name, before);
        }
        Ok(found)
    }
}
