//! The one task of a source: list, watch, resume, and after a gap list again.
//!
//! The version moves on only with what has been stored, so that whatever breaks, the next watch
//! starts from what subscribers have.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::backoff::Backoff;
use super::envelope::Reader;
use super::error::SourceError;
use super::event::GapCause;
use super::relist;
use super::session::{End, Session};
use super::source::{Shared, Tell};
use super::transport::{LineStream, Transport};
use crate::object::{ResourceVersion, SourceState};

/// A watch that ran this long was a success, whatever it brought.
const LIVED: Duration = Duration::from_secs(10);
/// A watch that ended sooner is not opened again at once.
const SPIN: Duration = Duration::from_secs(1);
/// How long a refusal of what worked before is not believed: an API server that starts refuses
/// everybody (403; 401 while an authenticator is not ready; 404 for a CRD) for a moment.
const DOUBT: Duration = Duration::from_secs(10);
/// How often it is asked meanwhile.
const DOUBT_PAUSE: Duration = Duration::from_millis(500);
/// How often a source that is polled is tried to be watched again.
const POLL_FOR: Duration = Duration::from_secs(300);

/// Drives one source until it is dropped, or has come to an end for good.
pub(super) struct Driver {
    shared: Arc<Shared>,
    transport: Arc<dyn Transport>,
    reader: Reader,
    backoff: Backoff,
    /// Why the next listing comes after a gap.
    gap: Option<GapCause>,
    /// Whether a watch has moved on since the last relisting for a version that was too old.
    expired: Expired,
    /// Where the last line that could not be read was met.
    bad_at: Option<ResourceVersion>,
    /// Whether the server sends bookmarks.
    bookmarks: bool,
    /// What worked since it was last refused for good.
    worked: Worked,
    refused_since: Option<Instant>,
    polling: Option<Polling>,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    List,
    Watch,
    Poll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expired {
    No,
    /// And nothing has come since.
    Again,
}

#[derive(Debug, Default)]
struct Worked {
    list: bool,
    watch: bool,
}

/// A source that cannot be watched.
#[derive(Debug)]
struct Polling {
    cause: Arc<str>,
    /// Until when, before a watch is tried again.
    until: Instant,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, transport: Arc<dyn Transport>, seed: u64) -> Driver {
        let reader = Reader::new(&shared.key);
        Driver {
            shared,
            transport,
            reader,
            backoff: Backoff::new(seed),
            gap: None,
            expired: Expired::No,
            bad_at: None,
            bookmarks: false,
            worked: Worked::default(),
            refused_since: None,
            polling: None,
        }
    }

    /// Runs until the source ends or fails for good; else for ever.
    pub(super) async fn run(mut self) {
        let mut step = Some(Step::List);
        while let Some(now) = step {
            let result = match now {
                Step::List => self.list().await,
                Step::Watch => self.watch().await,
                Step::Poll => self.poll().await,
            };
            step = match result {
                Ok(next) => Some(next),
                Err(error) => self.recover(now, error).await,
            };
        }
    }

    async fn list(&mut self) -> Result<Step, SourceError> {
        self.relist(Tell::Always).await?;
        Ok(Step::Watch)
    }

    async fn relist(&mut self, tell: Tell) -> Result<usize, SourceError> {
        let listing = relist::collect(&*self.transport, &self.shared, &mut self.reader).await?;
        let changes = self.shared.relist(listing, self.gap.take(), tell);
        self.worked.list = true;
        self.accepted();
        self.shared.settle().await;
        Ok(changes)
    }

    async fn poll(&mut self) -> Result<Step, SourceError> {
        self.gap.get_or_insert(GapCause::Polled);
        let changes = self.relist(Tell::Changes).await?;
        self.backoff.progress();
        if let Some(Polling { cause, until }) = &self.polling {
            let cause = cause.clone();
            let again = *until;
            self.shared.set_state(SourceState::Polling { cause });
            sleep(self.backoff.poll(changes)).await;
            if Instant::now() < again {
                return Ok(Step::Poll);
            }
        }
        Ok(Step::Watch)
    }

    async fn watch(&mut self) -> Result<Step, SourceError> {
        let from = self
            .shared
            .version()
            .unwrap_or_else(|| ResourceVersion::new(""));
        let lines = self.open(&from).await?;
        self.worked.watch = true;
        self.polling = None;
        self.accepted();
        self.shared.set_state(SourceState::Live);
        let opened = Instant::now();
        let mut session = Session {
            shared: &self.shared,
            transport: &*self.transport,
            reader: &mut self.reader,
            bookmarks: &mut self.bookmarks,
        };
        let end = session.read(lines).await;
        let lived = opened.elapsed();
        if lived > LIVED || self.shared.version().as_ref() != Some(&from) {
            self.backoff.progress();
            self.expired = Expired::No;
        }
        match end {
            End::Closed if lived > SPIN => Ok(Step::Watch),
            End::Closed => Ok(self.retry(Step::Watch, CLOSED.into(), None).await),
            End::Unreadable(detail) => Ok(self.unreadable(detail).await),
            End::Failed(error) => Err(error),
        }
    }

