//! `SourceDemand`: what the holders of a source want of its task: that it lives, that it begins, and that it lists once more.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// What is wanted of the task of one source. It is no channel: that takes 350 bytes more, and a view can have thousands of
/// sources that are idle.
#[derive(Default)]
pub(super) struct SourceDemand {
    wanted: Mutex<Wanted>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Wanted {
    /// How many handles exist: sources and subscriptions.
    leases: usize,
    /// Whether reading may begin.
    is_started: bool,
    /// The number of the newest request for a listing.
    asked: u64,
    /// The newest request that is served. A listing serves all requests from before its beginning.
    served: u64,
}

impl SourceDemand {
    /// Adds a handle.
    pub(super) fn hold(&self) {
        self.change(|wanted| wanted.leases += 1);
    }

    /// Removes a handle.
    pub(super) fn release(&self) {
        self.change(|wanted| wanted.leases -= 1);
    }

    /// Whether a handle exists.
    pub(super) fn is_held(&self) -> bool {
        self.wanted().leases > 0
    }

    /// Waits until no handle has existed for the time `linger`.
    pub(super) async fn unheld(&self, linger: Duration) {
        loop {
            self.until(|wanted| wanted.leases == 0).await;
            let held_again = self.until(|wanted| wanted.leases > 0);
            if timeout(linger, held_again).await.is_err() {
                return;
            }
        }
    }

    /// Allows reading from here on.
    pub(super) fn start(&self) {
        self.change(|wanted| wanted.is_started = true);
    }

    /// Waits until reading may begin.
    pub(super) async fn started(&self) {
        self.until(|wanted| wanted.is_started).await;
    }

    /// Asks for a listing, and waits until one that has begun later is stored.
    pub(super) async fn ask_for_listing(&self) {
        self.change(|wanted| wanted.asked += 1);
        let number = self.asked();
        self.until(|wanted| wanted.served >= number).await;
    }

    /// The number of the newest request for a listing.
    pub(super) fn asked(&self) -> u64 {
        self.wanted().asked
    }

    /// Records that a listing is stored that began when `asked` was the newest request.
    pub(super) fn serve(&self, asked: u64) {
        self.change(|wanted| wanted.served = asked);
    }

    /// Waits until a request for a listing is not served.
    pub(super) async fn listing_wanted(&self) {
        self.until(|wanted| wanted.asked > wanted.served).await;
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Wanted)) {
        change(&mut self.wanted());
        self.changed.notify_waiters();
    }

    async fn until(&self, is_met: impl Fn(&Wanted) -> bool) {
        loop {
            // A change after this line ends the wait.
            let changed = self.changed.notified();
            if is_met(&self.wanted()) {
                return;
            }
            changed.await;
        }
    }
}
