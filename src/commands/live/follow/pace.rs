//! `RedrawPace`: when a verb prints and draws, so that a burst of events costs no more than it must.

use std::time::Duration;

use tokio::time::Instant;

/// The longest time between two frames, because ages change. Also the longest pause.
pub(super) const BEAT: Duration = Duration::from_secs(1);

/// The longest time until a frame shows an event after a quiet time.
pub(super) const FRAME: Duration = Duration::from_millis(100);

/// The time between two frames while events keep coming. Nobody reads a table more often.
pub(super) const BUSY_FRAME: Duration = Duration::from_millis(200);

/// When an action runs that is due: at once, unless the last run took long and has just ended.
pub(super) struct RedrawPace {
    /// Whether anything is new since the last run.
    pub(super) is_owed: bool,
    /// The end of the pause after the last run.
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
    /// Whether the pause after the last run is not over.
    pub(super) fn rests(&self, now: Instant) -> bool {
        now < self.rests_until
    }

    /// Whether a run is needed and the pause is over.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.is_owed && !self.rests(now)
    }

    /// Whether the last run was at least a beat ago.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.done
            .is_none_or(|done| now.duration_since(done) >= BEAT)
    }

    /// Ends the pause.
    pub(super) fn end_rest(&mut self) {
        self.rests_until = Instant::now();
    }

    /// Extends the pause to this time.
    pub(super) fn rest_until(&mut self, until: Instant) {
        self.rests_until = self.rests_until.max(until);
    }

    /// Records a run that started at `begun`. The pause is `times` as long as the run took, and at most a
    /// beat.
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
    use tokio::time::advance;

    use super::*;

    /// The pause in milliseconds after a run of `took` milliseconds.
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
    async fn the_pause_is_a_multiple_of_the_run() {
        assert_eq!(due_after(0, 4).await, 0);
        assert_eq!(due_after(20, 4).await, 80);
        assert_eq!(due_after(20, 0).await, 0);
        assert_eq!(due_after(3_000, 4).await, 1_000, "no longer than a beat");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_can_be_extended_and_never_shortened() {
        let mut pace = RedrawPace::default();
        let begun = Instant::now();
        pace.is_owed = true;
        pace.rest_until(begun + FRAME);
        pace.rest_until(begun);
        assert!(!pace.is_due(begun) && pace.is_due(begun + FRAME));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_can_be_ended() {
        let mut pace = RedrawPace::default();
        let begun = Instant::now();
        pace.is_owed = true;
        pace.rest_until(begun + FRAME);
        assert!(pace.rests(begun));
        pace.end_rest();
        assert!(!pace.rests(begun) && pace.is_due(begun));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_is_overdue_after_a_beat() {
        let mut pace = RedrawPace::default();
        assert!(pace.is_overdue(Instant::now()), "it was never done");
        pace.done(Instant::now(), 4);
        assert!(!pace.is_overdue(Instant::now()));
        advance(BEAT).await;
        assert!(pace.is_overdue(Instant::now()));
    }
}
