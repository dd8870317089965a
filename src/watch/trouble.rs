//! `Trouble`: how long a server has answered requests with nothing but errors.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::error::SourceError;

/// How long a server that has refused is not asked again.
const REST: Duration = Duration::from_secs(10);

/// The errors of one kind of request since its last answer.
#[derive(Debug, Default)]
pub(super) struct Trouble(Mutex<TroubleState>);

#[derive(Debug, Default)]
struct TroubleState {
    /// The start of the time without an answer, the time of the last error, and that error.
    failing: Option<(Instant, Instant, SourceError)>,
    has_answered: bool,
}

impl Trouble {
    /// The server has answered.
    pub(super) fn answered(&self) {
        *self.lock() = TroubleState {
            failing: None,
            has_answered: true,
        };
    }

    /// Begins the time again: an error now does not count.
    pub(super) fn pause(&self) {
        self.lock().failing = None;
    }

    /// Whether the server has ever answered.
    pub(super) fn has_answered(&self) -> bool {
        self.lock().has_answered
    }

    /// Takes an error. Returns how much is left of the time `limit`.
    pub(super) fn failed(&self, error: &SourceError, limit: Duration) -> Duration {
        let now = Instant::now();
        let mut state = self.lock();
        let since = state.failing.as_ref().map_or(now, |(since, ..)| *since);
        state.failing = Some((since, now, error.clone()));
        limit.saturating_sub(now.duration_since(since))
    }

    /// The last error, if there was no answer since.
    pub(super) fn error(&self) -> Option<SourceError> {
        let state = self.lock();
        state.failing.as_ref().map(|(.., error)| error.clone())
    }

    /// The last error of a server that has never answered, if it had the time `limit` for that. After a while such
    /// a server is asked again.
    pub(super) fn refusal(&self, limit: impl Fn(&SourceError) -> Duration) -> Option<SourceError> {
        let state = self.lock();
        let (since, last, error) = state.failing.as_ref()?;
        let had_time = last.duration_since(*since) >= limit(error);
        let is_refused = !state.has_answered && had_time && last.elapsed() < REST;
        is_refused.then(|| error.clone())
    }

    fn lock(&self) -> MutexGuard<'_, TroubleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
