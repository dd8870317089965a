//! How long to wait before the next try.

use std::num::NonZeroU32;
use std::time::Duration;

/// The first wait after a failure, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// The first wait after a refusal, and the longest.
const DENIED: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(300));
/// How often a resource that is not served is asked for: a CRD may be on its way.
const UNSERVED: Duration = Duration::from_secs(30);
/// How often a source that cannot be watched is listed: soon after a change, then less often.
const POLL: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(15));

/// How fast a source's waits pass: as usual, or all so many times shorter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace(pub(super) NonZeroU32);

impl Pace {
    /// As usual.
    pub(super) const USUAL: Pace = Pace(NonZeroU32::MIN);

    /// What `usual` comes to.
    pub(super) fn of(self, usual: Duration) -> Duration {
        usual / self.0.get()
    }
}

/// The waits of one source: they double from the first to the longest, and each is shortened by up
/// to half at random, so that many sources do not come back at one moment.
#[derive(Debug)]
pub(super) struct Backoff {
    rng: fastrand::Rng,
    pace: Pace,
    failures: u32,
    refusals: u32,
    quiet_polls: u32,
}

impl Backoff {
    pub(super) fn new(seed: u64, pace: Pace) -> Backoff {
        Backoff {
            rng: fastrand::Rng::with_seed(seed),
            pace,
            failures: 0,
            refusals: 0,
            quiet_polls: 0,
        }
    }

    /// Another failure: how many there were in a row, and how long to wait.
    pub(super) fn failed(&mut self) -> (u32, Duration) {
        self.failures += 1;
        let wait = doubled(RETRY, self.failures);
        (self.failures, self.jitter(wait))
    }

    /// How many failures there were in a row.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// There was progress: the next failure is the first.
    pub(super) fn progress(&mut self) {
        self.failures = 0;
    }

    /// Another refusal.
    pub(super) fn denied(&mut self) -> Duration {
        self.refusals += 1;
        let wait = doubled(DENIED, self.refusals);
        self.jitter(wait)
    }

    /// The server let us read.
    pub(super) fn allowed(&mut self) {
        self.refusals = 0;
    }

    /// The resource is not served.
    pub(super) fn unserved(&mut self) -> Duration {
        self.jitter(UNSERVED)
    }

    /// Between two listings, the last of which found so many changes.
    pub(super) fn poll(&mut self, changes: usize) -> Duration {
        self.quiet_polls = match changes {
            0 => self.quiet_polls + 1,
            _ => 0,
        };
        let (least, most) = POLL;
        let wait = (least + Duration::from_secs(2) * self.quiet_polls.min(8)).min(most);
        self.pace.of(least).max(self.jitter(wait))
    }

    fn jitter(&mut self, wait: Duration) -> Duration {
        self.pace.of(wait.mul_f64(0.5 + self.rng.f64() / 2.0))
    }
}

/// `first` doubled for each time after the first, up to `longest`.
fn doubled((first, longest): (Duration, Duration), times: u32) -> Duration {
    let factor = 1_u32 << times.saturating_sub(1).min(16);
    first.saturating_mul(factor).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff(seed: u64) -> Backoff {
        Backoff::new(seed, Pace(NonZeroU32::MIN))
    }

    #[test]
    fn a_pace_shortens_every_wait_alike() {
        let waits = |times| {
            let pace = Pace(NonZeroU32::new(times).expect("not 0"));
            let mut backoff = Backoff::new(5, pace);
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
    fn refusals_are_counted_apart() {
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
    fn one_seed_gives_one_schedule() {
        let waits = |seed| {
            let mut backoff = backoff(seed);
            (0..8).map(|_| backoff.failed().1).collect::<Vec<_>>()
        };
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }
}
