//! Reads back from the watch cache, as far as it reaches. One request replaces the thousands that walks need.

use std::sync::Arc;

use super::backfiller::{Backfiller, Filling};
use super::object_history::ObjectHistory;
use crate::watch::backfill::Filled;
use crate::watch::history::{
    CacheEnd, CacheWait, CachedEvent, Lacks, PastEvent, RevisionSpan, WatchCache,
};
use crate::watch::queue::Follows;

/// How many events are sent to subscribers at once.
const BATCH: usize = 256;

impl Backfiller {
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
        let mut cache = WatchCache::open(&self.archive, span, CacheWait::Long(self.pace)).await?;
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

impl ObjectHistory {
    /// Applies an event, and returns it with the version before.
    fn advance(&mut self, event: &CachedEvent) -> PastEvent {
        let version = Arc::new(event.version.without_tape());
        CachedEvent { version, ..*event }.past(&mut self.then)
    }
}
