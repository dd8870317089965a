//! `SourceDemand`: what the holders of a source want of its task: that it lives, that it begins, and that it lists once more.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// What is wanted of the task of one source. It is a single channel: each takes 350 bytes, and a view can have thousands of sources
/// that are idle.
pub(super) struct SourceDemand(watch::Sender<Wanted>);

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
    /// Nothing is wanted.
    pub(super) fn new() -> SourceDemand {
        SourceDemand(watch::Sender::new(Wanted::default()))
    }

    /// Adds a handle.
    pub(super) fn hold(&self) {
        self.0.send_modify(|wanted| wanted.leases += 1);
    }

    /// Removes a handle.
    pub(super) fn release(&self) {
        self.0.send_modify(|wanted| wanted.leases -= 1);
    }

    /// Whether a handle exists.
    pub(super) fn is_held(&self) -> bool {
        self.0.borrow().leases > 0
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
        self.0.send_modify(|wanted| wanted.is_started = true);
    }

    /// Waits until reading may begin.
    pub(super) async fn started(&self) {
        self.until(|wanted| wanted.is_started).await;
    }

    /// Asks for a listing, and waits until one that has begun later is stored.
    pub(super) async fn ask_for_listing(&self) {
        self.0.send_modify(|wanted| wanted.asked += 1);
        let number = self.asked();
        self.until(|wanted| wanted.served >= number).await;
    }

    /// The number of the newest request for a listing.
    pub(super) fn asked(&self) -> u64 {
        self.0.borrow().asked
    }

    /// Records that a listing is stored that began when `asked` was the newest request.
    pub(super) fn serve(&self, asked: u64) {
        self.0.send_modify(|wanted| wanted.served = asked);
    }

    /// Waits until a request for a listing is not served.
    pub(super) async fn listing_wanted(&self) {
        self.until(|wanted| wanted.asked > wanted.served).await;
    }

    async fn until(&self, is_met: impl Fn(&Wanted) -> bool) {
        let mut wanted = self.0.subscribe();
        // This cannot fail: the sender lives as long as `self`.
        let _always = wanted.wait_for(|wanted| is_met(wanted)).await;
    }
}
