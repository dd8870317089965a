//! The only task of a source. It lists, watches and resumes, and after a gap it lists again.
//!
//! What it does next is a [`Phase`], which has all that must be remembered until then. The source's version advances
//! only with what the store holds. So after any failure the next watch starts from what subscribers have.

mod backfiller;
mod chunk;
mod continuity;
mod object_history;
mod phase;
mod relist;
mod session;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::backoff::{Backoff, LONGEST_ASKED, Speed};
use super::envelope::Reader;
use super::error::SourceError;
use super::history::Archive;
use super::interruption::Announce;
use super::options::MuxOptions;
use super::revision::Revision;
use super::source::SharedSource;
use super::store::Continuity;
use super::transport::{LineStream, Transport, Upstream};
use crate::object::ResourceVersion;
use crate::source::{GapCause, SourceState};
use backfiller::Backfiller;
use continuity::{Trust, WatchOrder, is_overtaken, is_set_back};
use phase::{Allowed, CLOSED, NextWatch, Phase, Polling};
use session::{WatchEnd, WatchSession};

/// A watch that ran for this long counts as a success, even without an event.
const LIVED: Duration = Duration::from_secs(10);
/// After a watch that ended sooner, the next one is delayed.
const SPIN: Duration = Duration::from_secs(1);
/// How long a watch that follows a failure stays on trial. A server that no longer has the version to resume from
/// accepts the watch, and reports the error in its first line.
const TRIAL: Duration = Duration::from_millis(250);
/// How long a refusal is doubted if the request succeeded before, or if the server was unreachable. A starting
/// API server refuses every request for a moment: with 403, with 401 while an authenticator is not ready, or with
/// 404 for a CRD.
const DOUBT: Duration = Duration::from_secs(10);
/// The wait between two requests during that time.
const DOUBT_PAUSE: Duration = Duration::from_millis(500);
/// How long a source is polled before a watch is tried again.
const POLL_FOR: Duration = Duration::from_secs(300);

/// The cause to show for a listing without a resourceVersion. Some aggregated servers send such listings, and
/// they must be polled.
const NO_VERSION: &str = "the server's list has no resourceVersion to watch from";
/// The cause to show for a listing of another history.
const RESTORED: &str = "the server's storage was restored or replaced";

/// Drives one source until it is dropped, ends, or fails for good.
pub(super) struct Driver {
    shared: Arc<SharedSource>,
    transport: Arc<dyn Transport>,
    archive: Archive,
    reader: Reader,
    speed: Speed,
    page_items: u32,
    /// Whether it watches after the first listing.
    watches: bool,
    backoff: Backoff,
    /// Whether the server sends bookmarks.
    bookmarks: bool,
    allowed: Allowed,
    backfiller: Backfiller,
}

impl Driver {
    pub(super) fn new(
        shared: Arc<SharedSource>,
        archive: Archive,
        options: &MuxOptions,
        jitter_seed: u64,
    ) -> Driver {
        let reader = Reader::new(&shared.key);
        let speed = Speed(options.speed);
        let transport = archive.transport.clone();
        let backfiller = Backfiller::new(shared.clone(), archive.clone(), options, jitter_seed);
        Driver {
            shared,
            transport,
            archive,
            backfiller,
            reader,
            speed,
            page_items: options.page_items,
            watches: options.watches,
            backoff: Backoff::new(jitter_seed, speed),
            bookmarks: false,
            allowed: Allowed::default(),
        }
    }

    /// Runs until the source ends or fails for good. Backfills run beside the watch, so that the store stays
    /// current meanwhile.
    pub(super) async fn run(mut self: Box<Self>) {
        let backfiller = self.backfiller.clone();
        tokio::join!(self.drive(), backfiller.run());
    }

    async fn drive(&mut self) {
        if self.transport.upstream() == Upstream::Replayable {
            // A file plays only once, so its reader must be there first.
            self.shared.first_reader().await;
        }
        // A source that starts from a known state continues from there.
        let first = match self.shared.version() {
            Some(_) => Phase::Watch(NextWatch::resumed()),
            None => Phase::LIST,
        };
        let mut phase = Some(first);
        while let Some(now) = phase {
            phase = self.step(now).await;
        }
    }

    /// Does what a phase stands for. Returns the next one; `None` if the source has ended or failed for good.
    async fn step(&mut self, mut phase: Phase) -> Option<Phase> {
        // A task is as large as its largest step, and nearly all of them watch, for hours. So the other steps are on the heap.
        let done = match &mut phase {
            Phase::List { gap } => Box::pin(self.list(*gap)).await,
            Phase::Watch(next) => self.watch(next).await,
            Phase::Poll(polling) => Box::pin(self.poll(polling)).await,
        };
        match done {
            Ok(next) => Some(next),
            Err(error) => Box::pin(self.recover(phase, error)).await,
        }
    }

