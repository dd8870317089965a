//! Retries requests: one failed request must not abort a read of thousands of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::sleep;

use super::backoff::{Backoff, Speed};
use super::error::SourceError;
use super::history::ServerPast;
use super::transport::{At, LineStream, ListPage, Page, Transport, Upstream};
use super::trouble::Trouble;
use crate::object::ResourceVersion;
use crate::source::{SourceKey, SourceState};

/// The longest wait that a `Retry-After` can cause.
const LONGEST_ASKED: Duration = Duration::from_secs(30);
/// How often a request is retried after a 403, if its source was live. A kube-apiserver that has just started
/// refuses every request until it has read the RBAC objects.
const FORBIDDEN_RETRIES: u32 = 6;

/// How long a server is asked for old revisions that has never returned any, and answers with an error of its own:
/// it does not offer them.
const REFUSAL: Duration = Duration::from_secs(3);

/// A transport that retries requests while the server is in trouble. It waits as long as the server asks, and
/// longer after each failure. Once the server has answered nothing for too long, each request is tried only once.
pub(super) struct RetryingTransport {
    transport: Arc<dyn Transport>,
    /// How long it retries while the server answers nothing.
    limit: Duration,
    pace: Speed,
    /// The jitter of the next request.
    seed: AtomicU64,
    /// The state of the source. While its driver asks again and again, no time counts towards `limit`.
    state: Option<watch::Receiver<SourceState>>,
    /// The errors since the last answer.
    trouble: Trouble,
    /// The past of the server. A server may answer every request but those for its past.
    past: Option<Arc<ServerPast>>,
}

impl RetryingTransport {
    /// Wraps a transport. It retries for `limit` while the server answers nothing.
    pub(super) fn new(transport: Arc<dyn Transport>, limit: Duration) -> RetryingTransport {
        RetryingTransport {
            transport,
            limit,
            pace: Speed::USUAL,
            seed: AtomicU64::new(fastrand::u64(..)),
            state: None,
            trouble: Trouble::default(),
            past: None,
        }
    }

    /// Sets the seed and the pace of the waits.
    pub(super) fn paced(self, seed: u64, pace: Speed) -> RetryingTransport {
        let seed = AtomicU64::new(seed);
        RetryingTransport { pace, seed, ..self }
    }

    /// For a source whose driver notices an outage: no time counts while the driver waits for an answer.
    pub(super) fn while_live(self, state: watch::Receiver<SourceState>) -> RetryingTransport {
        let state = Some(state);
        RetryingTransport { state, ..self }
    }

    /// Shares the errors of reads at old revisions with the other sources of the server. If the server never
    /// answers these, they end early.
    pub(super) fn of_past(self, past: Arc<ServerPast>) -> RetryingTransport {
        let past = Some(past);
        RetryingTransport { past, ..self }
    }

    async fn try_on<T, R>(&self, request: impl Fn() -> R) -> Result<T, SourceError>
    where
        R: Future<Output = Result<T, SourceError>>,
    {
        let mut backoff = self.backoff();
        loop {
            let error = match request().await {
                Err(error) if self.may_pass(&error, backoff.failures()) => error,
                // A refusal is an answer too.
                answer => {
                    self.trouble.answered();
                    return answer;
                }
            };
            let left = self.left(&error);
            if left.is_zero() {
                return Err(error);
            }
            wait(&mut backoff, &error, left).await;
        }
    }

    /// Reads at an old revision.
    async fn try_on_past<T, R>(
        &self,
        past: &ServerPast,
        request: impl Fn() -> R,
    ) -> Result<T, SourceError>
    where
        R: Future<Output = Result<T, SourceError>>,
    {
        let mut backoff = self.backoff();
        let trouble = &past.trouble;
        if let Some(refusal) = trouble.refusal(|error| self.limit_of_past(error)) {
            return Err(refusal);
        }
        loop {
            let error = match request().await {
                Err(error) if error.is_transient() => error,
                answer => {
                    if matches!(answer, Ok(_) | Err(SourceError::Expired(_))) {
                        trouble.answered();
                    }
                    return answer;
                }
            };
            let limit = if trouble.has_answered() {
                self.limit
            } else {
                self.limit_of_past(&error)
            };
            let left = trouble.failed(&error, self.pace.of(limit));
            if left.is_zero() {
                return Err(error);
            }
            wait(&mut backoff, &error, left).await;
        }
    }

    /// How long a server may answer with this error that has never answered.
    fn limit_of_past(&self, error: &SourceError) -> Duration {
        match error {
            SourceError::Server(_) => REFUSAL.min(self.limit),
            SourceError::Throttled { error, after: None } if error.status.code >= 500 => {
                REFUSAL.min(self.limit)
            }
            _ => self.limit,
        }
    }

