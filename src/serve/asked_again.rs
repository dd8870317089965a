//! `AskedAgain`: when the rights of the reader of an open stream are asked for again, and how long the stream may go on without an
//! answer.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::rights_cache::RightsError;

/// How often the rights of the reader of a stream are asked for again. With the age of an answer, a right that is gone shows
/// nothing after half a minute.
pub(super) const ASKED_AGAIN: Duration = Duration::from_secs(20);

/// How long a stream goes on while the API server does not answer. Without an API server there is no news either, but rights must
/// not outlive it for long.
pub(super) const LONGEST_UNASKED: Duration = Duration::from_secs(300);

/// The wait after the first question without an answer. The waits double, up to [`ASKED_AGAIN`].
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// A question on its way.
pub(super) type OpenQuestion<T> = BoxFuture<'static, Result<T, RightsError>>;

/// A question that was just answered, and is asked again from time to time.
pub(super) struct AskedAgain<T> {
    /// The question that waits for its answer.
    question: Option<OpenQuestion<T>>,
    /// When the API server answered last.
    answered: Instant,
    /// When the next question may be asked, and the wait after another one without an answer.
    not_before: Instant,
    wait: Duration,
    /// When the question is due.
    due: Instant,
}

impl<T> AskedAgain<T> {
    pub(super) fn new() -> AskedAgain<T> {
        let now = Instant::now();
        AskedAgain {
            question: None,
            answered: now,
            not_before: now,
            wait: FIRST_WAIT,
            due: now + ASKED_AGAIN,
        }
    }

    /// The question is due now.
    pub(super) fn hurry(&mut self) {
        self.due = Instant::now();
    }

    /// The next answer; `None` if the stream must end, because the token is unknown, or there was no answer for too long. The
    /// stream can go on meanwhile: it is cancel safe.
    pub(super) async fn answer(&mut self, ask: impl Fn() -> OpenQuestion<T>) -> Option<T> {
        let end = self.answered + LONGEST_UNASKED;
        loop {
            let question = match &mut self.question {
                Some(question) => question,
                none => {
                    sleep_until(self.due.max(self.not_before).min(end)).await;
                    none.insert(ask())
                }
            };
            let answer = timeout_at(end, question).await.ok()?;
            self.question = None;
            match answer {
                Ok(answer) => {
                    *self = AskedAgain::new();
                    return Some(answer);
                }
                Err(RightsError::Unavailable(_)) => {
                    let jitter = fastrand::f64();
                    self.not_before = Instant::now() + self.wait.mul_f64(1.0 - jitter / 2.0);
                    self.wait = (self.wait * 2).min(ASKED_AGAIN);
                }
                Err(RightsError::UnknownToken) => return None,
            }
        }
    }
}
