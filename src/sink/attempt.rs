//! Attempts to send a message: what the answer means for it, when the next attempt follows, and what the user was told of an outage.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};

/// The longest wait that a receiver can ask for.
const LONGEST: Duration = Duration::from_secs(600);

/// The most causes of one outage that are told. Texts with times in them could go on without end.
const MOST_CAUSES: usize = 5;

/// What happens to a message after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The receiver has it.
    Delivered,
    /// It is sent again, after this time at least.
    Failed {
        /// Why, in a few words.
        cause: String,
        /// The wait that the receiver asks for.
        after: Option<Duration>,
    },
    /// The receiver will never take this message, so the next one follows.
    Refused(StatusCode),
}

impl Attempt {
    /// What an answer means. A code about the message itself skips it. All others are about the receiver: they may change.
    pub(super) fn of(code: StatusCode, headers: &HeaderMap) -> Attempt {
        if code.is_success() {
            return Attempt::Delivered;
        }
        if matches!(
            code.as_u16(),
            400 | 406 | 409 | 411 | 413 | 414 | 415 | 422 | 431
        ) {
            return Attempt::Refused(code);
        }
        let seconds = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let seconds = seconds.and_then(|value| value.trim().parse().ok());
        let cause = if code.is_redirection() {
            format!("{code}: redirects are not followed")
        } else {
            code.to_string()
        };
        Attempt::Failed {
            cause,
            after: seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST)),
        }
    }
}

/// The waits between attempts: they double from the first to the longest, and jitter shortens each by up to half.
#[derive(Debug, Default)]
pub struct RetryWaits {
    failures: u32,
}

impl RetryWaits {
    const FIRST: Duration = Duration::from_millis(500);
    const LONGEST: Duration = Duration::from_secs(60);

    /// Counts a failure. Returns the wait before the next attempt.
    pub fn after_failure(&mut self, jitter: f64) -> Duration {
        let doubled = Self::FIRST.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        doubled.min(Self::LONGEST).mul_f64(1.0 - jitter / 2.0)
    }

    /// A success: the next failure is the first again.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

/// What the user was told of an outage. A cause that comes after another one is news, too.
#[derive(Clone, Debug, Default)]
pub struct ToldOutage {
    causes: Vec<String>,
}

impl ToldOutage {
    /// Whether this cause is to be told.
    pub fn is_news(&mut self, cause: &str) -> bool {
        let is_known = self.causes.iter().any(|known| known == cause);
        let is_news = !is_known && self.causes.len() < MOST_CAUSES;
        if is_news {
            self.causes.push(cause.to_owned());
        }
        is_news
    }

    /// The receiver answers again. Returns whether there was an outage.
    pub fn end(&mut self) -> bool {
        !std::mem::take(&mut self.causes).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_about_the_message_skips_it_and_others_are_tried_again() {
        let headers = HeaderMap::new();
        let word = |code: u16| {
            let code = StatusCode::from_u16(code).expect("a code");
            match Attempt::of(code, &headers) {
                Attempt::Delivered => "delivered",
                Attempt::Failed { .. } => "again",
                Attempt::Refused(_) => "skipped",
            }
        };
        for (codes, expect) in [
            (&[200, 201, 202, 204][..], "delivered"),
            (&[400, 413, 415, 422], "skipped"),
            (&[401, 403, 404, 405, 407, 408, 410, 425, 429], "again"),
            (&[301, 302, 307, 308, 500, 502, 503, 504], "again"),
        ] {
            for code in codes {
                assert_eq!(word(*code), expect, "{code}");
            }
        }
    }

    #[test]
    fn a_receiver_can_ask_for_a_wait() {
        for (value, expect) in [("7", Some(7)), ("99999", Some(600)), ("soon", None)] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().expect("a header"));
            let Attempt::Failed { after, .. } =
                Attempt::of(StatusCode::TOO_MANY_REQUESTS, &headers)
            else {
                panic!("{value}");
            };
            assert_eq!(after, expect.map(Duration::from_secs), "{value}");
        }
    }

    #[test]
    fn waits_double_to_a_minute() {
        let mut waits = RetryWaits::default();
        let found: Vec<u128> = (0..9)
            .map(|_| waits.after_failure(0.0).as_millis())
            .collect();
        assert_eq!(
            found,
            [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]
        );
        waits.reset();
        assert_eq!(waits.after_failure(1.0).as_millis(), 250);
    }

    #[test]
    fn each_cause_of_an_outage_is_told_once() {
        let mut outage = ToldOutage::default();
        assert!(!outage.end());
        for (cause, is_news) in [("refused", true), ("wrong", true), ("refused", false)] {
            assert_eq!(outage.is_news(cause), is_news, "{cause}");
        }
        assert!(outage.end() && !outage.end());
        assert!(outage.is_news("refused"));
        let told = (0..2 * MOST_CAUSES).filter(|at| outage.is_news(&at.to_string()));
        assert_eq!(told.count(), MOST_CAUSES - 1);
    }
}
