//! The only task of a source. It lists, watches and resumes, and after a gap it lists again.
//!
//! The source's version advances only with what the store holds. So after any failure the next watch starts from
//! what subscribers have.

mod backfiller;
mod chunk;
mod continuity;
mod ends;
mod object_history;
mod recover;
mod relist;
mod replay;
mod restored;
mod session;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use self::backfiller::Backfiller;
use self::continuity::{Trust, WatchOrder};
use self::session::{WatchEnd, WatchSession};
use super::backoff::{Backoff, Speed};
use super::envelope::Reader;
use super::error::SourceError;
use super::history::Archive;
use super::interruption::Announce;
use super::options::MuxOptions;
use super::source::SharedSource;
use super::store::Continuity;
use super::transport::{LineStream, Transport, Upstream};
use crate::object::ResourceVersion;
use crate::source::{GapCause, SourceState};

/// A watch that ran for this long counts as a success, even without an event.
const LIVED: Duration = Duration::from_secs(10);
/// After a watch that ended sooner, the next one is delayed.
const SPIN: Duration = Duration::from_secs(1);
/// The cause to show when a watch ends just after it was opened.
const CLOSED: &str = "the server ended the watch";

/// The cause to show for a listing without a resourceVersion. Some aggregated servers send such listings, and
/// they must be polled.
const NO_VERSION: &str = "the server's list has no resourceVersion to watch from";

/// Drives one source until it is dropped, ends, or fails for good.
pub(super) struct Driver {
    shared: Arc<SharedSource>,
    transport: Arc<dyn Transport>,
    archive: Archive,
    reader: Reader,
    pace: Speed,
    page_items: u32,
    /// Whether it watches after the first listing.
    watches: bool,
    backoff: Backoff,
    /// The cause of the gap before the next listing.
    gap: Option<GapCause>,
    /// Whether a watch has lasted since the last listing after a 410.
    expired: Expired,
    /// Whether the server may have been restored since the last listing.
    trust: Trust,
    /// The version before the last line that could not be read.
    bad_at: Option<ResourceVersion>,
    /// Whether the server sends bookmarks.
    bookmarks: bool,
    /// Which requests have succeeded since the last final refusal.
    worked: Worked,
    /// Whether a listing has ever succeeded.
    has_listed: bool,
    refused_since: Option<Instant>,
    /// Why the last watch ended, if the next one followed it without a report.
    why_ended: Arc<str>,
    polling: Option<Polling>,
    backfiller: Backfiller,
}

/// The next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DriverStep {
    List,
    Watch,
    Poll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expired {
    No,
    /// A 410 caused a listing, and no watch has lasted since.
    LastWatch,
}

#[derive(Debug, Default)]
struct Worked {
    list: bool,
    watch: bool,
}

/// The state of a source that cannot be watched.
#[derive(Debug)]
struct Polling {
    cause: Arc<str>,
    /// The time at which to try a watch again.
    until: Instant,
}

impl Driver {
    pub(super) fn new(
        shared: Arc<SharedSource>,
        archive: Archive,
        options: &MuxOptions,
        seed: u64,
    ) -> Driver {
        let reader = Reader::new(&shared.key);
        let pace = Speed(options.speed);
        let transport = archive.transport.clone();
        let backfiller = Backfiller::new(shared.clone(), archive.clone(), options, seed);
        Driver {
            shared,
            transport,
            archive,
            trust: Trust::Proven,
            backfiller,
            reader,
            pace,
            page_items: options.page_items,
            watches: options.watches,
            backoff: Backoff::new(seed, pace),
            gap: None,
            expired: Expired::No,
            bad_at: None,
            bookmarks: false,
            worked: Worked::default(),
            has_listed: false,
            refused_since: None,
            why_ended: CLOSED.into(),
            polling: None,
        }
    }

    /// Runs until the source ends or fails for good. Backfills run beside the watch, so that the store stays
    /// current meanwhile.
    pub(super) async fn run(mut self) {
        let backfiller = self.backfiller.clone();
        tokio::join!(self.drive(), backfiller.run());
    }

    async fn drive(&mut self) {
        if self.transport.upstream() == Upstream::Kept {
            // A file plays only once, so its reader must be there first.
            self.shared.first_reader().await;
        }
        let mut step = Some(DriverStep::List);
        while let Some(now) = step {
            let result = match now {
                DriverStep::List => self.list().await,
                DriverStep::Watch => self.watch().await,
                DriverStep::Poll => self.poll().await,
            };
            step = match result {
                Ok(next) => Some(next),
                Err(error) => self.recover(now, error).await,
            };
        }
    }

