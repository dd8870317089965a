//! Retries requests: one failed request must not abort a read of thousands of requests.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::backoff::{Backoff, LONGEST_ASKED, Speed};
use super::error::SourceError;
use super::revision::Revision;
use super::transport::{At, LineStream, ListPage, Page, Transport};
use crate::object::{Resource, ResourceVersion};
use crate::source::{SourceKey, SourceState};

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
    speed: Speed,
    /// The jitter of the next request.
    seed: AtomicU64,
    /// The state of the source. While its driver asks again and again, no time counts towards `limit`.
    state: Option<watch::Receiver<SourceState>>,
    /// The errors since the last answer.
    trouble: Outage,
    /// The past of the server. A server may answer every request but those for its past.
    past: Option<Arc<ServerPast>>,
}

impl RetryingTransport {
    /// Wraps a transport. It retries for `limit` while the server answers nothing.
    pub(super) fn new(transport: Arc<dyn Transport>, limit: Duration) -> RetryingTransport {
        RetryingTransport {
            transport,
            limit,
            speed: Speed::USUAL,
            seed: AtomicU64::new(fastrand::u64(..)),
            state: None,
            trouble: Outage::default(),
            past: None,
        }
    }

    pub(super) fn at_speed(self, jitter_seed: u64, speed: Speed) -> RetryingTransport {
        RetryingTransport {
            speed,
            seed: AtomicU64::new(jitter_seed),
            ..self
        }
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
                Err(error) if self.may_pass(&error, backoff.failures) => error,
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
            let left = trouble.failed(&error, self.speed.of(limit));
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
        Backoff::new(seed, self.speed)
    }

    /// Whether the same request may succeed later, after this many failures.
    fn may_pass(&self, error: &SourceError, failures: u32) -> bool {
        let is_starting = self.state.is_some() && failures < FORBIDDEN_RETRIES;
        error.is_transient() || is_starting && matches!(error, SourceError::Forbidden(_))
    }

    /// How much longer it retries after an error.
    fn left(&self, error: &SourceError) -> Duration {
        let limit = self.speed.of(self.limit);
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
    let asked = match error {
        SourceError::Throttled { after, .. } => after.unwrap_or_default().min(LONGEST_ASKED),
        _ => Duration::ZERO,
    };
    sleep(wait.min(left).max(asked)).await;
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

    fn below(&self) -> Option<&dyn Transport> {
        Some(&*self.transport)
    }
}

/// How long a server that has refused is not asked again.
const REST: Duration = Duration::from_secs(10);

/// The errors of one kind of request since its last answer.
#[derive(Debug, Default)]
pub(super) struct Outage(Mutex<OutageState>);

#[derive(Debug, Default)]
struct OutageState {
    /// The start of the time without an answer, the time of the last error, and that error.
    failing: Option<(Instant, Instant, SourceError)>,
    has_answered: bool,
}

impl Outage {
    pub(super) fn answered(&self) {
        *self.lock() = OutageState {
            failing: None,
            has_answered: true,
        };
    }

    /// Begins the time again: an error now does not count.
    pub(super) fn pause(&self) {
        self.lock().failing = None;
    }

    /// Whether the server has ever answered.
    fn has_answered(&self) -> bool {
        self.lock().has_answered
    }

    /// Takes an error. Returns how much is left of the time `limit`.
    pub(super) fn failed(&self, error: &SourceError, limit: Duration) -> Duration {
        let now = Instant::now();
        let mut state = self.lock();
        let since = state.failing.as_ref().map_or(now, |(since, ..)| *since);
        state.failing = Some((since, now, error.clone()));
        limit.saturating_sub(now.duration_since(since))
    }

    /// The last error, if there was no answer since.
    pub(super) fn error(&self) -> Option<SourceError> {
        let state = self.lock();
        state.failing.as_ref().map(|(.., error)| error.clone())
    }

    /// The last error of a server that has never answered, if it had the time `limit` for that. After a while such
    /// a server is asked again.
    pub(super) fn refusal(&self, limit: impl Fn(&SourceError) -> Duration) -> Option<SourceError> {
        let state = self.lock();
        let (since, last, error) = state.failing.as_ref()?;
        let had_time = last.duration_since(*since) >= limit(error);
        let is_refused = !state.has_answered && had_time && last.elapsed() < REST;
        is_refused.then(|| error.clone())
    }

    fn lock(&self) -> MutexGuard<'_, OutageState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The past of one server. All its sources share this.
#[derive(Debug, Default)]
pub(super) struct ServerPast {
    /// The newest revision of each resource that is known to be compacted. It is kept by resource, because an API
    /// server can store each resource in its own etcd (`--etcd-servers-overrides`), with its own revisions.
    forgotten: Mutex<HashMap<Resource, Revision>>,
    /// The errors of reads at old revisions.
    pub(super) trouble: Outage,
}

impl ServerPast {
    /// The newest revision of a resource that is known to be compacted.
    pub(super) fn forgotten(&self, resource: &Resource) -> Option<Revision> {
        let forgotten = self.forgotten.lock();
        let forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        forgotten.get(resource).copied()
    }

    /// Forgets what is known of a resource, after the server's history was restored.
    pub(super) fn restart(&self, resource: &Resource) {
        let forgotten = self.forgotten.lock();
        let mut forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        forgotten.remove(resource);
    }

    /// Records that the server has compacted a revision.
    pub(super) fn forget(&self, resource: &Resource, revision: Revision) {
        let forgotten = self.forgotten.lock();
        let mut forgotten = forgotten.unwrap_or_else(PoisonError::into_inner);
        let known = forgotten.entry(resource.clone()).or_insert(revision);
        *known = (*known).max(revision);
    }
}
