//! Reads a complete listing, a page at a time.

use crate::watch::body::Packer;
use crate::watch::envelope::Reader;
use crate::watch::error::SourceError;
use crate::watch::source::Shared;
use crate::watch::store::{Continuity, Listing, is_older};
use crate::watch::transport::{At, ListPage, Page, Transport};

/// Reads the newest listing, `limit` items a page. The server may forget the version of the first page before the last is
/// read (410): then it is begun again, and the third time read at once.
pub(super) async fn collect(
    transport: &dyn Transport,
    shared: &Shared,
    reader: &mut Reader,
    limit: u32,
) -> Result<Listing, SourceError> {
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
    shared: &Shared,
    reader: &mut Reader,
    limit: u32,
) -> Result<Listing, SourceError> {
    let mut page = Page { limit, next: None };
    let known = shared.version();
    let first = transport
        .list(&shared.key, At::Latest, page.clone())
        .await?;
    // The newest listing is confirmed by a quorum of the server's store, so that it cannot be older than
    // what any server has ever sent.
    let is_set_back = known.is_some_and(|known| is_older(&first.version, &known));
    // Should the pages not be of one moment, the watch goes on from the first of them.
    let mut listing = Listing {
        version: first.version.clone(),
        continuity: if is_set_back {
            Continuity::Restored
        } else {
            shared.continuity()
        },
        objects: Vec::new(),
        packer: first.next.is_some().then(Packer::new),
    };
    let mut answer = first;
    loop {
        page.next = answer.next.take();
        take_in(answer, shared, reader, &mut listing)?;
        if page.next.is_none() {
            return Ok(listing);
        }
        answer = transport
            .list(&shared.key, At::Latest, page.clone())
            .await?;
    }
}

/// Keeps a page's objects, each packed before the next is read if there are many; of versions that are
/// held already, what is held.
fn take_in(
    answer: ListPage,
    shared: &Shared,
    reader: &mut Reader,
    listing: &mut Listing,
) -> Result<(), SourceError> {
    for item in answer.items {
        let version = reader
            .item(&item)
            .map_err(|detail| SourceError::Decode { detail })?;
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