    /// Opens the watch. Should that take long after a watch has ended, the source is not called live
    /// meanwhile.
    async fn open(&mut self, from: &ResourceVersion) -> Result<LineStream, SourceError> {
        let mut opening = self.transport.watch(&self.shared.key, from);
        if let Ok(opened) = timeout(SPIN, &mut opening).await {
            return opened;
        }
        if *self.shared.state().borrow() == SourceState::Live {
            self.connecting(CLOSED.into());
        }
        opening.await
    }

    /// A line could not be read: the first time the watch resumes before it, as it may have been
    /// damaged on the way; the second time only a listing gets past it.
    async fn unreadable(&mut self, detail: Arc<str>) -> Step {
        self.shared.undecodable(detail.clone());
        let at = self.shared.version();
        if self.bad_at.take() == at {
            self.gap = Some(GapCause::Undecodable);
            self.connecting(detail);
            return Step::List;
        }
        self.bad_at = at;
        self.retry(Step::Watch, detail, None).await
    }

    /// The server let us in.
    fn accepted(&mut self) {
        self.refused_since = None;
        self.backoff.allowed();
    }

    /// What to do after an error; `None` if there is nothing to be done.
    async fn recover(&mut self, step: Step, error: SourceError) -> Option<Step> {
        let cause: Arc<str> = error.to_string().into();
        match error {
            SourceError::Expired(_) if step == Step::Watch => Some(self.expired(cause).await),
            SourceError::Forbidden(_)
            | SourceError::Unauthorized(_)
            | SourceError::NotServed(_) => self.refused(step, error, cause).await,
            SourceError::MethodNotAllowed(_) if step == Step::Watch => {
                Some(self.start_polling(cause))
            }
            SourceError::MethodNotAllowed(_) | SourceError::Rejected(_) => self.fail(cause),
            SourceError::Ended => {
                self.shared.set_state(SourceState::Ended);
                None
            }
            SourceError::Throttled { after, .. } => Some(self.retry(step, cause, after).await),
            SourceError::Expired(_)
            | SourceError::Server(_)
            | SourceError::Connect { .. }
            | SourceError::Tls { .. }
            | SourceError::Cut { .. }
            | SourceError::Idle { .. }
            | SourceError::Timeout { .. }
            | SourceError::Decode { .. }
            | SourceError::Credential { .. } => Some(self.retry(step, cause, None).await),
        }
    }

    /// The version to resume from is too old: lists again, at once if that has not just been tried.
    async fn expired(&mut self, cause: Arc<str>) -> Step {
        self.gap = Some(GapCause::Expired);
        if self.expired == Expired::Again {
            return self.retry(Step::List, cause, None).await;
        }
        self.expired = Expired::Again;
        self.connecting(cause);
        Step::List
    }

    /// Says that the source is not live while it is tried again at once.
    fn connecting(&self, cause: Arc<str>) {
        self.shared.set_state(SourceState::Retrying {
            attempt: self.backoff.failures() + 1,
            cause,
            until: self.shared.time(Duration::ZERO),
        });
    }

    /// Says that the source is being retried, waits, and goes on with `step`.
    async fn retry(&mut self, step: Step, cause: Arc<str>, after: Option<Duration>) -> Step {
        let (attempt, wait) = self.backoff.failed();
        let wait = after.map_or(wait, |after| after.max(wait));
        self.pause(attempt, cause, wait).await;
        step
    }

    async fn pause(&mut self, attempt: u32, cause: Arc<str>, wait: Duration) {
        let until = self.shared.time(wait);
        self.shared.set_state(SourceState::Retrying {
            attempt,
            cause,
            until,
        });
        sleep(wait).await;
    }

    /// 401, 403 or 404. What worked before is asked for a while longer before it is believed.
    async fn refused(&mut self, step: Step, error: SourceError, cause: Arc<str>) -> Option<Step> {
        let worked = match step {
            Step::List | Step::Poll => &mut self.worked.list,
            Step::Watch => &mut self.worked.watch,
        };
        if *worked {
            let since = *self.refused_since.get_or_insert_with(Instant::now);
            if since.elapsed() < DOUBT {
                let attempt = self.backoff.failures() + 1;
                self.pause(attempt, cause, DOUBT_PAUSE).await;
                return Some(step);
            }
            *worked = false;
        }
        self.refused_since = None;
        match (error, step) {
            (SourceError::Unauthorized(_), _) => return self.fail(cause),
            (SourceError::NotServed(_), _) => {
                self.shared.set_state(SourceState::Unserved { cause });
                sleep(self.backoff.unserved()).await;
            }
            // Listing may be allowed where watching is not.
            (_, Step::Watch) => return Some(self.start_polling(cause)),
            (_, Step::List | Step::Poll) => {
                self.shared.set_state(SourceState::Forbidden { cause });
                sleep(self.backoff.denied()).await;
            }
        }
        Some(match step {
            Step::Poll => Step::Watch,
            Step::List | Step::Watch => step,
        })
    }

    fn start_polling(&mut self, cause: Arc<str>) -> Step {
        let until = Instant::now() + POLL_FOR;
        self.polling = Some(Polling { cause, until });
        Step::Poll
    }

    fn fail(&mut self, cause: Arc<str>) -> Option<Step> {
        self.shared.set_state(SourceState::Failed { cause });
        None
    }
}

/// The cause that is shown when a watch ended that was just opened.
const CLOSED: &str = "the server ended the watch";
