//! Wakes the reader of a queue or a table: when the lock is released that it would only wait for before.

use std::sync::Arc;

use tokio::sync::Notify;

/// A signal that is given later.
#[derive(Debug)]
pub(super) struct Bell {
    signal: Arc<Notify>,
    rung: bool,
}

impl Bell {
    pub(super) fn new(signal: Arc<Notify>) -> Bell {
        Bell {
            signal,
            rung: false,
        }
    }

    /// There is something to read.
    pub(super) fn ring(&mut self) {
        self.rung = true;
    }

    /// The signal, if it is to be given.
    pub(super) fn take(&mut self) -> Option<Arc<Notify>> {
        std::mem::take(&mut self.rung).then(|| self.signal.clone())
    }
}
