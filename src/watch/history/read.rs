//! Reads one object, or a whole listing, at a revision.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::past_event::{ObjectAt, ObjectsAt};
use super::refusals::Refusals;
use super::request_limit::RequestLimit;
use crate::object::ObjectRef;
use crate::source::{Form, Packer, SourceKey, Version};
use crate::watch::envelope::Reader;
use crate::watch::error::SourceError;
use crate::watch::pages::{NextPage, Pages};
use crate::watch::retrying_transport::{RetryingTransport, ServerPast};
use crate::watch::revision::{Revision, RevisionSpan};
use crate::watch::transport::{At, ListPage, Page, Transport};

/// How long requests are retried while the server answers nothing.
const STALL: Duration = Duration::from_secs(12);

/// How many revisions of one object, or of one source, a search reads side by side. It divides the span in as many
/// parts and one: a server far away answers them all in the time of one request.
pub(super) const PROBES: u32 = 4;

/// Why a part of the past could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::watch) enum PastError {
    /// The server has compacted it (410).
    Forgotten,
    /// The source has no look-back: the server keeps no versions of this resource, or refuses to return them.
    NotOffered(Arc<str>),
    /// The request failed. A later one may succeed.
    Failed(SourceError),
    /// The permitted number of requests is used up.
    Spent,
}

/// The past of a source, and how to read it.
#[derive(Clone)]
pub(in crate::watch) struct Archive {
    pub(in crate::watch) transport: Arc<dyn Transport>,
    pub(in crate::watch) compacted: Arc<ServerPast>,
    pub(in crate::watch) key: Arc<SourceKey>,
    /// How many objects a page of a listing has; 0 for all of them.
    pub(in crate::watch) page_items: u32,
}

impl Archive {
    /// The archive of one object, by its namespace and name, so that the server reads one key.
    pub(in crate::watch) fn alone(&self, object: &ObjectRef) -> Archive {
        self.with_key(SourceKey {
            select: self.key.select.and_name(&object.name),
            ..self.key.of_object(object)
        })
    }

    /// The archive of one object without the other selectors, which also has the object when it does not match
    /// them.
    pub(in crate::watch) fn unselected(&self, object: &ObjectRef) -> Archive {
        self.with_key(self.key.of_object(object))
    }

    /// The archive with only the metadata of each object.
    pub(in crate::watch) fn metadata(&self) -> Archive {
        self.with_key(SourceKey {
            form: Form::Metadata,
            ..(*self.key).clone()
        })
    }

    fn with_key(&self, key: SourceKey) -> Archive {
        Archive {
            key: Arc::new(key),
            ..self.clone()
        }
    }

    /// The archive with requests that are retried while the server is in trouble.
    pub(super) fn retrying(self) -> Archive {
        Archive {
            transport: Arc::new(
                RetryingTransport::new(self.transport, STALL).of_past(self.compacted.clone()),
            ),
            ..self
        }
    }

    pub(super) fn limited(self, limit: &RequestLimit) -> Archive {
        Archive {
            transport: Arc::new(limit.over(self.transport)),
            ..self
        }
    }

    pub(super) fn remembering(self, refusals: &Refusals) -> Archive {
        Archive {
            transport: Arc::new(refusals.over(self.transport)),
            ..self
        }
    }

    /// The archive with listings of one page.
    pub(super) fn in_one_page(self) -> Archive {
        Archive {
            page_items: 0,
            ..self
        }
    }

    /// All objects of the source at a revision.
    pub(in crate::watch) async fn listing(
        &self,
        at: Revision,
    ) -> Result<Vec<Arc<Version>>, PastError> {
        self.listing_of(at, &|_| true).await
    }

    async fn listing_of(
        &self,
        at: Revision,
        wanted: &(dyn Fn(&ObjectRef) -> bool + Sync),
    ) -> Result<Vec<Arc<Version>>, PastError> {
        let mut reader = Reader::new(&self.key);
        let (mut found, mut packer) = (Vec::new(), None);
        let mut pages = Pages::of(&self.key, self.page_items);
        loop {
            let mut answer = self.page(at, pages.wanted()).await?;
            let further = pages.take(&mut answer).map_err(refused)?;
            if further == NextPage::More {
                packer.get_or_insert_with(Packer::new);
            }
            for item in &answer.items {
                let version = version(&mut reader, item, at)?;
                if wanted(&version.object) {
                    found.push(version.kept(packer.as_mut()));
                }
            }
            if further == NextPage::End {
                return Ok(found);
            }
        }
    }

    /// Whether a revision can be read. It uses the cheapest request that shows this.
    async fn can_read(&self, at: Revision) -> Result<(), PastError> {
        let one = Page {
            limit: 1,
            next: None,
        };
        self.metadata().page(at, one).await.map(drop)
    }

    pub(in crate::watch) async fn newest(&self) -> Result<Revision, PastError> {
        let one = Page {
            limit: 1,
            next: None,
        };
        let page = self.transport.list(&self.key, At::Latest, one).await;
        newest(&page.map_err(refused)?)
    }

    async fn page(&self, at: Revision, page: Page) -> Result<ListPage, PastError> {
        let resource = &self.key.resource;
        if self
            .compacted
            .forgotten(resource)
            .is_some_and(|forgotten| at <= forgotten)
        {
            return Err(PastError::Forgotten);
        }
        match self.transport.list(&self.key, At::Exact(at), page).await {
            // A server that does not support `resourceVersionMatch` returns the current objects.
            Ok(page) if Revision::parse(&page.version) != Some(at) => Err(PastError::NotOffered(
                "the server keeps no old versions".into(),
            )),
            Ok(page) => Ok(page),
            Err(SourceError::Expired(_)) => {
                self.compacted.forget(resource, at);
                Err(PastError::Forgotten)
            }
            Err(error) => Err(refused(error)),
        }
    }

