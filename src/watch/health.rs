//! The health of a cluster's server, shared by all sources of that cluster.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The last thing that any source of one cluster learned about its server.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<ServerPhase>);

#[derive(Clone, Copy, Debug, Default)]
enum ServerPhase {
    /// No connection has failed so far.
    #[default]
    Steady,
    /// A connection broke or failed, and the server has not answered since.
    Away,
    /// The server answers again, since this time.
    Back(Instant),
}

impl Health {
    /// Records that the server was unreachable, broke a connection, or is not the server that answered before.
    pub(super) fn lost(&self) {
        *self.phase() = ServerPhase::Away;
    }

    /// Records that the server answered. A refusal counts.
    pub(super) fn answered(&self) {
        let mut phase = self.phase();
        if matches!(*phase, ServerPhase::Away) {
            *phase = ServerPhase::Back(Instant::now());
        }
    }

    /// Whether the server is unreachable, or has been back for less than `span`.
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
