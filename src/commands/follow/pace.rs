//! `RedrawPace`: how often something is done that may take long.

use std::time::Duration;

use tokio::time::Instant;

/// How often a frame is drawn at least, as ages go on; and the longest rest.
pub(super) const BEAT: Duration = Duration::from_secs(1);

/// When something is done that is owed: at once, unless it was just done and took long.
pub(super) struct RedrawPace {
    /// Something has come since it was last done.
    pub(super) is_owed: bool,
    /// Until when it is not done again.
    pub(super) rests_until: Instant,
    done: Option<Instant>,
}

impl Default for RedrawPace {
    fn default() -> RedrawPace {
        RedrawPace {
            is_owed: false,
            rests_until: Instant::now(),
            done: None,
        }
    }
}

impl RedrawPace {
    /// Whether it is owed, and the rest is over.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.is_owed && now >= self.rests_until
    }

    /// Whether it was not done for a beat.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.done
            .is_none_or(|done| now.duration_since(done) >= BEAT)
    }

    /// Notes that it is done, and was begun then: it rests so many times as long as it took, and no
    /// longer than a beat.
    pub(super) fn done(&mut self, begun: Instant, times: u32) {
        let end = Instant::now();
        let rest = end.duration_since(begun).saturating_mul(times);
        *self = RedrawPace {
            is_owed: false,
            rests_until: end + rest.min(BEAT),
            done: Some(begun),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    /// After how many milliseconds it is due again, if it took so many and rests so many times as long.
    async fn due_after(took: u64, times: u32) -> u64 {
        let mut pace = RedrawPace::default();
        let begun = Instant::now();
        advance(Duration::from_millis(took)).await;
        pace.done(begun, times);
        assert!(!pace.is_due(Instant::now()), "nothing is owed");
        pace.is_owed = true;
        let mut after = 0;
        while !pace.is_due(Instant::now()) {
            advance(Duration::from_millis(1)).await;
            after += 1;
        }
        after
    }

    #[tokio::test(start_paused = true)]
    async fn it_rests_by_what_it_took() {
        assert_eq!(due_after(0, 4).await, 0);
        assert_eq!(due_after(20, 4).await, 80);
        assert_eq!(due_after(20, 0).await, 0);
        assert_eq!(due_after(3_000, 4).await, 1_000, "no longer than a beat");
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_overdue_after_a_beat() {
        let mut pace = RedrawPace::default();
        assert!(pace.is_overdue(Instant::now()), "it was never done");
        pace.done(Instant::now(), 4);
        assert!(!pace.is_overdue(Instant::now()));
        advance(BEAT).await;
        assert!(pace.is_overdue(Instant::now()));
    }
}