    /// The oldest readable revision from `low` on; `high` must be readable. One hour of a busy cluster takes about
    /// seven times [`PROBES`] requests.
    pub(in crate::watch) async fn oldest(
        &self,
        low: Revision,
        high: Revision,
    ) -> Result<Revision, PastError> {
        let mut forgotten = match self.can_read(low).await {
            Ok(()) => return Ok(low),
            Err(PastError::Forgotten) => low,
            Err(other) => return Err(other),
        };
        let mut readable = high;
        if let Some(known) = self.compacted.forgotten(&self.key.resource) {
            forgotten = forgotten.max(known);
        }
        loop {
            let between = Revision::between(forgotten, readable, PROBES.into());
            if between.is_empty() {
                return Ok(readable);
            }
            let reads = between.iter().map(|at| self.can_read(*at));
            for (at, read) in between.iter().zip(join_all(reads).await) {
                match read {
                    Ok(()) => readable = *at,
                    Err(PastError::Forgotten) => {
                        forgotten = *at;
                        break;
                    }
                    Err(other) => return Err(other),
                }
            }
        }
    }

    /// The oldest listing that can be read, at the start of a span or later. Only the `wanted` objects are kept. The
    /// server may compact it during the read, so this tries newer ones.
    pub(super) async fn oldest_listing(
        &self,
        span: RevisionSpan,
        wanted: &(dyn Fn(&ObjectRef) -> bool + Sync),
    ) -> Result<ObjectsAt, End> {
        let (mut at, now) = (span.after, span.upto);
        loop {
            let oldest = self.oldest(at, now).await;
            at = oldest.map_err(|unread| end(unread, now))?;
            match self.listing_of(at, wanted).await {
                Ok(objects) => return Ok(ObjectsAt { at, objects }),
                Err(PastError::Forgotten) if at < now => at = at.next(),
                Err(unread) => return Err(end(unread, now)),
            }
        }
    }

    /// The oldest listing of all objects, with their metadata only.
    pub(super) async fn oldest_metadata(&self, span: RevisionSpan) -> Result<ObjectsAt, End> {
        self.metadata().oldest_listing(span, &|_| true).await
    }

    /// The one object of this archive now, and the server's newest revision.
    pub(super) async fn object_now(&self, object: &ObjectRef) -> Result<ObjectAt, PastError> {
        let (at, there) = self.listing_now().await?;
        let mut there = there.into_iter().map(Arc::new);
        let there = there.find(|there| is_named(there, object));
        Ok(ObjectAt { at, there })
    }

    /// The objects of a short listing now, and the server's newest revision.
    pub(super) async fn listing_now(&self) -> Result<(Revision, Vec<Version>), PastError> {
        self.page_now(Page::default()).await
    }

    /// A part of a listing now, and the server's newest revision.
    pub(super) async fn page_now(&self, page: Page) -> Result<(Revision, Vec<Version>), PastError> {
        let page = self.transport.list(&self.key, At::Latest, page);
        let page = page.await.map_err(refused)?;
        let at = newest(&page)?;
        let mut reader = Reader::new(&self.key);
        let there = page.items.iter().map(|item| version(&mut reader, item, at));
        Ok((at, there.collect::<Result<_, _>>()?))
    }

    pub(in crate::watch) async fn object(
        &self,
        object: &ObjectRef,
        at: Revision,
    ) -> Result<Option<Arc<Version>>, PastError> {
        let there = self.clone().in_one_page().listing(at).await?;
        Ok(there.into_iter().find(|there| is_named(there, object)))
    }
}

fn is_named(there: &Version, object: &ObjectRef) -> bool {
    there.object.name == object.name && there.object.namespace == object.namespace
}

fn newest(page: &ListPage) -> Result<Revision, PastError> {
    Revision::parse(&page.version)
        .ok_or_else(|| PastError::NotOffered("its resourceVersions are not numbers".into()))
}

fn version(reader: &mut Reader, item: &[u8], at: Revision) -> Result<Version, PastError> {
    let version = reader.item(item).map_err(PastError::NotOffered)?;
    match Revision::parse(&version.version) {
        Some(own) if own <= at => Ok(version),
        _ => Err(PastError::NotOffered(
            "its resourceVersions are not numbers".into(),
        )),
    }
}

/// The reason for a response that is neither a listing nor a 410.
fn refused(error: SourceError) -> PastError {
    match error {
        SourceError::Expired(_) => PastError::Forgotten,
        error if error.is_transient() => PastError::Failed(error),
        error => PastError::NotOffered(error.to_string().into()),
    }
}

/// Why a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It reached its oldest revision.
    Limit,
    /// It has made as many requests as it may. The server may have more.
    Spent,
    /// The server has compacted every revision before this one.
    Forgotten(Revision),
    /// The caller stopped waiting for it after this time. The server may have more.
    OutOfTime(Duration),
    /// This source has no look-back.
    NotOffered(Arc<str>),
    /// The server did not answer, or answered with an error.
    Failed(SourceError),
}

/// The end of a walk at a revision that could not be read.
pub(super) fn end(unread: PastError, at: Revision) -> End {
    match unread {
        PastError::Forgotten => End::Forgotten(at.next()),
        other => ended(other),
    }
}

pub(super) fn ended(unread: PastError) -> End {
    match unread {
        PastError::Forgotten => End::Limit,
        PastError::Spent => End::Spent,
        PastError::NotOffered(cause) => End::NotOffered(cause),
        PastError::Failed(error) => End::Failed(error),
    }
}
