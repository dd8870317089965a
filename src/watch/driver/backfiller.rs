//! Reads missed versions back after an interruption, or for a subscriber that was too slow. Subscribers get the
//! versions in order, oldest first. A backfill continues while the server answers. A gap stays only where the
//! server has compacted its history, or no longer answers.
//!
//! Within the reach of the watch cache, one watch from the old version has every event. Older versions are read
//! object by object, in chunks of revisions that fit in memory.

use std::sync::Arc;
use std::time::Duration;

use super::continuity::is_set_back;
use super::object_history::{ObjectHistories, ObjectHistory, difference, histories_of};
use crate::object::ResourceVersion;
use crate::source::{Gap, GapCause};
use crate::watch::backfill::{Backfill, Filled};
use crate::watch::backoff::Speed;
use crate::watch::history::{
    Archive, CacheEnd, CacheWait, CachedEvent, Lacks, PastError, PastEvent, WatchCache,
};
use crate::watch::missed::Missed;
use crate::watch::options::MuxOptions;
use crate::watch::queue::Follows;
use crate::watch::retrying_transport::RetryingTransport;
use crate::watch::revision::{Revision, RevisionSpan};
use crate::watch::source::SharedSource;

/// How long requests are retried while the server answers nothing.
const STALL: Duration = Duration::from_secs(60);
/// The least number of revisions in a chunk.
const CHUNK: u64 = 16;

/// Runs the backfills of one source, one after another.
#[derive(Clone)]
pub(super) struct Backfiller {
    pub(super) shared: Arc<SharedSource>,
    pub(super) archive: Archive,
    pub(super) speed: Speed,
    /// The seed of the jitter of its retries.
    seed: u64,
    /// How many bytes of versions may be in memory at once.
    pub(super) bytes: usize,
}

/// The progress of a backfill.
pub(super) struct Filling {
    pub(super) backfill: Backfill,
    /// Subscribers have got everything up to this revision.
    pub(super) base: Revision,
    /// The history of each object; `then` is the version that subscribers have.
    pub(super) histories: ObjectHistories,
    /// From this revision on, the watch cache is known to have every event.
    cached_from: Option<Revision>,
}

impl Backfiller {
    pub(super) fn new(
        shared: Arc<SharedSource>,
        archive: Archive,
        options: &MuxOptions,
        seed: u64,
    ) -> Backfiller {
        Backfiller {
            shared,
            archive,
            speed: Speed(options.speed),
            seed,
            bytes: options.queue_bytes,
        }
    }

    /// Runs the backfills that arrive, while the source exists.
    pub(super) async fn run(&self) {
        loop {
            let backfill = self.shared.next_backfill().await;
            // On the heap, as a quiet source runs none.
            Box::pin(self.fill_in(backfill)).await;
        }
    }

    /// Runs a backfill, unless the history that it asks for no longer exists.
    async fn fill_in(&self, backfill: Backfill) {
        let retrying = RetryingTransport::new(self.archive.transport.clone(), STALL)
            .at_speed(self.seed, self.speed)
            .while_live(self.shared.state());
        let backfiller = Backfiller {
            archive: Archive {
                transport: Arc::new(retrying),
                ..self.archive.clone()
            },
            ..self.clone()
        };
        let mut filling = Filling {
            base: backfill.after,
            histories: histories_of(&backfill.difference),
            cached_from: Some(backfill.after),
            backfill,
        };
        let restored = self.shared.restored.notified();
        let left = tokio::select! {
            left = backfiller.fill(&mut filling) => left,
            () = restored => Err(PastError::Spent),
        };
        backfiller.finish(filling, left.err());
    }

    /// Reads the whole interval back. The error is the reason why that was impossible.
    async fn fill(&self, filling: &mut Filling) -> Result<(), PastError> {
        while filling.base < filling.backfill.upto {
            self.check(filling).await?;
            if self.replay(filling).await {
                continue;
            }
            match self.walk_on(filling).await {
                Err(PastError::Forgotten) => self.skip(filling).await?,
                other => other?,
            }
        }
        Ok(())
    }

