//! `Interrupt`: what ends a walk before it has come to its end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// The limits of one walk in time.
pub(super) struct Interrupt {
    deadline: Option<Instant>,
    stop: watch::Receiver<bool>,
    is_cut: AtomicBool,
}

impl Interrupt {
    /// A walk waits for no request after `deadline`, and for nothing at all after `stop`.
    pub(super) fn new(deadline: Option<Instant>, stop: watch::Receiver<bool>) -> Interrupt {
        Interrupt {
            deadline,
            stop,
            is_cut: AtomicBool::new(false),
        }
    }

    /// Whether the walk was stopped before it came to its end.
    pub(super) fn has_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// What comes of something before there is no more time.
    pub(super) async fn in_time<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let future = self.unless_stopped(future);
        match self.deadline {
            Some(deadline) => timeout_at(deadline, future).await.ok().flatten(),
            None => future.await,
        }
    }

    /// What comes of something before the walk is stopped. Afterwards nothing is begun, either.
    pub(super) async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        let stopped = async { stop.wait_for(|is_stopped| *is_stopped).await.is_ok() };
        tokio::select! {
            biased;
            _ = stopped => {
                self.is_cut.store(true, Ordering::Relaxed);
                None
            }
            done = future => Some(done),
        }
    }
}
