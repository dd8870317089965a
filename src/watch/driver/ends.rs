//! What a source says of itself between two watches: that it is live when it is, and nothing of what is
//! routine.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::session::WatchEnd;
use super::{CLOSED, Driver, DriverStep, LIVED, SPIN};
use crate::source::SourceState;
use crate::watch::error::SourceError;

/// How long a watch that was opened after a failure stays on trial: a server that has forgotten the
/// version to resume from accepts the watch, and says so in its first line.
const TRIAL: Duration = Duration::from_millis(250);

impl Driver {
    /// Until when a watch that opens now has to prove itself. The first of a source need not: it goes on
    /// from a listing that was just read. Nor does one that follows a routine end.
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

    /// What follows the end of a watch. One that has run for a while ends as a matter of routine: the
    /// server closes it after its time, and what is in between (a load balancer) cuts it. The next is
    /// opened at once, and nothing is said unless that fails.
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

    /// The server closed a watch that had just been opened. That happens, and is waited out in silence;
    /// if it happens again it is said.
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