    async fn list(&mut self, gap: Option<GapCause>) -> Result<Phase, SourceError> {
        let changes = self.relist(gap, Announce::Always).await?;
        if !self.watches {
            self.shared.set_state(SourceState::Live);
            std::future::pending::<()>().await;
        }
        if self.resume_from().is_some() {
            let is_after_410 = gap == Some(GapCause::Expired);
            return Ok(Phase::Watch(NextWatch::after_list(is_after_410)));
        }
        let polling = self.polling(NO_VERSION.into());
        Ok(self.poll_again(&polling, changes).await)
    }

    /// The version from which a watch starts. A watch without a version would start anywhere, and the events
    /// before that would be lost.
    fn resume_from(&self) -> Option<ResourceVersion> {
        let version = self.shared.version()?;
        (!version.as_str().is_empty()).then_some(version)
    }

    /// Lists, and returns the number of changes since the last listing. `gap` is why some of them may be missing.
    async fn relist(
        &mut self,
        gap: Option<GapCause>,
        announce: Announce,
    ) -> Result<usize, SourceError> {
        let limit = self.page_items;
        let asked = self.shared.demand.asked();
        let listing =
            relist::collect(&*self.transport, &self.shared, &mut self.reader, limit).await?;
        if listing.continuity == Continuity::Restored {
            // What was known of the lost history is no longer true.
            self.archive.compacted.restart(&self.shared.key.resource);
            self.connecting(RESTORED.into());
        }
        let changes = self.shared.relist(listing, gap, announce);
        self.shared.demand.serve(asked);
        self.allowed.listed();
        self.accepted();
        self.shared.settle().await;
        Ok(changes)
    }

    async fn poll(&mut self, polling: &Polling) -> Result<Phase, SourceError> {
        let gap = Some(GapCause::Polled);
        let changes = self.relist(gap, Announce::Changes).await?;
        self.backoff.progress();
        Ok(self.poll_again(polling, changes).await)
    }

    /// Waits for the next poll, or until it is time to try a watch again.
    async fn poll_again(&mut self, polling: &Polling, changes: usize) -> Phase {
        let cause = polling.cause.clone();
        self.shared.set_state(SourceState::Polling { cause });
        let pause = self.backoff.poll(changes);
        tokio::select! {
            () = sleep(pause) => {}
            () = self.shared.demand.listing_wanted() => return Phase::Poll(polling.clone()),
        }
        if Instant::now() < polling.until || self.resume_from().is_none() {
            return Phase::Poll(polling.clone());
        }
        Phase::Watch(NextWatch::after_list(false))
    }

    fn polling(&self, cause: Arc<str>) -> Polling {
        let until = Instant::now() + self.speed.of(POLL_FOR);
        Polling { cause, until }
    }

    async fn watch(&mut self, next: &mut NextWatch) -> Result<Phase, SourceError> {
        let Some(from) = self.resume_from() else {
            return Ok(Phase::LIST);
        };
        let trust = std::mem::replace(&mut next.trust, Trust::Doubted);
        let lines = self.open(&from, &next.why_ended).await?;
        if trust == Trust::Doubted && Box::pin(self.is_restored(&from)).await? {
            self.shared.set_back();
            return Ok(Phase::LIST);
        }
        self.allowed.watched();
        self.shared.report_polled();
        self.accepted();
        let opened = Instant::now();
        let mut session = WatchSession {
            trial: self.trial(opened),
            shared: &self.shared,
            archive: &self.archive,
            reader: &mut self.reader,
            bookmarks: &mut self.bookmarks,
            order: WatchOrder::after(&from, self.transport.upstream()),
            speed: self.speed,
        };
        let end = session.read(lines).await;
        let lived = opened.elapsed();
        let long = lived > self.speed.of(LIVED);
        // A bookmark just before a 410 is no progress: the next listing would end in the same way.
        let is_forgotten = matches!(end, WatchEnd::Failed(SourceError::Expired(_)));
        let moved = self.shared.version().as_ref() != Some(&from);
        if long || (moved && !is_forgotten) {
            self.backoff.progress();
        }
        next.is_after_410 &= !long;
        Box::pin(self.after_watch(next, end, lived)).await
    }

    /// Opens the watch. If that takes long after the last watch ended, the source stops being live meanwhile.
    async fn open(
        &mut self,
        from: &ResourceVersion,
        why_ended: &Arc<str>,
    ) -> Result<LineStream, SourceError> {
        let mut opening = self.transport.watch(&self.shared.key, from);
        if let Ok(opened) = timeout(self.speed.of(SPIN), &mut opening).await {
            return opened;
        }
        if *self.shared.state().borrow() == SourceState::Live {
            self.connecting(why_ended.clone());
        }
        opening.await
    }

