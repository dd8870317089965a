//! `Polls`: asks a source that only lists its objects at intervals for a listing that begins now.

use tokio::sync::watch;

/// The numbers of the requested listings. A listing serves all requests from before its beginning.
pub(super) struct Polls {
    asked: watch::Sender<u64>,
    served: watch::Sender<u64>,
}

impl Polls {
    pub(super) fn new() -> Polls {
        Polls {
            asked: watch::Sender::new(0),
            served: watch::Sender::new(0),
        }
    }

    /// Asks for a listing, and waits until one that has begun later is stored.
    pub(super) async fn ask(&self) {
        self.asked.send_modify(|asked| *asked += 1);
        let number = self.asked();
        let mut served = self.served.subscribe();
        // This cannot fail: the sender lives as long as `self`.
        let _always = served.wait_for(|served| *served >= number).await;
    }

    /// The number of the newest request.
    pub(super) fn asked(&self) -> u64 {
        *self.asked.borrow()
    }

    /// Records that a listing is stored that began when `asked` was the newest request.
    pub(super) fn serve(&self, asked: u64) {
        self.served.send_replace(asked);
    }

    /// Waits until a request is not served.
    pub(super) async fn wanted(&self) {
        let mut asked = self.asked.subscribe();
        let is_open = |asked: &u64| *asked > *self.served.borrow();
        let _always = asked.wait_for(is_open).await;
    }
}
