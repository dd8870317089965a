//! How a cluster's server is doing, told by each of its sources and known to all of them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// What the sources of one cluster have met last.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<ServerPhase>);

#[derive(Clone, Copy, Debug, Default)]
enum ServerPhase {
    /// It has never been away.
    #[default]
    Steady,
    /// A connection broke or could not be had, and nothing has been answered since.
    Away,
    /// It has answered again, first at this time.
    Back(Instant),
}

impl Health {
    /// The server was not to be reached, broke off, or is not the one that answered before.
    pub(super) fn lost(&self) {
        *self.phase() = ServerPhase::Away;
    }

    /// The server answered, be it with a refusal.
    pub(super) fn answered(&self) {
        let mut phase = self.phase();
        if matches!(*phase, ServerPhase::Away) {
            *phase = ServerPhase::Back(Instant::now());
        }
    }

    /// Whether the server was away, and has been back for less than `span`.
    pub(super) fn is_new(&self, span: Duration) -> bool {
        match *self.phase() {
            ServerPhase::Steady => false,
            ServerPhase::Away => true,
            ServerPhase::Back(since) => since.elapsed() < span,
        }
    }

    fn phase(&self) -> MutexGuard<'_, ServerPhase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
