//! How far the server's clock differs from this machine's, from the `Date` of its responses.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use http::header::DATE;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};

/// Gives this machine's time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Clocks that differ by less agree, because a `Date` has whole seconds and a response takes time.
const AGREED: SignedDuration = SignedDuration::from_secs(5);

/// The known difference of the clocks.
pub(super) struct Skew {
    clock: OnceLock<Clock>,
    /// The least number of milliseconds by which the server's clock is ahead. A response arrives after its
    /// `Date`, which also lacks the fraction of a second. So the largest difference is the most precise.
    ahead: AtomicI64,
}

impl Skew {
    pub(super) fn unknown() -> Skew {
        Skew {
            clock: OnceLock::new(),
            ahead: AtomicI64::new(i64::MIN),
        }
    }

    /// From now on, compares with this clock.
    pub(super) fn compare(&self, clock: Clock) {
        // The first clock stays: it is the program's.
        let _is_first = self.clock.set(clock);
    }

    /// Takes the `Date` of a response that has just arrived.
    pub(super) fn note(&self, headers: &HeaderMap) {
        let Some(clock) = self.clock.get() else {
            return;
        };
        if let Some(date) = date(headers) {
            let ahead = date.as_millisecond() - clock().as_millisecond();
            self.ahead.fetch_max(ahead, Ordering::Relaxed);
        }
    }

    /// How far the server's clock is ahead; negative if it is behind, and zero if both agree or if it is unknown.
    pub(super) fn ahead(&self) -> SignedDuration {
        match self.ahead.load(Ordering::Relaxed) {
            i64::MIN => SignedDuration::ZERO,
            ahead => Some(SignedDuration::from_millis(ahead))
                .filter(|ahead| ahead.abs() >= AGREED)
                .unwrap_or_default(),
        }
    }
}

fn date(headers: &HeaderMap) -> Option<Timestamp> {
    let text = headers.get(DATE)?.to_str().ok()?;
    DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a time")
    }

    fn ahead(now: &str, dates: &[&str]) -> i64 {
        let (skew, now) = (Skew::unknown(), at(now));
        skew.compare(Arc::new(move || now));
        for date in dates {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, date.parse().expect("a header"));
            skew.note(&headers);
        }
        skew.ahead().as_secs()
    }

    #[test]
    fn the_dates_of_responses_show_the_servers_clock() {
        let noon = "Mon, 02 Mar 2026 12:00:00 GMT";
        for (now, dates, expect) in [
            ("2026-03-02T12:02:00Z", vec![noon], -120),
            ("2026-03-02T11:58:00Z", vec![noon], 120),
            // `Date` has whole seconds, and the response took some time.
            ("2026-03-02T12:00:04Z", vec![noon], 0),
            ("2026-03-02T12:00:00Z", vec![], 0),
            ("2026-03-02T12:02:00Z", vec!["soon"], 0),
            // The fastest response gives the most precise difference.
            (
                "2026-03-02T12:02:00Z",
                vec!["Mon, 02 Mar 2026 11:59:30 GMT", noon],
                -120,
            ),
        ] {
            assert_eq!(ahead(now, &dates), expect, "{now} {dates:?}");
        }
    }

    #[test]
    fn without_a_clock_nothing_is_compared() {
        let skew = Skew::unknown();
        let mut headers = HeaderMap::new();
        headers.insert(
            DATE,
            "Mon, 02 Mar 2026 12:00:00 GMT".parse().expect("a header"),
        );
        skew.note(&headers);
        assert_eq!(skew.ahead(), SignedDuration::ZERO);
    }
}
