//! `ServerClock`: how far the server's clock is ahead of this machine's. The `Date` of its responses shows that, but a
//! proxy in front may have written it. The renewals of Leases come from the cluster itself.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::OnceCell;

use crate::watch::Dates;

/// How old the last renewal is at most, in a cluster whose components run: they renew every few seconds.
const RENEWED: SignedDuration = SignedDuration::from_secs(60);
/// How much the clocks of a cluster differ at most.
const AGREED: SignedDuration = SignedDuration::from_secs(5);

/// The clock of the server, for all sources of a run.
#[derive(Clone, Debug)]
pub(super) struct ServerClock {
    /// How far it is ahead, by the `Date` of a response; negative if it is behind.
    date: SignedDuration,
    /// This machine's time.
    now: Timestamp,
    checked: Arc<OnceCell<SignedDuration>>,
}

impl ServerClock {
    pub(super) fn new(date: SignedDuration, now: Timestamp) -> ServerClock {
        let checked = Arc::default();
        ServerClock { date, now, checked }
    }

    /// How far the clock is ahead, as far as that is known.
    pub(super) fn ahead(&self) -> SignedDuration {
        self.checked.get().copied().unwrap_or(self.date)
    }

    /// How far the clock is ahead, after a comparison with the Leases. Clocks that agree need none.
    pub(super) async fn check(&self, dates: Option<&Dates>) -> SignedDuration {
        let check = || async {
            match dates.filter(|_| !self.date.is_zero()) {
                Some(dates) => self.believed(dates.last_renewal().await),
                None => self.date,
            }
        };
        *self.checked.get_or_init(check).await
    }

    /// The difference of the clocks: none if the last renewal is recent by this machine's clock and not by the `Date`.
    fn believed(&self, renewed: Option<Timestamp>) -> SignedDuration {
        let Some(renewed) = renewed else {
            return self.date;
        };
        let is_recent = |ahead: SignedDuration| {
            let age = self.now.duration_since(renewed).saturating_add(ahead);
            age >= -AGREED && age <= RENEWED
        };
        if is_recent(SignedDuration::ZERO) && !is_recent(self.date) {
            SignedDuration::ZERO
        } else {
            self.date
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_renewal_decides_between_two_clocks() {
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        let hour = SignedDuration::from_hours(1);
        for (renewed, date, ahead) in [
            // The Date is wrong.
            (Some(-8), hour, 0),
            (Some(-8), -hour, 0),
            // This machine's clock is wrong.
            (Some(3590), hour, 3600),
            (Some(-3605), -hour, -3600),
            // Nobody renews a Lease any more, or their times are not known.
            (Some(-90_000), hour, 3600),
            (None, hour, 3600),
        ] {
            let clock = ServerClock::new(date, now);
            let renewed = renewed.map(|seconds| now + SignedDuration::from_secs(seconds));
            let believed = clock.believed(renewed);
            assert_eq!(believed.as_secs(), ahead, "{renewed:?} {date}");
        }
    }
}
