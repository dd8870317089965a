//! What a driver does after an error: which are waited out, which are believed, and which are final.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{Driver, DriverStep, Expired, Polling};
use crate::source::GapCause;
use crate::source::SourceState;
use crate::watch::error::SourceError;
use crate::watch::transport::Upstream;

/// How long a refusal is not believed of what worked before, or of a server that was away: an API
/// server that starts refuses everybody (403; 401 while an authenticator is not ready; 404 for a CRD)
/// for a moment.
const DOUBT: Duration = Duration::from_secs(10);
/// How often it is asked meanwhile.
const DOUBT_PAUSE: Duration = Duration::from_millis(500);
/// How often a source that is polled is tried to be watched again.
const POLL_FOR: Duration = Duration::from_secs(300);
/// The longest `Retry-After` that is believed.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

impl Driver {
    /// What to do after an error; `None` if there is nothing to be done.
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
            // What is kept stays as it is.
            SourceError::Decode { .. } if self.transport.upstream() == Upstream::Kept => {
                self.fail(cause)
            }
            SourceError::MethodNotAllowed(_)
            | SourceError::Endless { .. }
            | SourceError::Input { .. } => self.fail(cause),
            // Nobody has yet been answered what is asked here.
            SourceError::Rejected(_) if !self.worked.list => self.fail(cause),
            SourceError::Rejected(_) => Some(self.turned_down(step, cause).await),
            SourceError::Ended => {
                self.shared.set_state(SourceState::Ended);
                None
            }
            SourceError::Throttled { after, .. } => Some(self.retry(step, cause, after).await),
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

    /// The version to resume from is too old: lists again, at once if that has not just been tried.
    async fn expired(&mut self, cause: Arc<str>) -> DriverStep {
        self.gap = Some(GapCause::Expired);
        if self.expired == Expired::Again {
            return self.retry(DriverStep::List, cause, None).await;
        }
        self.expired = Expired::Again;
        self.connecting(cause);
        DriverStep::List
    }

    /// The server rejects what it has answered before. Once more may help; after that only a listing, from
    /// which a watch can start anew.
    async fn turned_down(&mut self, step: DriverStep, cause: Arc<str>) -> DriverStep {
        let again = self.retry(step, cause, None).await;
        if step == DriverStep::Watch && self.backoff.failures() > 1 {
            self.gap = Some(GapCause::Refused);
            return DriverStep::List;
        }
        again
    }

    /// Says that the source is not live while it is tried again at once.
    pub(super) fn connecting(&self, cause: Arc<str>) {
        self.shared.set_state(SourceState::Retrying {
            attempt: self.backoff.failures() + 1,
            cause,
            until: self.shared.time(Duration::ZERO),
        });
    }

    /// Says that the source is being retried, waits, and goes on with `step`.
    pub(super) async fn retry(
        &mut self,
        step: DriverStep,
        cause: Arc<str>,
        after: Option<Duration>,
    ) -> DriverStep {
        let (attempt, wait) = self.backoff.failed();
        let wait = after.map_or(wait, |after| after.min(LONGEST_ASKED).max(wait));
        self.pause(attempt, cause, wait).await;
        step
    }

    async fn pause(&mut self, attempt: u32, cause: Arc<str>, wait: Duration) {
        let until = self.shared.time(wait);
        self.shared.set_state(SourceState::Retrying {
            attempt,
            cause,
            until,
        });
        sleep(wait).await;
    }

    /// 401, 403 or 404. It is believed at once, unless what is refused worked before, or the server was
    /// away a moment ago, or refuses what worked, whichever source of the cluster has noticed: then it is
    /// asked for a while longer. So the first answer of a server that runs is believed, and that of one
    /// that starts is not.
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
            // It may have been replaced by another, as behind a load balancer.
            self.shared.health.lost();
        }
        self.shared.health.answered();
        let since = *self.refused_since.get_or_insert_with(Instant::now);
        if since.elapsed() < doubt && (*worked || self.shared.health.is_new(doubt)) {
            let attempt = self.backoff.failures() + 1;
            self.pause(attempt, cause, self.pace.of(DOUBT_PAUSE)).await;
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
            // Listing may be allowed where watching is not.
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
