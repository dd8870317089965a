//! Reads a complete listing, a page at a time.

use futures::future;

use crate::source::Packer;
use crate::watch::envelope::Reader;
use crate::watch::error::SourceError;
use crate::watch::pages::{NextPage, Pages};
use crate::watch::source::SharedSource;
use crate::watch::store::{Continuity, FullListing, is_older};
use crate::watch::transport::{At, ListPage, Transport};

/// How many items are read before other tasks may run: a few milliseconds of work. One of these tasks sends the request for
/// the next page, so they also run before the first item.
const ITEMS_AT_ONCE: usize = 32;

/// Reads the newest listing, `limit` items per page. The server may compact the version of the first page before
/// the last page is read (410). Then the listing starts again, and the third attempt reads all items in one page.
pub(super) async fn collect(
    transport: &dyn Transport,
    shared: &SharedSource,
    reader: &mut Reader,
    limit: u32,
) -> Result<FullListing, SourceError> {
    for _attempt in 0..2 {
        match pages(transport, shared, reader, limit).await {
            Err(SourceError::Expired(_)) => {}
            other => return other,
        }
    }
    pages(transport, shared, reader, 0).await
}

async fn pages(
    transport: &dyn Transport,
    shared: &SharedSource,
    reader: &mut Reader,
    limit: u32,
) -> Result<FullListing, SourceError> {
    let mut pages = Pages::of(&shared.key, limit);
    let known = shared.version();
    let mut answer = next(transport, &pages).await?;
    // A quorum of the server's storage confirms the newest listing, so it cannot be older than anything that any
    // server has sent.
    let is_set_back = known.is_some_and(|known| is_older(&answer.version, &known));
    // If the pages are not of one moment, the watch continues from the first page.
    let mut listing = FullListing {
        version: answer.version.clone(),
        continuity: if is_set_back {
            Continuity::Restored
        } else {
            shared.continuity()
        },
        objects: Vec::new(),
        packer: answer.next.is_some().then(Packer::new),
    };
    while pages.take(&mut answer)? == NextPage::More {
        // The server works on the next page while the objects of this one are read.
        let taken = take_in(answer, shared, reader, &mut listing);
        (answer, ()) = future::try_join(next(transport, &pages), taken).await?;
    }
    take_in(answer, shared, reader, &mut listing).await?;
    Ok(listing)
}

async fn next(transport: &dyn Transport, pages: &Pages<'_>) -> Result<ListPage, SourceError> {
    let page = pages.wanted();
    transport.list(pages.key, At::Latest, page).await
}

/// Keeps the objects of a page. Of a long listing each object is packed before the next is read. A version that
/// the store holds already is shared with it.
async fn take_in(
    answer: ListPage,
    shared: &SharedSource,
    reader: &mut Reader,
    listing: &mut FullListing,
) -> Result<(), SourceError> {
    for (nth, item) in answer.items.into_iter().enumerate() {
        if nth.is_multiple_of(ITEMS_AT_ONCE) {
            tokio::task::yield_now().await;
        }
        let version = reader.item(&item).map_err(|detail| {
            let number = listing.objects.len() + 1;
            let resource = shared.key.resource.group_resource();
            let detail = format!("item {number} of the list of {resource}: {detail}");
            SourceError::Decode {
                detail: detail.into(),
            }
        })?;
        drop(item);
        let inner = shared.lock();
        let kept = match inner.store.same(&version, listing.continuity) {
            Some(held) => held.clone(),
            None => version.kept(listing.packer.as_mut()),
        };
        drop(inner);
        listing.objects.push(kept);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::BoxFuture;

    use super::*;
    use crate::object::ResourceVersion;
    use crate::source::SourceKey;
    use crate::watch::options::MuxOptions;
    use crate::watch::tests::fake::{Fake, pods};
    use crate::watch::tests::mux_with;
    use crate::watch::transport::{LineStream, Page};

    /// A server whose first page holds an item that is no object. It counts the requests for the second page, and
    /// never answers them.
    #[derive(Default)]
    struct Malformed {
        further: AtomicUsize,
    }

    impl Transport for Malformed {
        fn list<'a>(
            &'a self,
            _: &'a SourceKey,
            _: At,
            page: Page,
        ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
            Box::pin(async move {
                if page.next.is_some() {
                    self.further.fetch_add(1, Ordering::Relaxed);
                    return future::pending().await;
                }
                Ok(ListPage {
                    version: ResourceVersion::new("7"),
                    items: vec!["[]".into()],
                    next: Some("more".into()),
                })
            })
        }

        fn watch<'a>(
            &'a self,
            _: &'a SourceKey,
            _: &'a ResourceVersion,
        ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
            Box::pin(future::pending())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_page_is_requested_before_the_items_of_a_page_are_read() {
        let server = Malformed::default();
        let source = mux_with(&Fake::new(), MuxOptions::default()).open_idle(pods());
        let mut reader = Reader::new(&pods());
        let read = collect(&server, source.shared(), &mut reader, 500).await;
        assert!(matches!(read, Err(SourceError::Decode { .. })));
        assert_eq!(server.further.load(Ordering::Relaxed), 1);
    }
}