    /// Whether the server was restored since the source reached this version.
    async fn is_restored(&self, from: &ResourceVersion) -> Result<bool, SourceError> {
        let Some(from) = Revision::parse(from) else {
            return Ok(false);
        };
        let (archive, shared) = (&self.archive, &self.shared);
        Ok(is_set_back(archive, from).await? || is_overtaken(archive, shared).await)
    }

    /// When the trial of a watch ends that opens now. There is no trial for the first watch of a source, which
    /// follows a fresh listing, and none after a routine end.
    fn trial(&self, opened: Instant) -> Option<Instant> {
        match &*self.shared.state().borrow() {
            SourceState::Connecting | SourceState::Live => {}
            SourceState::Retrying { .. }
            | SourceState::Forbidden { .. }
            | SourceState::Unserved { .. }
            | SourceState::Polling { .. }
            | SourceState::Failed { .. }
            | SourceState::Ended => return Some(opened + self.speed.of(TRIAL)),
        }
        self.shared.set_state(SourceState::Live);
        None
    }

    /// Decides what follows the end of a watch. After a while an end is routine: the server's time limit closes
    /// the watch, or a load balancer cuts it. Then the next watch opens at once, and nothing is reported unless
    /// that fails.
    async fn after_watch(
        &mut self,
        next: &NextWatch,
        end: WatchEnd,
        lived: Duration,
    ) -> Result<Phase, SourceError> {
        match end {
            WatchEnd::Closed if lived > self.speed.of(SPIN) => Ok(next.again(CLOSED.into())),
            WatchEnd::Closed => Ok(self.closed_early(next).await),
            WatchEnd::Restored => {
                self.shared.set_back();
                Ok(Phase::LIST)
            }
            WatchEnd::Unreadable(detail) => Ok(self.unreadable(next, detail).await),
            WatchEnd::Failed(error @ SourceError::Cut { .. }) if lived > self.speed.of(LIVED) => {
                self.shared.health.lost();
                Ok(next.again(error.to_string().into()))
            }
            WatchEnd::Failed(error) => Err(error),
        }
    }

    /// Handles a watch that the server closed just after it was opened. The first time the driver waits without a
    /// report; if it happens again, it reports a retry.
    async fn closed_early(&mut self, next: &NextWatch) -> Phase {
        let again = next.again(CLOSED.into());
        let is_live = *self.shared.state().borrow() == SourceState::Live;
        if !is_live || self.backoff.failures > 0 {
            return self.retry(again, CLOSED.into(), None).await;
        }
        let (_, wait) = self.backoff.failed();
        sleep(wait).await;
        again
    }

    /// Handles a line that could not be read. The first time the watch resumes before it, because the line may
    /// have been damaged in transit. The second time only a listing gets past it.
    async fn unreadable(&mut self, next: &NextWatch, detail: Arc<str>) -> Phase {
        self.shared.undecodable(detail.clone());
        let at = self.shared.version();
        if next.bad_at == at {
            self.connecting(detail);
            return Phase::list_after(GapCause::Undecodable);
        }
        let again = Phase::Watch(NextWatch {
            bad_at: at,
            ..next.clone()
        });
        self.retry(again, detail, None).await
    }

    /// Records that the server accepted the request.
    fn accepted(&mut self) {
        self.shared.health.answered();
        self.allowed.refused_since = None;
        self.backoff.allowed();
    }

    /// The phase after an error: the driver waits and retries, polls instead of watching, or gives up.
    async fn recover(&mut self, phase: Phase, error: SourceError) -> Option<Phase> {
        let cause: Arc<str> = error.to_string().into();
        if error.is_outage() {
            self.shared.health.lost();
        }
        match (error, &phase) {
            (SourceError::Expired(_), Phase::Watch(next)) => {
                let is_after_410 = next.is_after_410;
                Some(self.expired(is_after_410, cause).await)
            }
            (
                error @ (SourceError::Forbidden(_)
                | SourceError::Unauthorized(_)
                | SourceError::NotServed(_)),
                _,
            ) => self.refused(phase, error, cause).await,
            (SourceError::MethodNotAllowed(_), Phase::Watch(_)) => {
                Some(Phase::Poll(self.polling(cause)))
            }
            // A file does not change, so a retry would fail in the same way.
            (SourceError::Decode { .. }, _)
                if self.transport.upstream() == Upstream::Replayable =>
            {
                self.fail(cause)
            }
            (
                SourceError::MethodNotAllowed(_)
                | SourceError::Endless { .. }
                | SourceError::Input { .. },
                _,
            ) => self.fail(cause),
            // No listing of this source ever succeeded, so the request itself is wrong.
            (SourceError::Rejected(_), _) if !self.allowed.has_listed => self.fail(cause),
            (SourceError::Rejected(_), _) => Some(self.turned_down(phase, cause).await),
            (SourceError::Ended, _) => {
                self.shared.set_state(SourceState::Ended);
                None
            }
            (SourceError::Throttled { after, .. }, _) => {
                let after = Some(after.unwrap_or_default());
                Some(self.retry(phase, cause, after).await)
            }
            (
                SourceError::Expired(_)
                | SourceError::Server(_)
                | SourceError::Connect { .. }
                | SourceError::Cut { .. }
                | SourceError::Idle { .. }
                | SourceError::Timeout { .. }
                | SourceError::Decode { .. }
                | SourceError::Credential { .. },
                _,
            ) => Some(self.retry(phase, cause, None).await),
        }
    }