    fn backoff(&self) -> Backoff {
        let seed = self.seed.fetch_add(1, Ordering::Relaxed);
        Backoff::new(seed, self.pace)
    }

    /// Whether the same request may succeed later, after this many failures.
    fn may_pass(&self, error: &SourceError, failures: u32) -> bool {
        let is_starting = self.state.is_some() && failures < FORBIDDEN_RETRIES;
        error.is_transient() || is_starting && matches!(error, SourceError::Forbidden(_))
    }

    /// How much longer it retries after an error.
    fn left(&self, error: &SourceError) -> Duration {
        let limit = self.pace.of(self.limit);
        let is_away = |state: &watch::Receiver<SourceState>| is_away(&state.borrow());
        if self.state.as_ref().is_some_and(is_away) {
            self.trouble.pause();
            return limit;
        }
        self.trouble.failed(error, limit)
    }
}

/// Waits before the next try.
async fn wait(backoff: &mut Backoff, error: &SourceError, left: Duration) {
    let (_, wait) = backoff.failed();
    sleep(wait.min(left).max(error.asked_wait())).await;
}

/// Whether the driver of the source waits for the server to answer again. A polled source may stay polled for good.
fn is_away(state: &SourceState) -> bool {
    match state {
        SourceState::Connecting
        | SourceState::Retrying { .. }
        | SourceState::Forbidden { .. }
        | SourceState::Unserved { .. } => true,
        SourceState::Live
        | SourceState::Polling { .. }
        | SourceState::Failed { .. }
        | SourceState::Ended => false,
    }
}

impl Transport for RetryingTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        let past = self.past.as_deref().filter(|_| at != At::Latest);
        let request = move || self.transport.list(key, at.clone(), page.clone());
        match past {
            Some(past) => Box::pin(self.try_on_past(past, request)),
            None => Box::pin(self.try_on(request)),
        }
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        if self.state.is_some() {
            // A watch here only saves reads: without it the driver reads back as well.
            return self.transport.watch(key, from);
        }
        Box::pin(self.try_on(move || self.transport.watch(key, from)))
    }

    fn trouble(&self) -> Option<SourceError> {
        let past = self.past.as_ref().and_then(|past| past.trouble.error());
        past.or_else(|| self.trouble.error())
    }

    fn upstream(&self) -> Upstream {
        self.transport.upstream()
    }
}

