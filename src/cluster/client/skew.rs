//! How far the server's clock is from this machine's, by the `Date` of its answers.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use http::header::DATE;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};

/// Tells this machine's time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Clocks that differ by less agree: a `Date` has whole seconds, and an answer takes its time.
const AGREED: SignedDuration = SignedDuration::from_secs(5);

/// What is known of the server's clock.
pub(super) struct Skew {
    clock: OnceLock<Clock>,
    /// By how many milliseconds the server's clock is ahead, at the least: an answer is older than its `Date` by
    /// the time that it took, and by what the whole second leaves out. The largest difference is the nearest.
    ahead: AtomicI64,
}

impl Skew {
    pub(super) fn unknown() -> Skew {
        Skew {
            clock: OnceLock::new(),
            ahead: AtomicI64::new(i64::MIN),
        }
    }

    /// Compares with this clock from now on.
    pub(super) fn compare(&self, clock: Clock) {
        // The first one stays: it is the program's.
        let _is_first = self.clock.set(clock);
    }

    /// Takes an answer that has just come.
    pub(super) fn note(&self, headers: &HeaderMap) {
        let Some(clock) = self.clock.get() else {
            return;
        };
        if let Some(date) = date(headers) {
            let ahead = date.as_millisecond() - clock().as_millisecond();
            self.ahead.fetch_max(ahead, Ordering::Relaxed);
        }
    }

    /// How far the server's clock is ahead; negative if it is behind, zero if both agree or nothing tells.
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
    fn the_dates_of_answers_show_the_servers_clock() {
        let noon = "Mon, 02 Mar 2026 12:00:00 GMT";
        for (now, dates, expect) in [
            ("2026-03-02T12:02:00Z", vec![noon], -120),
            ("2026-03-02T11:58:00Z", vec![noon], 120),
            // Whole seconds, and an answer that took its time.
            ("2026-03-02T12:00:04Z", vec![noon], 0),
            ("2026-03-02T12:00:00Z", vec![], 0),
            ("2026-03-02T12:02:00Z", vec!["soon"], 0),
            // The one that took least is the nearest.
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
