//! `ListMetadata`: the metadata of a list or a table.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;

use crate::object::ResourceVersion;
use crate::watch::transport::ListPage;

/// The metadata of a list.
#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
pub(super) struct ListMetadata<'a> {
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
    #[serde(borrow)]
    r#continue: Cow<'a, str>,
}

impl ListMetadata<'_> {
    /// The page with these items.
    pub(super) fn page(&self, items: Vec<Bytes>) -> ListPage {
        let next = Some(&*self.r#continue).filter(|next| !next.is_empty());
        ListPage {
            version: ResourceVersion::new(&*self.resource_version),
            items,
            next: next.map(Into::into),
        }
    }
}