    /// Handles a 410 of a watch: lists again, at once unless the last watch ended in the same way.
    async fn expired(&mut self, is_after_410: bool, cause: Arc<str>) -> Phase {
        let list = Phase::list_after(GapCause::Expired);
        if is_after_410 {
            return self.retry(list, cause, None).await;
        }
        self.connecting(cause);
        list
    }

    /// Handles a rejection after earlier success. One retry may help. After that only a listing helps, because a
    /// watch can start from it.
    async fn turned_down(&mut self, phase: Phase, cause: Arc<str>) -> Phase {
        let again = self.retry(phase, cause, None).await;
        if matches!(again, Phase::Watch(_)) && self.backoff.failures > 1 {
            return Phase::list_after(GapCause::Refused);
        }
        again
    }

    /// Handles a 401, 403 or 404. It counts at once, with two exceptions: the same request succeeded before, or
    /// any source of the cluster has just seen the server fail or refuse what worked. Then the driver asks again
    /// for a while. So it believes the first answer of a running server, but not that of a starting one.
    async fn refused(
        &mut self,
        phase: Phase,
        error: SourceError,
        cause: Arc<str>,
    ) -> Option<Phase> {
        let doubt = self.speed.of(DOUBT);
        let worked = *self.allowed.worked(&phase);
        if worked && self.allowed.refused_since.is_none() {
            // Another server may have taken its place, as behind a load balancer.
            self.shared.health.lost();
        }
        self.shared.health.answered();
        let since = *self.allowed.refused_since.get_or_insert_with(Instant::now);
        if since.elapsed() < doubt && (worked || self.shared.health.is_new(doubt)) {
            let wait = self.speed.of(DOUBT_PAUSE);
            let state = SourceState::Retrying {
                attempt: self.backoff.failures + 1,
                cause,
                until: self.shared.time(wait),
                is_throttled: false,
            };
            self.pause(state, wait).await;
            return Some(phase);
        }
        *self.allowed.worked(&phase) = false;
        self.allowed.refused_since = None;
        match (error, &phase) {
            (SourceError::Unauthorized(_), _) => return self.fail(cause),
            (SourceError::NotServed(_), _) => {
                self.shared.set_state(SourceState::Unserved { cause });
                sleep(self.backoff.unserved()).await;
            }
            // A user may be allowed to list but not to watch.
            (_, Phase::Watch(_)) => return Some(Phase::Poll(self.polling(cause))),
            (_, Phase::List { .. } | Phase::Poll(_)) => {
                self.shared.set_state(SourceState::Forbidden { cause });
                sleep(self.backoff.denied()).await;
            }
        }
        Some(match phase {
            Phase::Poll(_) => Phase::Watch(NextWatch::after_list(false)),
            Phase::List { .. } | Phase::Watch(_) => phase,
        })
    }

    /// Reports that the source is not live, for a retry without a wait.
    fn connecting(&self, cause: Arc<str>) {
        self.shared.set_state(SourceState::Retrying {
            attempt: self.backoff.failures + 1,
            cause,
            until: self.shared.time(Duration::ZERO),
            is_throttled: false,
        });
    }

    /// Reports a retry, waits, and returns `phase`.
    async fn retry(&mut self, phase: Phase, cause: Arc<str>, after: Option<Duration>) -> Phase {
        let (attempt, wait) = self.backoff.failed();
        let wait = after.map_or(wait, |after| after.min(LONGEST_ASKED).max(wait));
        let state = SourceState::Retrying {
            attempt,
            cause,
            until: self.shared.time(wait),
            is_throttled: after.is_some(),
        };
        self.pause(state, wait).await;
        phase
    }

    async fn pause(&mut self, state: SourceState, wait: Duration) {
        self.shared.set_state(state);
        sleep(wait).await;
    }

    fn fail(&mut self, cause: Arc<str>) -> Option<Phase> {
        self.shared.set_state(SourceState::Failed { cause });
        None
    }
}
