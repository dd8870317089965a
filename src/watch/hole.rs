//! What a listing after an interruption changes. Subscribers get it after the versions in between have been read
//! back. Until then their events wait behind its place in the queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::event::{Event, Gap, GapCause};
use super::history::{Revision, Told};
use super::lag::Lag;
use super::patience::Recall;
use super::queue::{Follows, Queue};
use super::source::{Inner, Shared};
use super::store::{Change, Continuity, Listing};
use super::transport::Upstream;

/// Whether a listing that found nothing new is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tell {
    Always,
    Changes,
}

/// An interval that no watch covered.
#[derive(Debug)]
pub(super) struct Hole {
    /// What is said of it if nothing can be read back, and then the difference.
    pub(super) gap: Gap,
    pub(super) difference: Arc<[Change]>,
    /// The same as revisions: `(after, upto]`.
    pub(super) after: Revision,
    pub(super) upto: Revision,
    /// How often the server's history had been set back when it came to be.
    pub(super) restores: u32,
    seen: Timestamp,
    /// The numbers that are kept for its events begin after this one.
    seq: u64,
    id: u64,
}

/// What was read back.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The part that is missing all the same, and the difference that it made.
    pub(super) gaps: Vec<Gap>,
    pub(super) difference: Vec<Change>,
    /// What happened after it, in order.
    pub(super) told: Vec<Told>,
}

impl Shared {
    /// Takes in a listing: tells the gap before it, the difference, and that it is complete. Returns
    /// how many objects changed. What is to be read back [`Shared::fill`] then tells in place of the gap.
    pub(super) fn relist(&self, listing: Listing, gap: Option<GapCause>, tell: Tell) -> usize {
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
        let after = inner.untold.take().or_else(|| inner.version.clone());
        if count == 0 && tell == Tell::Changes && gap != Some(GapCause::Restored) {
            inner.untold = after.filter(|after| *after != upto);
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
                inner.tell(&synced);
            }
        }
        inner.version = Some(upto);
        count
    }

    /// Tells what was read back, in its place.
    pub(super) fn fill(&self, hole: &mut Hole, filled: Filled, follows: Follows) {
        let events = filled.events(hole, (self.clock)());
        for queue in self.lock().queues.values_mut() {
            queue.fill(hole.id, &events, follows);
        }
        self.room.notify_one();
    }

    /// Whether it is of no use to go on: nobody waits for it, or the server's history is another now.
    pub(super) fn is_void(&self, hole: &Hole) -> bool {
        let inner = self.lock();
        let waits = |queue: &Queue| queue.place(hole.id).is_some();
        inner.restores != hole.restores || !inner.queues.values().any(waits)
    }

    /// Waits until those who are to be told more have read half of what they have. Who does not in time
    /// misses `rest`, and reads it back later.
    pub(super) async fn drained(&self, hole: &Hole, rest: impl Fn() -> Lag) {
        let begun = Instant::now();
        loop {
            let drained = self.drained.notified();
            let Some(patience) = self.lock().patience(hole.id) else {
                return;
            };
            if timeout_at(begun + patience, drained).await.is_err() {
                return self.lock().fall_behind(hole.id, rest);
            }
        }
    }
}

impl Filled {
    fn events(self, hole: &mut Hole, seen: Timestamp) -> Vec<Event> {
        let mut events: Vec<Event> = self.gaps.into_iter().map(Event::Gap).collect();
        for change in self.difference {
            hole.seq += 1;
            events.push(change.event(hole.seq, hole.seen));
        }
        for told in self.told {
            hole.seq += 1;
            events.push(Event::Object {
                seq: hole.seq,
                why: told.why,
                past: true,
                seen,
                now: told.now,
                prev: told.prev,
            });
        }
        events
    }
}

impl Inner {
    /// How long those are waited for who have to read before they are told more; `None` if there are none.
    fn patience(&self, hole: u64) -> Option<Duration> {
        let company = self.company();
        let full = self.queues.values();
        let full = full.filter(|queue| queue.is_filled(hole));
        full.map(|queue| queue.patience(company)).max()
    }

    /// Leaves behind those who do not read.
    fn fall_behind(&mut self, hole: u64, rest: impl Fn() -> Lag) {
        let full = self.queues.values_mut();
        for queue in full.filter(|queue| queue.is_filled(hole)) {
            queue.fall_behind(hole, rest());
        }
    }

    /// What a subscriber missed whose queue was full, now that it has read all that was kept. That is read
    /// back first, if it can be.
    pub(super) fn catch_up(&mut self, id: u64, now: Timestamp) -> Option<VecDeque<Event>> {
        let mark = self.id();
        let queue = self.queues.get_mut(&id)?;
        let missed = queue.catch_up(&self.store, self.version.as_ref(), now)?;
        let is_kept = self.upstream == Upstream::Live && queue.recall() == Recall::Every;
        let revisions = missed.gap.as_ref().filter(|_| is_kept);
        let revisions = revisions.and_then(Gap::revisions);
        let (Some((after, upto)), Some(gap)) = (revisions, missed.gap.clone()) else {
            return Some(missed.told(self.seq));
        };
        let difference = missed.changes.into_iter().map(|(change, _)| change);
        let difference: Arc<[Change]> = difference.collect();
        queue.reserve(mark, &difference);
        for event in &missed.after {
            queue.keep(event);
        }
        let hole = Hole {
            gap,
            difference,
            after,
            upto,
            restores: self.restores,
            seen: now,
            seq: self.seq,
            id: mark,
        };
        self.seq += upto.since(after);
        // The filler lives as long as the source.
        let _ = self.holes.send(hole);
        None
    }

    /// Another history begins. What polls may have missed belongs to the one before.
    fn restart(&mut self) {
        self.admit();
        self.continuity = Continuity::Continued;
        self.restores += 1;
    }

    /// Subscribers get the gap now, or later what was in it, if that may be read back.
    fn interrupt(&mut self, gap: Gap, changes: Vec<Change>, seen: Timestamp) {
        let revisions = gap.revisions().filter(|_| self.upstream == Upstream::Live);
        let Some((after, upto)) = revisions else {
            self.tell(&Event::Gap(gap));
            self.publish(changes, seen);
            return;
        };
        let (id, seq) = (self.id(), self.seq);
        // A revision is one write, so there are no more versions than revisions.
        self.seq += upto.since(after).max(changes.len() as u64);
        let changes: Arc<[Change]> = changes.into();
        let mut reserved = false;
        for queue in self.queues.values_mut() {
            if queue.reserve(id, &changes) {
                reserved = true;
                continue;
            }
            queue.push(&Event::Gap(gap.clone()), None);
            for change in &*changes {
                queue.push(&change.clone().event(self.seq, seen), None);
            }
        }
        if reserved {
            // The filler lives as long as the source.
            let _ = self.holes.send(Hole {
                gap,
                difference: changes,
                after,
                upto,
                restores: self.restores,
                seen,
                seq,
                id,
            });
        }
    }
}

impl Gap {
    /// The interval as revisions, if it is one of one history.
    fn revisions(&self) -> Option<(Revision, Revision)> {
        let revisions = Revision::parse(&self.after).zip(Revision::parse(&self.upto));
        revisions.filter(|(after, upto)| after < upto && self.cause != GapCause::Restored)
    }
}