    /// Fails if continuing is useless. The server may have been restored before its watch ended; its answers then
    /// belong to another history.
    pub(super) async fn check(&self, filling: &Filling) -> Result<(), PastError> {
        if self.shared.is_void(&filling.backfill) {
            return Err(PastError::Spent);
        }
        match is_set_back(&self.archive, filling.backfill.upto).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(PastError::Spent),
            Err(error) => Err(PastError::Failed(error)),
        }
    }

    /// Reads back the next chunk, as large as memory allows.
    async fn walk_on(&self, filling: &mut Filling) -> Result<(), PastError> {
        let mut revisions = self.chunk_size(&filling.histories);
        loop {
            let end = filling.base.forth(revisions).min(filling.backfill.upto);
            let end = filling
                .cached_from
                .filter(|from| *from > filling.base)
                .map_or(end, |from| end.min(from));
            match self.chunk(filling, end).await {
                Err(PastError::Spent) if revisions > 1 => {
                    revisions = (end.since(filling.base) / 2).max(1);
                }
                Err(other) => return Err(other),
                Ok((histories, filled)) => {
                    self.check(filling).await?;
                    self.shared.fill(&filling.backfill, filled, Follows::More);
                    for (key, history) in histories {
                        let known = filling.histories.entry(key);
                        let known = known.or_insert_with(|| ObjectHistory::new(history.object));
                        known.then = history.now;
                    }
                    filling.base = end;
                    self.wait(filling).await;
                    return Ok(());
                }
            }
        }
    }

    /// How many revisions to read back at once. Each may be a version of one of these objects.
    fn chunk_size(&self, histories: &ObjectHistories) -> u64 {
        let bodies = histories
            .values()
            .filter_map(|history| history.now.as_ref());
        let (count, bytes) = bodies.fold((0, 0), |(count, bytes), now| {
            (count + 1, bytes + now.body.weight())
        });
        let one = (bytes / usize::max(count, 1)).max(512);
        CHUNK.max((self.bytes / 2 / one) as u64)
    }

    /// Waits until subscribers have room for more events.
    pub(super) async fn wait(&self, filling: &Filling) {
        let rest = || {
            let mut missed = Missed::after(filling.base.into());
            for history in filling
                .histories
                .values()
                .filter(|history| !history.is_over())
            {
                missed.resume(history.then.as_ref(), history.now.as_ref());
            }
            missed
        };
        self.shared.drained(&filling.backfill, rest).await;
    }

    /// Continues at the oldest revision that the server still has. Subscribers get a gap for the revisions before
    /// it, and then the difference.
    async fn skip(&self, filling: &mut Filling) -> Result<(), PastError> {
        let (base, upto) = (filling.base, filling.backfill.upto);
        let oldest = self.archive.oldest(base.next(), upto).await?;
        if oldest <= base {
            // The server compacts faster than this reads.
            return Err(PastError::Forgotten);
        }
        let gap = Gap {
            after: base.into(),
            upto: oldest.into(),
            cause: filling.backfill.gap.cause.forgotten(oldest.since(base)),
        };
        let (mut vanished, mut there) = (Vec::new(), Vec::new());
        for (key, history) in self.at(filling, oldest).await? {
            let had = history.then.clone();
            let (gone, change) = difference(had, history.now.clone());
            vanished.extend(gone);
            there.extend(change);
            let known = filling.histories.entry(key);
            let known = known.or_insert_with(|| ObjectHistory::new(history.object));
            known.then = history.now;
        }
        vanished.append(&mut there);
        let filled = Filled {
            gaps: vec![gap],
            difference: vanished,
            events: Vec::new(),
        };
        self.shared.fill(&filling.backfill, filled, Follows::More);
        filling.base = oldest;
        Ok(())
    }

    /// Ends a backfill. The part that could not be read back becomes a gap, followed by the difference.
    fn finish(&self, filling: Filling, why: Option<PastError>) {
        let mut filled = Filled::default();
        if let Some(why) = why {
            let left = filling.backfill.upto.since(filling.base);
            let own = filling.backfill.gap.cause.within(left);
            filled.gaps.push(Gap {
                after: match filling.base {
                    base if base == filling.backfill.after => filling.backfill.gap.after.clone(),
                    base => ResourceVersion::from(base),
                },
                upto: filling.backfill.gap.upto.clone(),
                cause: match why {
                    PastError::Forgotten => own.forgotten(left),
                    PastError::Failed(_) => GapCause::Unanswered,
                    PastError::NotOffered(_) => own.not_offered(),
                    PastError::Spent => own,
                },
            });
            let mut there = Vec::new();
            for history in filling.histories.into_values() {
                let (gone, change) = difference(history.then, history.now);
                filled.difference.extend(gone);
                there.extend(change);
            }
            filled.difference.append(&mut there);
        }
        self.shared
            .fill(&filling.backfill, filled, Follows::Nothing);
    }

    /// Sends the events that the watch cache has. Returns whether there were any.
    pub(super) async fn replay(&self, filling: &mut Filling) -> bool {
        let began = filling.base;
        if filling.cached_from.is_none_or(|from| from > began) {
            return false;
        }
        match self.follow(filling).await {
            Ok(()) => filling.base = filling.backfill.upto,
            Err(CacheEnd::Only(oldest)) => {
                filling.cached_from = Some(oldest).filter(|oldest| *oldest > began);
            }
            Err(CacheEnd::Never | CacheEnd::Broken) if filling.base > began => {}
            // The watch cache is not asked again from the same revision.
            Err(CacheEnd::Never | CacheEnd::Broken) => filling.cached_from = None,
        }
        filling.base > began
    }

    /// Sends every event of the interval, or those up to a failure.
    async fn follow(&self, filling: &mut Filling) -> Result<(), CacheEnd> {
        let span = RevisionSpan {
            after: filling.base,
            upto: filling.backfill.upto,
        };
        let mut cache = WatchCache::open(&self.archive, span, CacheWait::Long(self.speed)).await?;
        let mut read = filling.histories.clone();
        let open = read.values().filter(|history| !history.is_over());
        let mut lacking = open.count();
        let mut batch = Vec::new();
        let came = loop {
            let lacks = match lacking {
                0 => Lacks::Nothing,
                _ => Lacks::AnEvent,
            };
            let event = match cache.next(lacks).await {
                Ok(Some(event)) => event,
                Ok(None) if lacking > 0 => break Err(CacheEnd::Broken),
                Ok(None) => break Ok(()),
                Err(short) => break Err(short),
            };
            let object = event.version.object.clone();
            let history = read.entry(object.namespaced_name());
            let history = history.or_insert_with(|| ObjectHistory::new(object));
            let was_over = history.is_over();
            batch.push(history.advance(&event));
            match (was_over, history.is_over()) {
                (false, true) => lacking -= 1,
                (true, false) => lacking += 1,
                (true, true) | (false, false) => {}
            }
            if batch.len() >= BATCH && !self.send(filling, &mut batch).await {
                return Err(CacheEnd::Broken);
            }
        };
        if self.send(filling, &mut batch).await {
            came
        } else {
            Err(CacheEnd::Broken)
        }
    }

    /// Sends a batch of events, and waits for room. Returns whether to continue. A restore can end the backfill
    /// at each await; until events are sent, subscribers have what they had before.
    async fn send(&self, filling: &mut Filling, batch: &mut Vec<PastEvent>) -> bool {
        let Some(upto) = batch.last().and_then(|event| event.at) else {
            return true;
        };
        let mut events = std::mem::take(batch);
        if self.archive.mark_left_selector(&mut events).await.is_err()
            || self.check(filling).await.is_err()
        {
            return false;
        }
        for event in &events {
            let history = filling.histories.entry(event.now.object.namespaced_name());
            let history = history.or_insert_with(|| ObjectHistory::new(event.now.object.clone()));
            history.then = (!event.is_end()).then(|| event.now.clone());
        }
        let filled = Filled {
            events,
            ..Filled::default()
        };
        self.shared.fill(&filling.backfill, filled, Follows::More);
        filling.base = upto;
        self.wait(filling).await;
        true
    }
}

/// How many events are sent to subscribers at once.
const BATCH: usize = 256;

impl ObjectHistory {
    /// Applies an event, and returns it with the version before.
    fn advance(&mut self, event: &CachedEvent) -> PastEvent {
        let version = Arc::new(event.version.without_tape());
        CachedEvent { version, ..*event }.past(&mut self.then)
    }
}
