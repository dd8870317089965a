//! `Refusals`: which reads a server has refused (403), so that several look-ups of one view do not repeat them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::object::ResourceVersion;
use crate::source::{Form, SourceKey};
use crate::watch::error::SourceError;
use crate::watch::transport::{At, LineStream, ListPage, Page, Transport};

/// How long a refusal counts. The right may be given at any time.
const BELIEVED: Duration = Duration::from_secs(60);

/// The first reads of sources, and which of them were refused. All clones share them. A read of one name says nothing about
/// another one: RBAC can give a right for single names (`resourceNames`).
#[derive(Clone, Debug, Default)]
pub struct Refusals(Arc<Mutex<HashMap<SourceKey, FirstRead>>>);

/// The first read of a source since a time.
#[derive(Debug)]
struct FirstRead {
    at: Instant,
    refusal: Arc<OnceCell<Option<SourceError>>>,
}

impl Refusals {
    pub(super) fn over(&self, transport: Arc<dyn Transport>) -> RememberingTransport {
        let refusals = self.clone();
        RememberingTransport {
            transport,
            refusals,
        }
    }

    /// The refusal of the first read of a source. The right to read an object does not depend on its form.
    fn of(&self, key: &SourceKey) -> Arc<OnceCell<Option<SourceError>>> {
        let key = SourceKey {
            form: Form::Full,
            ..key.clone()
        };
        let mut reads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reads.retain(|_, read| read.at.elapsed() < BELIEVED);
        let first = reads.entry(key).or_insert_with(|| FirstRead {
            at: Instant::now(),
            refusal: Arc::default(),
        });
        first.refusal.clone()
    }
}

/// The transport that [`Refusals::over`] returns. A list of the current objects waits for the first one of the same source.
/// If that is refused, the server gets no other one.
pub(super) struct RememberingTransport {
    transport: Arc<dyn Transport>,
    refusals: Refusals,
}

impl RememberingTransport {
    async fn list_now(&self, key: &SourceKey, page: Page) -> Result<ListPage, SourceError> {
        let refusal = self.refusals.of(key);
        let mut answer = None;
        let first = async {
            let read = self.transport.list(key, At::Latest, page.clone()).await;
            let refusal = match &read {
                Err(error @ SourceError::Forbidden(_)) => Some(error.clone()),
                Ok(_) | Err(_) => None,
            };
            answer = Some(read);
            refusal
        };
        let refusal = refusal.get_or_init(|| first).await;
        match (answer, refusal) {
            (Some(answer), _) => answer,
            (None, Some(refusal)) => Err(refusal.clone()),
            (None, None) => self.transport.list(key, At::Latest, page).await,
        }
    }
}

impl Transport for RememberingTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        match at {
            At::Latest => Box::pin(self.list_now(key, page)),
            At::Exact(_) => self.transport.list(key, at, page),
        }
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        self.transport.watch(key, from)
    }

    fn below(&self) -> Option<&dyn Transport> {
        Some(&*self.transport)
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;
    use crate::source::Select;
    use crate::watch::tests::fake::{Fake, api_error, pods};

    /// The names of these reads that were refused, and how many requests the server got for all of them.
    async fn read(fake: &Fake, refusals: &Refusals, names: &[&'static str]) -> (String, usize) {
        let (before, _) = fake.asked();
        let transport = refusals.over(Arc::new(fake.clone()));
        let reads = names.iter().map(|name| {
            let select = Select::Name((*name).into());
            let key = SourceKey { select, ..pods() };
            let transport = &transport;
            async move {
                let read = transport.list(&key, At::Latest, Page::default()).await;
                read.is_err().then_some(*name)
            }
        });
        let refused = join_all(reads).await.into_iter().flatten();
        let refused: Vec<&str> = refused.collect();
        (refused.join(" "), fake.asked().0 - before)
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_source_is_not_requested_again_for_a_minute() {
        let (fake, refusals) = (Fake::new(), Refusals::default());
        fake.model().no_list = Some(api_error(403));
        let check = |refused: &str, requests| (refused.to_owned(), requests);
        let first = read(&fake, &refusals, &["a", "a", "a", "b"]).await;
        assert_eq!(first, check("a a a b", 2), "one for each name");
        fake.model().no_list = None;
        let soon = read(&fake, &refusals, &["a", "c"]).await;
        assert_eq!(soon, check("a", 1), "a right may be for one name");
        tokio::time::sleep(BELIEVED).await;
        let later = read(&fake, &refusals, &["a", "b"]).await;
        assert_eq!(later, check("", 2));
    }

    #[tokio::test(start_paused = true)]
    async fn other_answers_are_not_remembered() {
        let (fake, refusals) = (Fake::new(), Refusals::default());
        let all = read(&fake, &refusals, &["a", "a", "a"]).await;
        assert_eq!(all, (String::new(), 3));
        fake.model().no_list = Some(api_error(500));
        let all = read(&fake, &refusals, &["b", "b"]).await;
        assert_eq!(all, ("b b".to_owned(), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_read_that_is_given_up_blocks_no_other() {
        let (fake, refusals) = (Fake::new(), Refusals::default());
        let moment = Duration::from_millis(1);
        let cut = tokio::time::timeout(moment, read(&fake, &refusals, &["a"])).await;
        assert!(cut.is_err());
        let again = read(&fake, &refusals, &["a"]).await;
        assert_eq!(again, (String::new(), 1));
    }
}
