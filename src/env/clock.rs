//! The clock: this machine's, or one that is ahead of it.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Env;

/// Returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Returns how far a clock is ahead of this machine's.
pub type Ahead = Arc<dyn Fn() -> SignedDuration + Send + Sync>;

impl Env {
    /// The current time by the clock that counts.
    pub fn now(&self) -> Timestamp {
        shifted((self.now)(), (self.ahead)())
    }

    /// The clock that is ahead of this machine's.
    pub fn clock_ahead(&self, ahead: Ahead) -> Clock {
        let now = self.now.clone();
        Arc::new(move || shifted(now(), ahead()))
    }
}

/// Converts a time to a clock that is ahead.
pub fn shifted(time: Timestamp, ahead: SignedDuration) -> Timestamp {
    time.checked_add(ahead).unwrap_or(time)
}

/// This machine's clock, or one that stands still.
#[expect(clippy::disallowed_methods, reason = "the clock enters here")]
pub(super) fn clock(fixed: Option<Timestamp>) -> Clock {
    match fixed {
        Some(time) => Arc::new(move || time),
        None => Arc::new(Timestamp::now),
    }
}
