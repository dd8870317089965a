//! Asks again: one answer that fails to come is no reason to give up what takes thousands of them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::object::{ResourceVersion, SourceState};
use crate::watch::backoff::Pace;
use crate::watch::error::SourceError;
use crate::watch::key::SourceKey;
use crate::watch::source::Shared;
use crate::watch::transport::{At, BoxFuture, LineStream, ListPage, Page, Transport, Upstream};

/// How long a server is asked that answers nothing at all.
const STALL: Duration = Duration::from_secs(60);
/// How long it is left alone after a failure, unless it says itself how long, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));

/// How often the same is asked again after a 403. A kube-apiserver that has just started refuses everybody until
/// it has read the RBAC objects.
const FORBIDDEN_RETRIES: u32 = 6;

/// A transport that repeats what is not answered, for as long as anything is.
pub(super) struct Patient {
    transport: Arc<dyn Transport>,
    shared: Arc<Shared>,
    pace: Pace,
    /// When the server answered last, or reading back began.
    answered: Mutex<Instant>,
}

impl Patient {
    pub(super) fn new(transport: Arc<dyn Transport>, shared: Arc<Shared>, pace: Pace) -> Patient {
        Patient {
            transport,
            shared,
            pace,
            answered: Mutex::new(Instant::now()),
        }
    }

    fn answered(&self) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long to wait before the same is asked again; `None` if that is of no use.
    fn pause(&self, error: &SourceError, times: u32) -> Option<Duration> {
        if *self.shared.state().borrow() != SourceState::Live {
            // The server is away, for others as well: the time runs when it is back.
            self.answered();
        }
        let last = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let is_starting = matches!(error, SourceError::Forbidden(_)) && times < FORBIDDEN_RETRIES;
        if !(error.is_transient() || is_starting) || last.elapsed() >= self.pace.of(STALL) {
            return None;
        }
        let (first, longest) = PAUSE;
        let pause = self
            .pace
            .of(first.saturating_mul(1 << times.min(8)).min(longest));
        Some(match error {
            SourceError::Throttled {
                after: Some(after), ..
            } => pause.max(*after).min(STALL),
            _ => pause,
        })
    }
}

impl Transport for Patient {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async move {
            let mut times = 0;
            loop {
                let answer = self.transport.list(key, at.clone(), page.clone()).await;
                let pause = match &answer {
                    Ok(_) => None,
                    Err(error) => self.pause(error, times),
                };
                let Some(pause) = pause else {
                    // A refusal is an answer, too.
                    if !matches!(&answer, Err(error) if error.is_transient()) {
                        self.answered();
                    }
                    return answer;
                };
                times += 1;
                sleep(pause).await;
            }
        })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        self.transport.watch(key, from)
    }

    fn upstream(&self) -> Upstream {
        self.transport.upstream()
    }
}
