//! How long to wait before the next attempt, and the health of the server that decides it.

use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The waits after failures.
const RETRY: Doubling = Doubling {
    first: Duration::from_millis(500),
    longest: Duration::from_secs(30),
};
/// The waits after refusals.
const DENIED: Doubling = Doubling {
    first: Duration::from_secs(30),
    longest: Duration::from_secs(300),
};
/// The wait before a resource that is not served is requested again: its CRD may be created meanwhile.
const UNSERVED: Duration = Duration::from_secs(30);
/// The waits between listings of a source that cannot be watched: short after a change, then longer.
const POLL: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(15));
/// The longest wait that a `Retry-After` can cause, as in the client.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// The factor by which a source's waits are shortened; 1 for real servers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speed(pub(super) NonZeroU32);

impl Speed {
    /// Waits are not shortened.
    pub(super) const USUAL: Speed = Speed(NonZeroU32::MIN);

    /// Shortens a wait.
    pub(super) fn of(self, usual: Duration) -> Duration {
        usual / self.0.get()
    }
}

/// The waits of one source. Each doubles from its first to its longest value. Random jitter then shortens it by
/// up to half, so that many sources do not return at the same moment.
#[derive(Debug)]
pub(super) struct Backoff {
    rng: fastrand::Rng,
    speed: Speed,
    /// The number of failures in a row.
    pub(super) failures: u32,
    refusals: u32,
    quiet_polls: u32,
}

impl Backoff {
    pub(super) fn new(jitter_seed: u64, speed: Speed) -> Backoff {
        Backoff {
            rng: fastrand::Rng::with_seed(jitter_seed),
            speed,
            failures: 0,
            refusals: 0,
            quiet_polls: 0,
        }
    }

    /// Counts a failure. Returns the number of failures in a row, and the wait before the next attempt.
    pub(super) fn failed(&mut self) -> (u32, Duration) {
        self.failures += 1;
        let wait = RETRY.after(self.failures);
        (self.failures, self.jitter(wait))
    }

    /// Records progress: the next failure is the first again.
    pub(super) fn progress(&mut self) {
        self.failures = 0;
    }

    /// Counts a refusal, and returns the wait before the next attempt.
    pub(super) fn denied(&mut self) -> Duration {
        self.refusals += 1;
        let wait = DENIED.after(self.refusals);
        self.jitter(wait)
    }

    /// Records that the server allowed a request.
    pub(super) fn allowed(&mut self) {
        self.refusals = 0;
    }

    /// The wait before a resource that is not served is requested again.
    pub(super) fn unserved(&mut self) -> Duration {
        self.jitter(UNSERVED)
    }

    /// The wait before the next listing. `changes` is how many the last one found.
    pub(super) fn poll(&mut self, changes: usize) -> Duration {
        self.quiet_polls = match changes {
            0 => self.quiet_polls + 1,
            _ => 0,
        };
        let (least, most) = POLL;
        let wait = (least + Duration::from_secs(2) * self.quiet_polls.min(8)).min(most);
        self.speed.of(least).max(self.jitter(wait))
    }

    fn jitter(&mut self, wait: Duration) -> Duration {
        self.speed.of(wait.mul_f64(0.5 + self.rng.f64() / 2.0))
    }
}

/// Waits that double, from the first to the longest.
struct Doubling {
    first: Duration,
    longest: Duration,
}

impl Doubling {
    /// The wait after this many attempts.
    fn after(&self, times: u32) -> Duration {
        let factor = 1_u32 << times.saturating_sub(1).min(16);
        self.first.saturating_mul(factor).min(self.longest)
    }
}

/// The last thing that any source of one cluster learned about its server.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<ServerPhase>);

#[derive(Clone, Copy, Debug, Default)]
enum ServerPhase {
    /// No connection has failed so far.
    #[default]
    Steady,
    /// A connection broke or failed, and the server has not answered since.
    Away,
    /// The server answers again, since this time.
    Back(Instant),
}

impl Health {
    /// Records that the server was unreachable, broke a connection, or is not the server that answered before.
    pub(super) fn lost(&self) {
        *self.phase() = ServerPhase::Away;
    }

    /// Records that the server answered. A refusal counts.
    pub(super) fn answered(&self) {
        let mut phase = self.phase();
        if matches!(*phase, ServerPhase::Away) {
            *phase = ServerPhase::Back(Instant::now());
        }
    }

    /// Whether the server is unreachable, or has been back for less than `span`.
    pub(super) fn is_new(&self, span: Duration) -> bool {
        match *self.phase() {
            ServerPhase::Steady => false,
            ServerPhase::Away => true,
            ServerPhase::Back(since) => since.elapsed() < span,
        }
    }

    fn phase(&self) -> MutexGuard<'_, ServerPhase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff(seed: u64) -> Backoff {
        Backoff::new(seed, Speed(NonZeroU32::MIN))
    }

    #[test]
    fn a_speed_shortens_every_wait() {
        let waits = |times| {
            let speed = Speed(NonZeroU32::new(times).expect("not 0"));
            let mut backoff = Backoff::new(5, speed);
            [
                backoff.failed().1,
                backoff.denied(),
                backoff.unserved(),
                backoff.poll(1),
                backoff.poll(0),
            ]
        };
        for (usual, fast) in waits(1).into_iter().zip(waits(100)) {
            assert_eq!(usual / 100, fast);
        }
    }

    #[test]
    fn failures_double_up_to_the_longest_wait() {
        let mut backoff = backoff(1);
        let longest = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0];
        for (at, longest) in longest.iter().enumerate() {
            let (attempt, wait) = backoff.failed();
            assert_eq!(attempt as usize, at + 1);
            assert!(
                (longest / 2.0..=*longest).contains(&wait.as_secs_f64()),
                "{wait:?}"
            );
        }
        for _ in 0..100 {
            backoff.failed();
        }
        backoff.progress();
        assert!(backoff.failed().1 <= Duration::from_millis(500));
    }

    #[test]
    fn failures_and_refusals_are_counted_separately() {
        let mut backoff = backoff(2);
        backoff.failed();
        let waits: Vec<Duration> = (0..6).map(|_| backoff.denied()).collect();
        assert!(waits[0] >= Duration::from_secs(15) && waits[0] <= Duration::from_secs(30));
        assert!(waits[5] >= Duration::from_secs(150) && waits[5] <= Duration::from_secs(300));
        assert_eq!(backoff.failed().0, 2);
    }

    #[test]
    fn polls_slow_down_while_nothing_changes() {
        let mut backoff = backoff(3);
        for changes in [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3] {
            let wait = backoff.poll(changes).as_secs_f64();
            assert!((5.0..=15.0).contains(&wait), "{wait}");
        }
        assert!(backoff.poll(1) <= Duration::from_secs(5));
    }

    #[test]
    fn equal_seeds_give_equal_waits() {
        let waits = |seed| {
            let mut backoff = backoff(seed);
            (0..8).map(|_| backoff.failed().1).collect::<Vec<_>>()
        };
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }
}
