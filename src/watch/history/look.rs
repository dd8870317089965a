//! What views ask of the past of a source: the walk of one object.

use std::sync::Arc;

use jiff::SignedDuration;

use super::end::{End, end};
use super::objects_at::{ObjectAt, ObjectsAt};
use super::past_event::{PastEvent, Presence};
use super::read::{Archive, Unread};
use super::request_limit::RequestLimit;
use super::revision::{Revision, RevisionSpan};
use super::walk::{Limits, Walk};
use crate::object::ObjectRef;
use crate::source::SourceKey;
use crate::source::Version;
use crate::watch::transport::Upstream;

/// The past of one source.
#[derive(Clone)]
pub struct History {
    pub(super) archive: Archive,
    pub(super) page_items: u32,
}

impl History {
    /// `None` where there is no past: what is read from a file is all there.
    pub(in crate::watch) fn new(archive: Archive, page_items: u32) -> Option<History> {
        let live = archive.transport.upstream() == Upstream::Live;
        live.then(|| History {
            archive: archive.patient(),
            page_items,
        })
    }

    /// Which source it is the past of.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.archive.key
    }

    /// How far the server's clock is ahead of this machine's; negative if it is behind.
    pub fn skew(&self) -> SignedDuration {
        self.archive.transport.skew()
    }

    /// The same, under a limit of requests.
    #[must_use]
    pub fn limited(mut self, limit: &RequestLimit) -> History {
        self.archive = self.archive.limited(limit);
        self
    }

    /// A walk back from a version; `None` if its resourceVersion is no revision.
    pub fn before(&self, version: &Arc<Version>, limits: Limits) -> Option<Walk> {
        let at = Revision::parse(&version.version)?;
        let there = Some(version.clone());
        let start = ObjectAt { at, there };
        Some(Walk::new(&self.archive, &version.object, start, limits))
    }

    /// What an object is at a revision, and the walk back from there.
    pub async fn at(
        &self,
        object: &ObjectRef,
        at: Revision,
        limits: Limits,
    ) -> Result<(Presence, Walk), End> {
        let there = self.archive.alone(object).object(object, at).await;
        let there = there.map_err(|unread| end(unread, at))?;
        let start = ObjectAt {
            at,
            there: there.clone(),
        };
        let walk = Walk::new(&self.archive, object, start, limits);
        Ok((there, walk))
    }

    /// Tells what only ceased to match the selector from what was deleted, as far as the server tells.
    pub async fn tell_why(&self, told: &mut [PastEvent]) {
        // What is absent is out of sight, whatever the reason.
        let _unknown = self.archive.tell_why(told).await;
    }

    /// The newest revision.
    pub(super) async fn newest(&self) -> Result<Revision, Unread> {
        self.archive.metadata().newest().await
    }

    /// The oldest listing that can be read of an archive, of the beginning of a span at the oldest, with those
    /// objects of it that are `wanted`. The server may forget it meanwhile.
    pub(super) async fn oldest(
        &self,
        archive: &Archive,
        span: RevisionSpan,
        wanted: &(dyn Fn(&ObjectRef) -> bool + Sync),
    ) -> Result<ObjectsAt, End> {
        let (mut at, now) = (span.after, span.upto);
        loop {
            let oldest = archive.oldest(at, now).await;
            at = oldest.map_err(|unread| end(unread, now))?;
            match archive.listing_of(at, self.page_items, wanted).await {
                Ok(objects) => return Ok(ObjectsAt { at, objects }),
                Err(Unread::Forgotten) if at < now => at = at.next(),
                Err(unread) => return Err(end(unread, now)),
            }
        }
    }

    /// The same of all objects, with their metadata alone.
    pub(super) async fn oldest_metadata(&self, span: RevisionSpan) -> Result<ObjectsAt, End> {
        let metadata = self.archive.metadata();
        self.oldest(&metadata, span, &|_| true).await
    }
}
