//! What views ask of the past: the walk of one object, and which objects of a listing have one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::read::{Archive, Unread, refused};
use super::revision::Revision;
use super::walk::{End, Limits, Walk, ended};
use crate::object::ObjectRef;
use crate::watch::envelope::Reader;
use crate::watch::event::Version;
use crate::watch::key::SourceKey;
use crate::watch::store::name;
use crate::watch::transport::{At, Page, Upstream};

/// The past of one source.
#[derive(Clone)]
pub struct History {
    archive: Archive,
    page_items: u32,
}

/// A listing then and now.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The revision of then: that of interest, or the oldest that can be read.
    pub then: Revision,
    /// The revision of now.
    pub now: Revision,
    /// How many objects there are now.
    pub count: usize,
    /// Those that have changed, gone or come. What came and went in between is in neither listing.
    pub changed: Vec<ObjectRef>,
}

impl History {
    /// `None` where there is no past: what is read from a file is all there.
    pub(in crate::watch) fn new(archive: Archive, page_items: u32) -> Option<History> {
        let live = archive.transport.upstream() == Upstream::Live;
        live.then_some(History {
            archive,
            page_items,
        })
    }

    /// Which source it is the past of.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.archive.key
    }

    /// A walk back from a version; `None` if its resourceVersion is no revision.
    pub fn before(&self, version: &Arc<Version>, limits: Limits) -> Option<Walk> {
        let at = Revision::parse(&version.version)?;
        let start = (at, Some(version.clone()));
        Some(Walk::new(&self.archive, &version.object, start, limits))
    }

    /// What an object is at a revision, and the walk back from there.
    pub async fn at(
        &self,
        object: &ObjectRef,
        at: Revision,
        limits: Limits,
    ) -> Result<(Option<Arc<Version>>, Walk), End> {
        let there = self.archive.alone(object).object(object, at).await;
        let there = there.map_err(|unread| told(unread, at))?;
        let start = (at, there.clone());
        let walk = Walk::new(&self.archive, object, start, limits);
        Ok((there, walk))
    }

    /// The newest revision.
    pub async fn newest(&self) -> Result<Revision, End> {
        Ok(self.list(1).await?.0)
    }

    /// Compares the listing of now with that of `floor`, or the oldest that can be read.
    pub async fn compare(&self, floor: Revision) -> Result<Comparison, End> {
        let metadata = History {
            archive: self.archive.metadata(),
            ..self.clone()
        };
        let (now, listed) = metadata.list(self.page_items).await?;
        let oldest = self.archive.oldest(floor.min(now), now).await;
        let then = oldest.map_err(|unread| told(unread, now))?;
        let old = metadata.archive.listing(then, self.page_items).await;
        let old = old.map_err(|unread| told(unread, now))?;
        let by_name = |versions: Vec<Arc<Version>>| -> BTreeMap<_, _> {
            let named = versions.into_iter();
            named
                .map(|version| (name(&version.object), version))
                .collect()
        };
        let count = listed.len();
        let (mut old, listed) = (by_name(old), by_name(listed));
        let mut changed = Vec::new();
        for (key, version) in listed {
            let before = old.remove(&key);
            let same = |before: &Arc<Version>| {
                before.version == version.version && before.object.uid == version.object.uid
            };
            if !before.is_some_and(|before| same(&before)) {
                changed.push(version.object.clone());
            }
        }
        changed.extend(old.into_values().map(|gone| gone.object.clone()));
        Ok(Comparison {
            then,
            now,
            count,
            changed,
        })
    }

    /// The newest listing; all pages of it, or one object of `limit` is 1.
    async fn list(&self, limit: u32) -> Result<(Revision, Vec<Arc<Version>>), End> {
        let archive = &self.archive;
        let mut reader = Reader::new(&archive.key);
        let (mut page, mut found) = (Page { limit, next: None }, Vec::new());
        loop {
            let answer = archive.transport.list(&archive.key, At::Latest, page).await;
            let answer = answer.map_err(|error| ended(refused(error)))?;
            for item in &answer.items {
                let version = reader.item(item).map_err(End::NotOffered)?;
                found.push(Arc::new(version));
            }
            page = Page {
                limit,
                next: answer.next,
            };
            if page.next.is_none() || limit == 1 {
                let cause = || End::NotOffered("its resourceVersions are no revisions".into());
                let newest = Revision::parse(&answer.version).ok_or_else(cause)?;
                return Ok((newest, found));
            }
        }
    }
}

/// What is told of a revision that could not be read.
fn told(unread: Unread, at: Revision) -> End {
    match unread {
        Unread::Forgotten => End::Forgotten(at.next()),
        other => ended(other),
    }
}
