//! The settings of a multiplexer.

use std::num::NonZeroU32;
use std::time::Duration;

/// The settings of a [`Mux`](super::Mux).
#[derive(Clone, Debug)]
pub struct MuxOptions {
    /// The seed of all jitter.
    pub seed: u64,
    /// How many bytes may wait for one lossless subscriber of one source: text and tape.
    pub queue_bytes: usize,
    /// How long a source stays open after its last handle is dropped. A view that opens it again in time need not
    /// list again.
    pub linger: Duration,
    /// How many items a page of a listing has; 0 for one page.
    pub page_items: u32,
    /// Whether a source is watched after its first listing. A view that is printed once needs no watch.
    pub watches: bool,
    /// Divides the waits of a driver: before a retry, between polls, and until it gives up a silent watch.
    /// `Retry-After` is not divided. Tests that run on the wall clock set it; real servers need 1.
    pub speed: NonZeroU32,
}

impl Default for MuxOptions {
    fn default() -> MuxOptions {
        MuxOptions {
            seed: fastrand::u64(..),
            queue_bytes: 64 << 20,
            linger: Duration::from_secs(2),
            // kubectl's default chunk size.
            page_items: 500,
            watches: true,
            speed: NonZeroU32::MIN,
        }
    }
}
