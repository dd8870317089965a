//! Reads back from the watch cache, as far as it reaches. That is one request for what walks take thousands for.

use std::sync::Arc;

use super::backfiller::{Backfiller, Filling};
use super::object_history::ObjectHistory;
use crate::source::Why;
use crate::watch::backfill::Filled;
use crate::watch::envelope::Verb;
use crate::watch::history::{
    CacheWait, CachedEvent, Lacks, PastEvent, RevisionSpan, Short, WatchCache,
};
use crate::watch::queue::Follows;

/// So many events are told at once.
const BATCH: usize = 256;

impl Backfiller {
    /// Tells what the watch cache holds; says whether that was anything.
    pub(super) async fn replay(&self, filling: &mut Filling) -> bool {
        let began = filling.base;
        if filling.cached_from.is_none_or(|from| from > began) {
            return false;
        }
        match self.follow(filling).await {
            Ok(()) => filling.base = filling.backfill.upto,
            Err(Short::Only(oldest)) => {
                filling.cached_from = Some(oldest).filter(|oldest| *oldest > began);
            }
            Err(Short::Never | Short::Broken) if filling.base > began => {}
            // It is not asked again at the same place.
            Err(Short::Never | Short::Broken) => filling.cached_from = None,
        }
        filling.base > began
    }

    /// Tells every event of the interval, or as far as they come.
    async fn follow(&self, filling: &mut Filling) -> Result<(), Short> {
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
                Ok(None) if lacking > 0 => break Err(Short::Broken),
                Ok(None) => break Ok(()),
                Err(short) => break Err(short),
            };
            let object = &event.version.object;
            let history = read.entry(object.namespaced_name());
            let history = history.or_insert_with(|| ObjectHistory::new(object.clone()));
            let was_over = history.is_over();
            batch.push(history.advance(&event));
            match (was_over, history.is_over()) {
                (false, true) => lacking -= 1,
                (true, false) => lacking += 1,
                (true, true) | (false, false) => {}
            }
            if batch.len() >= BATCH && !self.tell(filling, &mut batch).await {
                return Err(Short::Broken);
            }
        };
        if self.tell(filling, &mut batch).await {
            came
        } else {
            Err(Short::Broken)
        }
    }

    /// Tells what has come, and waits for room; says whether to go on. A restore can end the backfill at each await:
    /// until events are told, subscribers have what they had before.
    async fn tell(&self, filling: &mut Filling, batch: &mut Vec<PastEvent>) -> bool {
        let Some(upto) = batch.last().and_then(|told| told.at) else {
            return true;
        };
        let mut told = std::mem::take(batch);
        if self.archive.tell_why(&mut told).await.is_err() || self.check(filling).await.is_err() {
            return false;
        }
        for event in &told {
            let history = filling.histories.entry(event.now.object.namespaced_name());
            let history = history.or_insert_with(|| ObjectHistory::new(event.now.object.clone()));
            history.then = (!event.is_end()).then(|| event.now.clone());
        }
        let filled = Filled {
            told,
            ..Filled::default()
        };
        self.shared
            .fill(&mut filling.backfill, filled, Follows::More);
        filling.base = upto;
        self.wait(filling).await;
        true
    }
}

impl ObjectHistory {
    /// Takes in an event.
    fn advance(&mut self, event: &CachedEvent) -> PastEvent {
        let now = Arc::new(event.version.unread());
        let prev = self.then.take();
        let why = match event.verb {
            Verb::Deleted => Why::Deleted,
            Verb::Added | Verb::Modified => {
                self.then = Some(now.clone());
                prev.as_ref().map_or(Why::Added, |_| Why::Modified)
            }
        };
        PastEvent {
            why,
            at: Some(event.at),
            now,
            prev,
        }
    }
}
