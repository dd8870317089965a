//! Reads that are tried again: one that fails while the server is in trouble must not end a look-back of
//! thousands.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use tokio::time::sleep;

use crate::object::ResourceVersion;
use crate::watch::backoff::{Backoff, Pace};
use crate::watch::error::SourceError;
use crate::watch::key::SourceKey;
use crate::watch::transport::{At, BoxFuture, LineStream, ListPage, Page, Transport, Upstream};

/// How often one read is tried at most. The waits between add up to eight seconds, unless the server asks for
/// longer ones.
const TRIES: u32 = 6;
/// The longest `Retry-After` that a look-back waits.
const LONGEST_ASKED: Duration = Duration::from_secs(30);

/// A transport that tries a request again while the server is in trouble: after 429, 5xx, and a connection that
/// cannot be made or breaks. It waits as long as the server asks, and longer each time. While nothing at all is
/// answered, one request that has been tried as often as allowed gives up for all: the others are tried once.
pub(in crate::watch) struct Patient {
    transport: Arc<dyn Transport>,
    /// A request has given up, and none was answered since.
    is_hopeless: AtomicBool,
}

impl Patient {
    /// The same transport, with patience.
    pub(in crate::watch) fn new(transport: Arc<dyn Transport>) -> Patient {
        Patient {
            transport,
            is_hopeless: AtomicBool::new(false),
        }
    }

    async fn try_on<T, R>(&self, request: impl Fn() -> R) -> Result<T, SourceError>
    where
        R: Future<Output = Result<T, SourceError>>,
    {
        let mut backoff = Backoff::new(fastrand::u64(..), Pace(std::num::NonZeroU32::MIN));
        loop {
            let error = match request().await {
                Err(error) if error.is_passing() => error,
                answered => {
                    self.is_hopeless.store(false, Ordering::Relaxed);
                    return answered;
                }
            };
            let (failures, wait) = backoff.failed();
            if failures >= TRIES || self.is_hopeless.load(Ordering::Relaxed) {
                self.is_hopeless.store(true, Ordering::Relaxed);
                return Err(error);
            }
            sleep(wait.max(error.asked_wait().min(LONGEST_ASKED))).await;
        }
    }
}

impl Transport for Patient {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(self.try_on(move || self.transport.list(key, at.clone(), page.clone())))
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(self.try_on(move || self.transport.watch(key, from)))
    }

    fn skew(&self) -> SignedDuration {
        self.transport.skew()
    }

    fn upstream(&self) -> Upstream {
        self.transport.upstream()
    }
}

impl SourceError {
    /// Whether the same request may be answered in a moment.
    fn is_passing(&self) -> bool {
        self.is_outage() || matches!(self, SourceError::Throttled { .. })
    }

    /// How long the server asks to be left alone.
    fn asked_wait(&self) -> Duration {
        match self {
            SourceError::Throttled { after, .. } => after.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::Instant;

    use super::*;
    use crate::watch::fake::{api_error, pods, throttled};

    /// A server that answers with these errors, the last first, and then with an empty list.
    struct Scripted(Mutex<(Vec<SourceError>, usize)>);

    impl Transport for Scripted {
        fn list<'a>(
            &'a self,
            _: &'a SourceKey,
            _: At,
            _: Page,
        ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
            Box::pin(async {
                let mut script = self.0.lock().expect("no panic holds it");
                script.1 += 1;
                script.0.pop().map_or_else(
                    || {
                        Ok(ListPage {
                            version: ResourceVersion::new("1"),
                            items: Vec::new(),
                            next: None,
                        })
                    },
                    Err,
                )
            })
        }

        fn watch<'a>(
            &'a self,
            _: &'a SourceKey,
            _: &'a ResourceVersion,
        ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
            Box::pin(async { Err(api_error(405)) })
        }
    }

    struct Tried {
        is_answered: bool,
        tries: usize,
        took: Duration,
    }

    async fn read(patient: &Patient, scripted: &Scripted) -> Tried {
        let (begun, before) = (Instant::now(), scripted.0.lock().expect("unlocked").1);
        let answer = patient.list(&pods(), At::Latest, Page::default()).await;
        let tries = scripted.0.lock().expect("unlocked").1 - before;
        Tried {
            is_answered: answer.is_ok(),
            tries,
            took: begun.elapsed(),
        }
    }

    fn patient(errors: Vec<SourceError>) -> (Patient, Arc<Scripted>) {
        let scripted = Arc::new(Scripted(Mutex::new((errors, 0))));
        (Patient::new(scripted.clone()), scripted)
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_tried_again() {
        let refused = SourceError::Connect {
            detail: "refused".into(),
        };
        for error in [429, 500, 502, 503, 504]
            .map(api_error)
            .into_iter()
            .chain([refused])
        {
            let (patient, scripted) = patient(vec![error.clone(), error.clone()]);
            let tried = read(&patient, &scripted).await;
            assert!(tried.is_answered && tried.tries == 3, "{error:?}");
        }
        for code in [400, 401, 403, 404, 405, 410, 422] {
            let (patient, scripted) = patient(vec![api_error(code)]);
            let tried = read(&patient, &scripted).await;
            assert!(!tried.is_answered && tried.tries == 1, "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_left_alone_as_long_as_it_asks() {
        for (asked, waited) in [(7, 7), (3600, LONGEST_ASKED.as_secs())] {
            let (patient, scripted) = patient(vec![throttled(asked)]);
            let tried = read(&patient, &scripted).await;
            assert!(tried.is_answered);
            assert_eq!(tried.took.as_secs(), waited);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_nothing_is_given_up_once_for_all() {
        let (patient, scripted) = patient(vec![api_error(503); TRIES as usize + 2]);
        let tried = read(&patient, &scripted).await;
        assert_eq!((tried.is_answered, tried.tries), (false, TRIES as usize));
        assert!(tried.took < Duration::from_secs(16), "{:?}", tried.took);
        for _ in 0..2 {
            let tried = read(&patient, &scripted).await;
            assert_eq!((tried.is_answered, tried.tries), (false, 1));
        }
        // It is back, and has patience again.
        assert!(read(&patient, &scripted).await.is_answered);
        scripted.0.lock().expect("unlocked").0 = vec![api_error(503)];
        assert_eq!(read(&patient, &scripted).await.tries, 2);
    }
}
