//! `ServerClock`: how far the server's clock is ahead of this machine's. The `Date` of its responses shows that, but a
//! proxy in front may have written it. The renewals of Leases come from the cluster itself, so they decide.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::timeout;

use crate::env::{Ahead, Clock};
use crate::render::age;
use crate::watch::Dates;

/// How old the last renewal is at most, in a cluster whose components run: they renew every few seconds.
const RENEWED: SignedDuration = SignedDuration::from_secs(60);
/// How much the clocks of a cluster differ at most.
const AGREED: SignedDuration = SignedDuration::from_secs(5);
/// How long the Leases may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// The clock of the server, for a whole run.
pub(crate) struct ServerClock {
    /// How far it is ahead by the `Date` of the responses so far. Zero if both agree or if it is unknown.
    date: Ahead,
    /// This machine's clock.
    now: Clock,
    /// The Leases of the cluster.
    leases: Dates,
    compared: Mutex<ClockReading>,
}

/// What a comparison of the clocks has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockReading {
    /// How far the `Date` was ahead of this machine's clock.
    date: SignedDuration,
    /// How far the server's clock is ahead, as far as that is known.
    ahead: SignedDuration,
    /// Whether a renewal shows it, and not the `Date` alone.
    is_proven: bool,
}

impl ServerClock {
    /// The clock of a server whose `Date` is `date` ahead of this machine's clock.
    pub(crate) fn new(date: Ahead, now: Clock, leases: Dates) -> ServerClock {
        ServerClock {
            date,
            now,
            leases,
            compared: Mutex::new(ClockReading::AGREEMENT),
        }
    }

    /// How far the clock is ahead by the last comparison. Without one, the clocks agree.
    pub(crate) fn ahead(&self) -> SignedDuration {
        self.compared().ahead
    }

    /// Whether the `Date` differs from this machine's clock in a way that no comparison has seen.
    pub(super) fn is_unclear(&self) -> bool {
        let difference = self.compared().date - (self.date)();
        difference.abs() >= AGREED
    }

    /// Compares both clocks with the last renewal of a Lease, which takes one request.
    pub(crate) async fn compare(&self) {
        let date = (self.date)();
        let renewed = timeout(PATIENCE, self.leases.last_renewal()).await;
        let renewed = renewed.ok().flatten();
        *self.compared() = ClockReading::of(date, (self.now)(), renewed);
    }

    /// `this machine's clock is 7h ahead of the server's`, if they differ.
    pub(crate) fn difference(&self) -> Option<String> {
        self.compared().words()
    }

    /// The difference, and that states and ages are by the server's clock.
    pub(crate) fn note(&self) -> Option<String> {
        let compared = *self.compared();
        let by = if compared.is_proven {
            "the server's"
        } else {
            "that Date"
        };
        let difference = compared.words()?;
        Some(format!("{difference}; states and ages are by {by}"))
    }

    fn compared(&self) -> MutexGuard<'_, ClockReading> {
        self.compared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClockReading {
    const AGREEMENT: ClockReading = ClockReading {
        date: SignedDuration::ZERO,
        ahead: SignedDuration::ZERO,
        is_proven: true,
    };

    /// Compares a `Date` and this machine's time with the last renewal. The clock that is nearer to it is right. Without a
    /// recent one, nothing speaks against the `Date`.
    fn of(date: SignedDuration, now: Timestamp, renewed: Option<Timestamp>) -> ClockReading {
        let age = |ahead: SignedDuration| {
            let age = now.duration_since(renewed?).saturating_add(ahead);
            (-AGREED..=RENEWED).contains(&age).then_some(age.abs())
        };
        let clocks = [SignedDuration::ZERO, date].into_iter();
        let ages = clocks.filter_map(|ahead| Some((age(ahead)?, ahead)));
        let proven = ages.min_by_key(|(age, _)| *age);
        ClockReading {
            date,
            ahead: proven.map_or(date, |(_, ahead)| ahead),
            is_proven: proven.is_some(),
        }
    }

    fn words(self) -> Option<String> {
        let by = age::human(self.ahead.abs());
        let way = match self.ahead.signum() {
            0 => return None,
            1 => "behind",
            _ => "ahead of",
        };
        let clock = if self.is_proven {
            "the server's"
        } else {
            "the Date of the server's responses"
        };
        Some(format!("this machine's clock is {by} {way} {clock}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_renewal_decides_between_two_clocks() {
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        for (renewed, date, ahead, is_proven) in [
            // The Date is wrong.
            (Some(-8), 3600, 0, true),
            (Some(-8), -3600, 0, true),
            (Some(-8), 7, 0, true),
            (Some(-8), 40, 0, true),
            (Some(-8), -40, 0, true),
            // This machine's clock is wrong.
            (Some(3590), 3600, 3600, true),
            (Some(-3605), -3600, -3600, true),
            (Some(-42), -40, -40, true),
            (Some(38), 40, 40, true),
            // Both are wrong, nobody renews a Lease any more, or their times are not known.
            (Some(-7200), 3600, 3600, false),
            (Some(-90_000), 3600, 3600, false),
            (None, 3600, 3600, false),
        ] {
            let renewed = renewed.map(|seconds| now + SignedDuration::from_secs(seconds));
            let compared = ClockReading::of(SignedDuration::from_secs(date), now, renewed);
            let shown = (compared.ahead.as_secs(), compared.is_proven);
            assert_eq!(shown, (ahead, is_proven), "{renewed:?} {date}");
        }
    }

    #[test]
    fn words_claim_only_what_was_read() {
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        let words = |date, renewed: Option<i64>| {
            let renewed = renewed.map(|seconds| now + SignedDuration::from_secs(seconds));
            ClockReading::of(SignedDuration::from_hours(date), now, renewed).words()
        };
        for (date, renewed, expect) in [
            (3, Some(10_795), Some("3h behind the server's")),
            (-7, Some(-25_205), Some("7h ahead of the server's")),
            (
                -7,
                None,
                Some("7h ahead of the Date of the server's responses"),
            ),
            (1, Some(-5), None),
        ] {
            let expect = expect.map(|expect| format!("this machine's clock is {expect}"));
            assert_eq!(words(date, renewed), expect);
        }
    }
}