impl SourceError {
    /// How long the server asks the client to wait, at most [`LONGEST_ASKED`].
    fn asked_wait(&self) -> Duration {
        match self {
            SourceError::Throttled { after, .. } => after.unwrap_or_default().min(LONGEST_ASKED),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use jiff::Timestamp;
    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::watch::history::Revision;
    use crate::watch::tests::fake::{api_error, pods, throttled};

    const LIMIT: Duration = Duration::from_secs(12);

    /// A server that answers with these errors, the last one first, and then with an empty list.
    struct Scripted(Mutex<(Vec<SourceError>, usize)>);

    impl Transport for Scripted {
        fn list<'a>(
            &'a self,
            _: &'a SourceKey,
            _: At,
            _: Page,
        ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
            Box::pin(async {
                let mut script = self.0.lock().expect("no thread panicked with the lock");
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

    async fn read(retrying: &RetryingTransport, scripted: &Scripted) -> Tried {
        let (begun, before) = (Instant::now(), scripted.0.lock().expect("unlocked").1);
        let answer = retrying.list(&pods(), At::Latest, Page::default()).await;
        let tries = scripted.0.lock().expect("unlocked").1 - before;
        Tried {
            is_answered: answer.is_ok(),
            tries,
            took: begun.elapsed(),
        }
    }

    fn retrying(errors: Vec<SourceError>) -> (RetryingTransport, Arc<Scripted>) {
        let scripted = Arc::new(Scripted(Mutex::new((errors, 0))));
        (RetryingTransport::new(scripted.clone(), LIMIT), scripted)
    }

    #[tokio::test(start_paused = true)]
    async fn transient_errors_are_retried() {
        let refused = SourceError::Connect {
            detail: "refused".into(),
        };
        for error in [429, 500, 502, 503, 504]
            .map(api_error)
            .into_iter()
            .chain([refused])
        {
            let (retrying, scripted) = retrying(vec![error.clone(), error.clone()]);
            let tried = read(&retrying, &scripted).await;
            assert!(tried.is_answered && tried.tries == 3, "{error:?}");
        }
        for code in [400, 401, 403, 404, 405, 410, 422] {
            let (retrying, scripted) = retrying(vec![api_error(code)]);
            let tried = read(&retrying, &scripted).await;
            assert!(!tried.is_answered && tried.tries == 1, "{code}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retry_after_is_respected() {
        for (asked, waited) in [(7, 7), (3600, LONGEST_ASKED.as_secs())] {
            let (retrying, scripted) = retrying(vec![throttled(asked)]);
            let tried = read(&retrying, &scripted).await;
            assert!(tried.is_answered);
            assert_eq!(tried.took.as_secs(), waited);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_timeout_each_request_is_tried_once() {
        let (retrying, scripted) = retrying(vec![api_error(503); 99]);
        let tried = read(&retrying, &scripted).await;
        assert!(!tried.is_answered && (6..=8).contains(&tried.tries));
        assert_eq!(tried.took, LIMIT);
        for _ in 0..2 {
            let tried = read(&retrying, &scripted).await;
            assert_eq!((tried.is_answered, tried.tries), (false, 1));
        }
        scripted.0.lock().expect("unlocked").0.clear();
        // The server is back, so a later failure is retried again.
        assert!(read(&retrying, &scripted).await.is_answered);
        scripted.0.lock().expect("unlocked").0 = vec![api_error(503)];
        assert_eq!(read(&retrying, &scripted).await.tries, 2);
    }

    /// The driver of the source asks the server again meanwhile, and the backfill waits for that.
    #[tokio::test(start_paused = true)]
    async fn the_time_limit_pauses_while_the_driver_waits_for_the_server() {
        let cause = || Arc::from("code 503");
        for (state, pauses) in [
            (SourceState::Connecting, true),
            (
                SourceState::Retrying {
                    attempt: 1,
                    cause: cause(),
                    until: Timestamp::UNIX_EPOCH,
                    is_throttled: false,
                },
                true,
            ),
            (SourceState::Forbidden { cause: cause() }, true),
            (SourceState::Unserved { cause: cause() }, true),
            (SourceState::Live, false),
            (SourceState::Polling { cause: cause() }, false),
            (SourceState::Failed { cause: cause() }, false),
            (SourceState::Ended, false),
        ] {
            let (retrying, scripted) = retrying(vec![api_error(503); 99]);
            let (sender, states) = watch::channel(state.clone());
            let retrying = retrying.while_live(states);
            let read_for = timeout(LIMIT * 20, read(&retrying, &scripted));
            assert_eq!(read_for.await.is_err(), pauses, "{state:?}");
            sender.send_replace(SourceState::Live);
            scripted.0.lock().expect("unlocked").0 = vec![api_error(503); 99];
            let tried = read(&retrying, &scripted).await;
            let limit = if pauses { LIMIT } else { Duration::ZERO };
            assert!(!tried.is_answered && tried.took == limit, "{state:?}");
        }
    }

    async fn read_past(retrying: &RetryingTransport, scripted: &Scripted) -> Tried {
        let (begun, before) = (Instant::now(), scripted.0.lock().expect("unlocked").1);
        let at = At::Exact(Revision::read("5").expect("a revision"));
        let answer = retrying.list(&pods(), at, Page::default()).await;
        let tries = scripted.0.lock().expect("unlocked").1 - before;
        Tried {
            is_answered: answer.is_ok(),
            tries,
            took: begun.elapsed(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_returns_its_past_is_asked_for_a_few_seconds() {
        for (error, limit) in [
            (api_error(500), REFUSAL),
            (api_error(504), REFUSAL),
            // These may pass: the server is too busy, or starts.
            (api_error(429), LIMIT),
            (throttled(1), LIMIT),
        ] {
            let past = Arc::<ServerPast>::default();
            let source = || {
                let (retrying, scripted) = retrying(vec![error.clone(); 99]);
                (retrying.of_past(past.clone()), scripted)
            };
            let (one, scripted) = source();
            let tried = read_past(&one, &scripted).await;
            assert!(!tried.is_answered && tried.took >= limit, "{error:?}");
            assert!(tried.took < limit + Duration::from_secs(2), "{error:?}");
            assert!(one.trouble().is_some());
            // Other requests are answered, and no source asks for the past again.
            scripted.0.lock().expect("unlocked").0.clear();
            assert!(read(&one, &scripted).await.is_answered);
            let (other, scripted) = source();
            let tried = read_past(&other, &scripted).await;
            assert_eq!((tried.is_answered, tried.tries), (false, 0), "{error:?}");
            // Later the server may offer it.
            sleep(Duration::from_secs(30)).await;
            scripted.0.lock().expect("unlocked").0.clear();
            assert!(read_past(&other, &scripted).await.is_answered);
            assert!(other.trouble().is_none());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_returned_its_past_may_fail_for_longer() {
        let (one, scripted) = retrying(Vec::new());
        let one = one.of_past(Arc::default());
        assert!(read_past(&one, &scripted).await.is_answered);
        scripted.0.lock().expect("unlocked").0 = vec![api_error(500); 99];
        let tried = read_past(&one, &scripted).await;
        assert_eq!((tried.is_answered, tried.took), (false, LIMIT));
    }
}
