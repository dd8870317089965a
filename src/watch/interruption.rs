//! Takes in a listing after an interruption. Subscribers first get the versions that a backfill reads back, then
//! the difference that remains. Until then later events wait in the queue behind the backfill.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::backfill::{Backfill, Filled};
use super::missed::Missed;
use super::queue::{CatchUp, Follows};
use super::source::{SharedSource, SourceInner};
use super::store::{Continuity, FullListing, StoreChange};
use super::transport::Upstream;
use crate::source::{Event, Gap, GapCause};

/// Whether subscribers get an event for a listing that found nothing new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announce {
    Always,
    Changes,
}

impl SharedSource {
    /// Takes in a listing: sends the gap before it, the difference, and `Synced`. Returns how many objects
    /// changed. If the gap can be read back, [`SharedSource::fill`] later sends the versions in its place.
    pub(super) fn relist(
        &self,
        listing: FullListing,
        gap: Option<GapCause>,
        announce: Announce,
    ) -> usize {
        let seen = (self.clock)();
        let mut inner = self.lock();
        let gap = match listing.continuity {
            Continuity::Continued => gap,
            Continuity::Restored => {
                inner.restart();
                self.restored.notify_waiters();
                Some(GapCause::Restored)
            }
        };
        let upto = listing.version.clone();
        let changes = inner.store.swap(listing, seen);
        let count = changes.len();
        let after = inner
            .unchanged_since
            .take()
            .or_else(|| inner.version.clone());
        if count == 0 && announce == Announce::Changes && gap != Some(GapCause::Restored) {
            inner.unchanged_since = after.filter(|after| *after != upto);
        } else {
            match gap.zip(after) {
                Some((cause, after)) => {
                    let upto = upto.clone();
                    inner.interrupt(Gap { after, upto, cause }, changes, seen);
                }
                None => inner.publish(changes, seen),
            }
            inner.epoch += 1;
            if let Some(synced) = inner.synced(Some(&upto)) {
                inner.broadcast(&synced);
            }
        }
        inner.version = Some(upto);
        count
    }

    /// Puts the events that were read back in the place of their backfill.
    pub(super) fn fill(&self, backfill: &Backfill, filled: Filled, follows: Follows) {
        let events = filled.into_events(backfill, (self.clock)());
        for queue in self.lock().queues.values_mut() {
            queue.fill(backfill.id, &events, follows);
        }
        self.room.notify_one();
        self.filled.notify_waiters();
    }

    /// Waits until subscribers have all that is read back for them.
    pub(super) async fn filled(&self) {
        loop {
            let filled = self.filled.notified();
            if !self.lock().queues.values().any(|queue| queue.is_filling()) {
                return;
            }
            filled.await;
        }
    }

    /// Whether a backfill has become useless: no subscriber waits for it, or the server's history was restored
    /// meanwhile.
    pub(super) fn is_void(&self, backfill: &Backfill) -> bool {
        let inner = self.lock();
        let mut queues = inner.queues.values();
        let is_wanted = queues.any(|queue| queue.place(backfill.id).is_some());
        inner.restores != backfill.restores || !is_wanted
    }

    /// Waits until the subscribers of a backfill have read half of their queues. A subscriber that takes too long
    /// misses `rest`, and reads it back later.
    pub(super) async fn drained(&self, backfill: &Backfill, rest: impl Fn() -> Missed) {
        let begun = Instant::now();
        loop {
            let drained = self.drained.notified();
            let Some(patience) = self.lock().patience(backfill.id) else {
                return;
            };
            if timeout_at(begun + patience, drained).await.is_err() {
                return self.lock().fall_behind(backfill.id, rest);
            }
        }
    }
}

impl SourceInner {
    /// The longest patience of the subscribers that must read before they get more; `None` if there are none.
    fn patience(&self, backfill: u64) -> Option<Duration> {
        let readers = self.readers();
        let full = self.queues.values();
        let full = full.filter(|queue| queue.is_filled(backfill));
        full.map(|queue| queue.patience(readers)).max()
    }

    /// Stops waiting for the subscribers whose queues are full: they miss `rest`.
    fn fall_behind(&mut self, backfill: u64, rest: impl Fn() -> Missed) {
        let full = self.queues.values_mut();
        for queue in full.filter(|queue| queue.is_filled(backfill)) {
            queue.fall_behind(backfill, rest());
        }
    }

    /// The events that a subscriber missed while its queue was full, once it has read the kept ones. If the
    /// server can still give the versions, this starts a backfill and returns `None`.
    pub(super) fn catch_up(&mut self, id: u64, now: Timestamp) -> Option<VecDeque<Event>> {
        let mark = self.id();
        let queue = self.queues.get_mut(&id)?;
        let missed = queue.catch_up(&self.store, self.version.as_ref(), now)?;
        let is_kept = self.upstream == Upstream::Live && queue.options.catch_up == CatchUp::Every;
        let revisions = missed.gap.as_ref().filter(|_| is_kept);
        let revisions = revisions.and_then(Gap::revisions);
        let (Some((after, upto)), Some(gap)) = (revisions, missed.gap.clone()) else {
            return Some(missed.into_events());
        };
        let difference = missed.changes.into_iter().map(|(change, _)| change);
        let difference: Arc<[StoreChange]> = difference.collect();
        queue.reserve(mark, &difference);
        for event in &missed.after {
            queue.keep(event);
        }
        let backfill = Backfill {
            gap,
            difference,
            after,
            upto,
            restores: self.restores,
            seen: now,
            id: mark,
        };
        self.begin_backfill(backfill);
        None
    }

    /// Records that another history begins. The versions that polls may have missed belong to the history before
    /// it.
    fn restart(&mut self) {
        self.report_polled();
        self.continuity = Continuity::Continued;
        self.restores += 1;
    }

    /// Sends a gap and the difference. For the subscribers that want every version it begins a backfill instead.
    fn interrupt(&mut self, gap: Gap, changes: Vec<StoreChange>, seen: Timestamp) {
        let revisions = gap.revisions().filter(|_| self.upstream == Upstream::Live);
        let Some((after, upto)) = revisions else {
            let cause = match self.upstream {
                Upstream::Live if gap.is_opaque() => gap.cause.not_offered(),
                Upstream::Live | Upstream::Replayable => gap.cause,
            };
            self.broadcast(&Event::Gap(Gap { cause, ..gap }));
            self.publish(changes, seen);
            return;
        };
        let id = self.id();
        let changes: Arc<[StoreChange]> = changes.into();
        let mut reserved = false;
        for queue in self.queues.values_mut() {
            if queue.reserve(id, &changes) {
                reserved = true;
                continue;
            }
            queue.push(&Event::Gap(gap.clone()), None);
            for change in &*changes {
                queue.push(&change.clone().event(seen), None);
            }
        }
        if reserved {
            self.begin_backfill(Backfill {
                gap,
                difference: changes,
                after,
                upto,
                restores: self.restores,
                seen,
                id,
            });
        }
    }
}
