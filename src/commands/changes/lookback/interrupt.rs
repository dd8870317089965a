//! `Interrupt`: ends a walk before it is complete.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// The deadline and the stop signal of one walk.
pub(super) struct Interrupt {
    deadline: Option<Instant>,
    stop: watch::Receiver<bool>,
    is_cut: AtomicBool,
}

impl Interrupt {
    /// After `deadline` the walk waits for no request; after `stop` it waits for nothing.
    pub(super) fn new(deadline: Option<Instant>, stop: watch::Receiver<bool>) -> Interrupt {
        Interrupt {
            deadline,
            stop,
            is_cut: AtomicBool::new(false),
        }
    }

    /// Whether `stop` ended the walk before it was complete.
    pub(super) fn has_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// The result of a future, or `None` at the deadline or after the stop.
    pub(super) async fn in_time<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let future = self.unless_stopped(future);
        match self.deadline {
            Some(deadline) => timeout_at(deadline, future).await.ok().flatten(),
            None => future.await,
        }
    }

    /// The result of a future, or `None` after the stop. After the stop, the future does not even start.
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
