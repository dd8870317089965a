//! The state of a source between two watches. Only a lasting interruption is reported, not a routine one.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::session::WatchEnd;
use super::{CLOSED, Driver, DriverStep, LIVED, SPIN};
use crate::source::SourceState;
use crate::watch::error::SourceError;

/// How long a watch that follows a failure stays on trial. A server that no longer has the version to resume from
/// accepts the watch, and reports the error in its first line.
const TRIAL: Duration = Duration::from_millis(250);

impl Driver {
    /// When the trial of a watch ends that opens now. There is no trial for the first watch of a source, which
    /// follows a fresh listing, and none after a routine end.
    pub(super) fn trial(&self, opened: Instant) -> Option<Instant> {
        match &*self.shared.state().borrow() {
            SourceState::Connecting | SourceState::Live => {}
            SourceState::Retrying { .. }
            | SourceState::Forbidden { .. }
            | SourceState::Unserved { .. }
            | SourceState::Polling { .. }
            | SourceState::Failed { .. }
            | SourceState::Ended => return Some(opened + self.pace.of(TRIAL)),
        }
        self.shared.set_state(SourceState::Live);
        None
    }

    /// Decides what follows the end of a watch. After a while an end is routine: the server's time limit closes
    /// the watch, or a load balancer cuts it. Then the next watch opens at once, and nothing is reported unless
    /// that fails.
    pub(super) async fn ended(
        &mut self,
        end: WatchEnd,
        lived: Duration,
    ) -> Result<DriverStep, SourceError> {
        match end {
            WatchEnd::Closed if lived > self.pace.of(SPIN) => {
                self.why_ended = CLOSED.into();
                Ok(DriverStep::Watch)
            }
            WatchEnd::Closed => Ok(self.closed_early().await),
            WatchEnd::Restored => {
                self.shared.set_back();
                Ok(DriverStep::List)
            }
            WatchEnd::Unreadable(detail) => Ok(self.unreadable(detail).await),
            WatchEnd::Failed(error @ SourceError::Cut { .. }) if lived > self.pace.of(LIVED) => {
                self.shared.health.lost();
                self.why_ended = error.to_string().into();
                Ok(DriverStep::Watch)
            }
            WatchEnd::Failed(error) => Err(error),
        }
    }

    /// Handles a watch that the server closed just after it was opened. The first time the driver waits without a
    /// report; if it happens again, it reports a retry.
    async fn closed_early(&mut self) -> DriverStep {
        let is_live = *self.shared.state().borrow() == SourceState::Live;
        if !is_live || self.backoff.failures() > 0 {
            return self.retry(DriverStep::Watch, CLOSED.into(), None).await;
        }
        self.why_ended = CLOSED.into();
        let (_, wait) = self.backoff.failed();
        sleep(wait).await;
        DriverStep::Watch
    }
}
