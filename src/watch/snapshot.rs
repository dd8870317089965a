//! `SnapshotTransport`: a cluster as it was at one revision.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::error::SourceError;
use super::history::Dates;
use super::mux::Mux;
use super::revision::Revision;
use super::transport::{At, LineStream, ListPage, Page, Transport};
use crate::object::ResourceVersion;
use crate::source::SourceKey;

/// Reads the newest version of everything at one revision, from the server's memory. Older versions stay readable as before.
///
/// A list that the server has forgotten is an error that ends its source: a retry would find no more. So is a list of a
/// resource that the server keeps in a storage of its own, whose revisions are others.
pub struct SnapshotTransport {
    transport: Arc<dyn Transport>,
    at: Revision,
    present: Mux,
    dates: Dates,
}

impl SnapshotTransport {
    /// The cluster behind `transport` as it was at a revision. `present` reads the same cluster as it is now, and `dates` are
    /// those of `present`.
    pub fn new(
        transport: Arc<dyn Transport>,
        at: Revision,
        present: Mux,
        dates: Dates,
    ) -> SnapshotTransport {
        SnapshotTransport {
            transport,
            at,
            present,
            dates,
        }
    }

    /// Fails if the revision says nothing about this resource.
    async fn check_storage(&self, key: &SourceKey) -> Result<(), SourceError> {
        let history = self.present.history(key);
        match history {
            Some(history) if self.dates.covers(&history).await => Ok(()),
            Some(_) | None => Err(unknown(&format!(
                "it is not known which version of {} was the newest then",
                key.resource.plural
            ))),
        }
    }
}

/// What was not read, and would not be read later.
fn unknown(detail: &str) -> SourceError {
    SourceError::Input {
        detail: detail.into(),
    }
}

impl Transport for SnapshotTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        if at != At::Latest {
            return self.transport.list(key, at, page);
        }
        Box::pin(async move {
            self.check_storage(key).await?;
            let list = self.transport.list(key, At::Exact(self.at), page).await;
            match list {
                Err(SourceError::Expired(error)) => Err(SourceError::Rejected(error)),
                Ok(page) if Revision::parse(&page.version) != Some(self.at) => {
                    Err(unknown("the server keeps no old versions"))
                }
                other => other,
            }
        })
    }

    /// The events up to the revision, and those after it: a reader of the past knows where it ends.
    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        self.transport.watch(key, from)
    }
}

#[cfg(test)]
mod tests {
    use futures::future::ready;

    use super::*;
    use crate::source::{ClusterId, Select};
    use crate::watch::history::leases;
    use crate::watch::tests::fake::{api_error, pods};

    /// Two storages without objects: the newest revision of one is 200, that of the other, with the Events, is 7. Everything
    /// before 150 is compacted.
    struct TwoStorages;

    impl Transport for TwoStorages {
        fn list<'a>(
            &'a self,
            key: &'a SourceKey,
            at: At,
            _: Page,
        ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
            let at = match at {
                At::Latest if &*key.resource.plural == "events" => "7".to_owned(),
                At::Latest => "200".to_owned(),
                At::Exact(at) => at.to_string(),
            };
            let is_compacted = at.len() == 3 && *at < *"150";
            Box::pin(ready(if is_compacted {
                Err(api_error(410))
            } else {
                Ok(ListPage {
                    version: ResourceVersion::new(at),
                    items: Vec::new(),
                    next: None,
                })
            }))
        }

        fn watch<'a>(
            &'a self,
            _: &'a SourceKey,
            _: &'a ResourceVersion,
        ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
            Box::pin(ready(Err(api_error(405))))
        }
    }

    /// What a list of a source at a revision gives.
    async fn listed(key: &SourceKey, at: &str) -> Result<ResourceVersion, SourceError> {
        let transport: Arc<dyn Transport> = Arc::new(TwoStorages);
        let now = Arc::new(|| jiff::Timestamp::UNIX_EPOCH);
        let present = Mux::new([(key.cluster.clone(), transport.clone())], now);
        let dates = present.dates(&key.cluster).expect("a cluster");
        let at = Revision::read(at).expect("a revision");
        let snapshot = SnapshotTransport::new(transport, at, present, dates);
        let page = snapshot.list(key, At::Latest, Page::default()).await;
        page.map(|page| page.version)
    }

    fn events(cluster: &ClusterId) -> SourceKey {
        let mut resource = leases(cluster).resource;
        (resource.group, resource.plural) = ("".into(), "events".into());
        SourceKey::of(cluster, resource, None, Select::All)
    }

    #[tokio::test]
    async fn the_newest_version_is_that_of_the_revision() {
        let pods = pods();
        assert_eq!(listed(&pods, "155").await, Ok(ResourceVersion::new("155")));
        let forgotten = listed(&pods, "149").await;
        assert!(
            matches!(forgotten, Err(SourceError::Rejected(_))),
            "{forgotten:?}"
        );
        let apart = listed(&events(&pods.cluster), "155").await;
        assert!(matches!(apart, Err(SourceError::Input { .. })), "{apart:?}");
    }
}
