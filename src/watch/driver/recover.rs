//! What a driver does after an error: it waits and retries, polls instead of watching, or gives up.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Driver, DriverStep, Expired, Polling};
use crate::source::{GapCause, SourceState};
use crate::watch::error::SourceError;
use crate::watch::transport::Upstream;

/// How long a refusal is doubted if the request succeeded before, or if the server was unreachable. A starting
/// API server refuses every request for a moment: with 403, with 401 while an authenticator is not ready, or with
/// 404 for a CRD.
const DOUBT: Duration = Duration::from_secs(10);
/// The wait between two requests during that time.
const DOUBT_PAUSE: Duration = Duration::from_millis(500);
/// How long a source is polled before a watch is tried again.
const POLL_FOR: Duration = Duration::from_secs(300);
/// The longest wait that a `Retry-After` can cause.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

impl Driver {
    /// The next step after an error; `None` if the source has ended or failed for good.
    pub(super) async fn recover(
        &mut self,
        step: DriverStep,
        error: SourceError,
    ) -> Option<DriverStep> {
        let cause: Arc<str> = error.to_string().into();
        if error.is_outage() {
            self.shared.health.lost();
        }
        match error {
            SourceError::Expired(_) if step == DriverStep::Watch => Some(self.expired(cause).await),
            SourceError::Forbidden(_)
            | SourceError::Unauthorized(_)
            | SourceError::NotServed(_) => self.refused(step, error, cause).await,
            SourceError::MethodNotAllowed(_) if step == DriverStep::Watch => {
                Some(self.start_polling(cause))
            }
            // A file does not change, so a retry would fail in the same way.
            SourceError::Decode { .. } if self.transport.upstream() == Upstream::Kept => {
                self.fail(cause)
            }
            SourceError::MethodNotAllowed(_)
            | SourceError::Endless { .. }
            | SourceError::Input { .. } => self.fail(cause),
            // No listing of this source ever succeeded, so the request itself is wrong.
            SourceError::Rejected(_) if !self.has_listed => self.fail(cause),
            SourceError::Rejected(_) => Some(self.turned_down(step, cause).await),
            SourceError::Ended => {
                self.shared.set_state(SourceState::Ended);
                None
            }
            SourceError::Throttled { after, .. } => {
                let after = Some(after.unwrap_or_default());
                Some(self.retry(step, cause, after).await)
            }
            SourceError::Expired(_)
            | SourceError::Server(_)
            | SourceError::Connect { .. }
            | SourceError::Tls { .. }
            | SourceError::Cut { .. }
            | SourceError::Idle { .. }
            | SourceError::Timeout { .. }
            | SourceError::Decode { .. }
            | SourceError::Credential { .. } => Some(self.retry(step, cause, None).await),
        }
    }

    /// Handles a 410 of a watch: lists again, at once unless the last watch ended in the same way.
    async fn expired(&mut self, cause: Arc<str>) -> DriverStep {
        self.gap = Some(GapCause::Expired);
        if self.expired == Expired::LastWatch {
            return self.retry(DriverStep::List, cause, None).await;
        }
        self.expired = Expired::LastWatch;
        self.connecting(cause);
        DriverStep::List
    }

    /// Handles a rejection after earlier success. One retry may help. After that only a listing helps, because a
    /// watch can start from it.
    async fn turned_down(&mut self, step: DriverStep, cause: Arc<str>) -> DriverStep {
        let again = self.retry(step, cause, None).await;
        if step == DriverStep::Watch && self.backoff.failures() > 1 {
            self.gap = Some(GapCause::Refused);
            return DriverStep::List;
        }
        again
    }

    /// Reports that the source is not live, for a retry without a wait.
    pub(super) fn connecting(&self, cause: Arc<str>) {
        self.shared.set_state(SourceState::Retrying {
            attempt: self.backoff.failures() + 1,
            cause,
            until: self.shared.time(Duration::ZERO),
            is_throttled: false,
        });
    }

    /// Reports a retry, waits, and returns `step`.
    pub(super) async fn retry(
        &mut self,
        step: DriverStep,
        cause: Arc<str>,
        after: Option<Duration>,
    ) -> DriverStep {
        let (attempt, wait) = self.backoff.failed();
        let wait = after.map_or(wait, |after| after.min(LONGEST_ASKED).max(wait));
        let state = SourceState::Retrying {
            attempt,
            cause,
            until: self.shared.time(wait),
            is_throttled: after.is_some(),
        };
        self.pause(state, wait).await;
        step
    }

    async fn pause(&mut self, state: SourceState, wait: Duration) {
        self.shared.set_state(state);
        sleep(wait).await;
    }

    /// Handles a 401, 403 or 404. It counts at once, with two exceptions: the same request succeeded before, or
    /// any source of the cluster has just seen the server fail or refuse what worked. Then the driver asks again
    /// for a while. So it believes the first answer of a running server, but not that of a starting one.
    async fn refused(
        &mut self,
        step: DriverStep,
        error: SourceError,
        cause: Arc<str>,
    ) -> Option<DriverStep> {
        let worked = match step {
            DriverStep::List | DriverStep::Poll => &mut self.worked.list,
            DriverStep::Watch => &mut self.worked.watch,
        };
        let doubt = self.pace.of(DOUBT);
        if *worked && self.refused_since.is_none() {
            // Another server may have taken its place, as behind a load balancer.
            self.shared.health.lost();
        }
        self.shared.health.answered();
        let since = *self.refused_since.get_or_insert_with(Instant::now);
        if since.elapsed() < doubt && (*worked || self.shared.health.is_new(doubt)) {
            let wait = self.pace.of(DOUBT_PAUSE);
            let state = SourceState::Retrying {
                attempt: self.backoff.failures() + 1,
                cause,
                until: self.shared.time(wait),
                is_throttled: false,
            };
            self.pause(state, wait).await;
            return Some(step);
        }
        *worked = false;
        self.refused_since = None;
        match (error, step) {
            (SourceError::Unauthorized(_), _) => return self.fail(cause),
            (SourceError::NotServed(_), _) => {
                self.shared.set_state(SourceState::Unserved { cause });
                sleep(self.backoff.unserved()).await;
            }
            // A user may be allowed to list but not to watch.
            (_, DriverStep::Watch) => return Some(self.start_polling(cause)),
            (_, DriverStep::List | DriverStep::Poll) => {
                self.shared.set_state(SourceState::Forbidden { cause });
                sleep(self.backoff.denied()).await;
            }
        }
        Some(match step {
            DriverStep::Poll => DriverStep::Watch,
            DriverStep::List | DriverStep::Watch => step,
        })
    }

    pub(super) fn start_polling(&mut self, cause: Arc<str>) -> DriverStep {
        let until = Instant::now() + self.pace.of(POLL_FOR);
        self.polling = Some(Polling { cause, until });
        DriverStep::Poll
    }

    fn fail(&mut self, cause: Arc<str>) -> Option<DriverStep> {
        self.shared.set_state(SourceState::Failed { cause });
        None
    }
}
