//! Reads a complete listing, a page at a time.

use crate::source::Packer;
use crate::watch::envelope::Reader;
use crate::watch::error::SourceError;
use crate::watch::pages::{NextPage, Pages};
use crate::watch::source::SharedSource;
use crate::watch::store::{Continuity, FullListing, is_older};
use crate::watch::transport::{At, ListPage, Transport};

/// Reads the newest listing, `limit` items per page. The server may compact the version of the first page before
/// the last page is read (410). Then the listing starts again, and the third attempt reads all items in one page.
pub(super) async fn collect(
    transport: &dyn Transport,
    shared: &SharedSource,
    reader: &mut Reader,
    limit: u32,
) -> Result<FullListing, SourceError> {
    for limit in [limit, limit] {
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
    let (mut answer, mut further) = next(transport, &mut pages).await?;
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
        packer: (further == NextPage::More).then(Packer::new),
    };
    loop {
        take_in(answer, shared, reader, &mut listing)?;
        if further == NextPage::End {
            return Ok(listing);
        }
        (answer, further) = next(transport, &mut pages).await?;
    }
}

async fn next(
    transport: &dyn Transport,
    pages: &mut Pages<'_>,
) -> Result<(ListPage, NextPage), SourceError> {
    let mut page = transport
        .list(pages.key(), At::Latest, pages.wanted())
        .await?;
    let further = pages.take(&mut page)?;
    Ok((page, further))
}

/// Keeps the objects of a page. Of a long listing each object is packed before the next is read. A version that
/// the store holds already is shared with it.
fn take_in(
    answer: ListPage,
    shared: &SharedSource,
    reader: &mut Reader,
    listing: &mut FullListing,
) -> Result<(), SourceError> {
    for item in answer.items {
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
