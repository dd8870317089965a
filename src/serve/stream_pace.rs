//! `StreamPace`: how often a stream sends, so that many streams cost no more than a budget.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::places::ReaderPlaces;

/// How long a stream rests for each open stream. So all streams together begin to send at most 1,000 times a second.
const FOR_EACH: Duration = Duration::from_millis(1);

/// The pace of one stream. After a quiet time, it sends at once.
pub(super) struct StreamPace {
    streams: Arc<ReaderPlaces>,
    rests_until: Instant,
}

impl StreamPace {
    /// The pace of one of these streams.
    pub(super) fn among(streams: Arc<ReaderPlaces>) -> StreamPace {
        StreamPace {
            streams,
            rests_until: Instant::now(),
        }
    }

    /// Begins a rest: as long as the number of open streams asks for, and at least this long.
    pub(super) fn begin_rest(&mut self, least: Duration) {
        let streams = u32::try_from(self.streams.taken()).unwrap_or(u32::MAX);
        let rest = FOR_EACH.saturating_mul(streams.saturating_sub(1));
        self.rests_until = Instant::now() + rest.max(least);
    }

    /// Whether the rest is not over.
    pub(super) fn rests(&self) -> bool {
        Instant::now() < self.rests_until
    }

    /// Waits until the rest is over.
    pub(super) async fn rest(&self) {
        if self.rests() {
            sleep_until(self.rests_until).await;
        }
    }
}