    async fn list(&mut self) -> Result<DriverStep, SourceError> {
        let changes = self.relist(Announce::Always).await?;
        if !self.watches {
            self.shared.set_state(SourceState::Live);
            std::future::pending::<()>().await;
        }
        if self.resume_from().is_some() {
            return Ok(DriverStep::Watch);
        }
        self.start_polling(NO_VERSION.into());
        Ok(self.poll_again(changes).await)
    }

    /// The version from which a watch starts. A watch without a version would start anywhere, and the events
    /// before that would be lost.
    fn resume_from(&self) -> Option<ResourceVersion> {
        let version = self.shared.version()?;
        (!version.as_str().is_empty()).then_some(version)
    }

    async fn relist(&mut self, announce: Announce) -> Result<usize, SourceError> {
        let limit = self.page_items;
        let asked = self.shared.polls.asked();
        let listing =
            relist::collect(&*self.transport, &self.shared, &mut self.reader, limit).await?;
        self.trust = Trust::Proven;
        if listing.continuity == Continuity::Restored {
            self.announce_restore();
        }
        let changes = self.shared.relist(listing, self.gap.take(), announce);
        self.shared.polls.serve(asked);
        (self.worked.list, self.has_listed) = (true, true);
        self.accepted();
        self.shared.settle().await;
        Ok(changes)
    }

    async fn poll(&mut self) -> Result<DriverStep, SourceError> {
        self.gap.get_or_insert(GapCause::Polled);
        let changes = self.relist(Announce::Changes).await?;
        self.backoff.progress();
        Ok(self.poll_again(changes).await)
    }

    /// Waits for the next poll, or until it is time to try a watch again.
    async fn poll_again(&mut self, changes: usize) -> DriverStep {
        let Some(Polling { cause, until }) = &self.polling else {
            return DriverStep::Watch;
        };
        let cause = cause.clone();
        let again = *until;
        self.shared.set_state(SourceState::Polling { cause });
        let pause = self.backoff.poll(changes);
        tokio::select! {
            () = sleep(pause) => {}
            () = self.shared.polls.wanted() => return DriverStep::Poll,
        }
        if Instant::now() < again || self.resume_from().is_none() {
            return DriverStep::Poll;
        }
        DriverStep::Watch
    }

    async fn watch(&mut self) -> Result<DriverStep, SourceError> {
        let Some(from) = self.resume_from() else {
            return Ok(DriverStep::List);
        };
        let trust = std::mem::replace(&mut self.trust, Trust::Doubted);
        let lines = self.open(&from).await?;
        if trust == Trust::Doubted && self.is_restored(&from).await? {
            return Ok(DriverStep::List);
        }
        self.worked.watch = true;
        self.polling = None;
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
            pace: self.pace,
        };
        let end = session.read(lines).await;
        let lived = opened.elapsed();
        let long = lived > self.pace.of(LIVED);
        // A bookmark just before a 410 is no progress: the next listing would end in the same way.
        let is_forgotten = matches!(end, WatchEnd::Failed(SourceError::Expired(_)));
        let moved = self.shared.version().as_ref() != Some(&from);
        if long || (moved && !is_forgotten) {
            self.backoff.progress();
        }
        if long {
            self.expired = Expired::No;
        }
        self.ended(end, lived).await
    }

    /// Opens the watch. If that takes long after the last watch ended, the source stops being live meanwhile.
    async fn open(&mut self, from: &ResourceVersion) -> Result<LineStream, SourceError> {
        let mut opening = self.transport.watch(&self.shared.key, from);
        if let Ok(opened) = timeout(self.pace.of(SPIN), &mut opening).await {
            return opened;
        }
        if *self.shared.state().borrow() == SourceState::Live {
            self.connecting(self.why_ended.clone());
        }
        opening.await
    }

    /// Handles a line that could not be read. The first time the watch resumes before it, because the line may
    /// have been damaged in transit. The second time only a listing gets past it.
    async fn unreadable(&mut self, detail: Arc<str>) -> DriverStep {
        self.shared.undecodable(detail.clone());
        let at = self.shared.version();
        if self.bad_at.take() == at {
            self.gap = Some(GapCause::Undecodable);
            self.connecting(detail);
            return DriverStep::List;
        }
        self.bad_at = at;
        self.retry(DriverStep::Watch, detail, None).await
    }

    /// Records that the server accepted the request.
    fn accepted(&mut self) {
        self.shared.health.answered();
        self.refused_since = None;
        self.backoff.allowed();
    }
}
