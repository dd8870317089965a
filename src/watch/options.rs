//! What can be set about a multiplexer.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

/// Tells the time, for what is shown. Waiting goes by tokio's.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What can be set about a [`Mux`](super::Mux).
#[derive(Clone, Debug)]
pub struct MuxOptions {
    /// From which all jitter follows.
    pub seed: u64,
    /// How many bytes one lossless subscriber may have waiting, per source: text and tape.
    pub queue_bytes: usize,
    /// How long a source is kept after its last handle is dropped, so that a view can change its
    /// mind without listing again.
    pub linger: Duration,
    /// Items a page of a listing; 0 for all at once.
    pub page_items: u32,
    /// How many times shorter than for real servers a driver's waits are: before the next try, between
    /// polls, and until a silent watch is given up. What `Retry-After` says stays as it is. For tests
    /// on the clock of the wall.
    pub speed: NonZeroU32,
}

impl Default for MuxOptions {
    fn default() -> MuxOptions {
        MuxOptions {
            seed: fastrand::u64(..),
            queue_bytes: 64 << 20,
            linger: Duration::from_secs(2),
            // What kubectl asks for.
            page_items: 500,
            speed: NonZeroU32::MIN,
        }
    }
}
