//! What a listing after an interruption changes: tables have it at once, lossless subscribers after what
//! lies between has been read back. Until then their events wait behind its place in the queue.

use jiff::Timestamp;

use super::event::{Event, Gap, GapCause};
use super::history::{Revision, Told};
use super::source::{Inner, Shared};
use super::store::{Change, Listing};
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
    pub(super) difference: Vec<Change>,
    /// The same as revisions: `(after, upto]`.
    pub(super) after: Revision,
    pub(super) upto: Revision,
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
    /// how many objects changed, and what is to be read back, which [`Shared::fill`] then tells in
    /// place of the gap.
    pub(super) fn relist(
        &self,
        listing: Listing,
        gap: Option<GapCause>,
        tell: Tell,
    ) -> (usize, Option<Hole>) {
        let seen = (self.clock)();
        let mut inner = self.lock();
        let upto = listing.version.clone();
        let changes = inner.store.swap(listing, seen);
        let count = changes.len();
        let after = inner.untold.take().or_else(|| inner.version.clone());
        let mut hole = None;
        if count == 0 && tell == Tell::Changes {
            inner.untold = after.filter(|after| *after != upto);
        } else {
            match gap.zip(after) {
                Some((cause, after)) => {
                    let upto = upto.clone();
                    hole = inner.interrupt(Gap { after, upto, cause }, changes, seen);
                }
                None => inner.publish(changes, seen),
            }
            inner.epoch += 1;
            if let Some(synced) = inner.synced(Some(&upto)) {
                inner.tell(&synced);
            }
        }
        inner.version = Some(upto);
        (count, hole)
    }

    /// Tells what was read back, or else the gap and the difference.
    pub(super) fn fill(&self, hole: Hole, filled: Option<Filled>) {
        let filled = filled.unwrap_or_else(|| Filled {
            gaps: vec![hole.gap],
            difference: hole.difference,
            told: Vec::new(),
        });
        let seen = (self.clock)();
        let mut events: Vec<Event> = filled.gaps.into_iter().map(Event::Gap).collect();
        let mut seq = hole.seq;
        for change in filled.difference {
            seq += 1;
            events.push(change.event(seq, hole.seen));
        }
        for told in filled.told {
            seq += 1;
            events.push(Event::Object {
                seq,
                why: told.why,
                past: true,
                seen,
                now: told.now,
                prev: told.prev,
            });
        }
        for queue in self.lock().queues.values_mut() {
            queue.fill(hole.id, &events);
        }
        self.room.notify_one();
    }
}

impl Inner {
    /// Tables are told now. Subscribers are told later, if what lies between may be read back.
    fn interrupt(&mut self, gap: Gap, changes: Vec<Change>, seen: Timestamp) -> Option<Hole> {
        let revisions = Revision::parse(&gap.after).zip(Revision::parse(&gap.upto));
        let (after, upto) = match revisions.filter(|_| self.upstream == Upstream::Live) {
            Some((after, upto)) if after < upto => (after, upto),
            _ => {
                self.tell(&Event::Gap(gap));
                self.publish(changes, seen);
                return None;
            }
        };
        self.mark(&changes);
        let (id, seq) = (self.id(), self.seq);
        // A revision is one write, so there are no more versions than revisions.
        self.seq += upto.since(after).max(changes.len() as u64);
        let mut reserved = false;
        for queue in self.queues.values_mut() {
            if queue.reserve(id) {
                reserved = true;
                continue;
            }
            queue.push(&Event::Gap(gap.clone()), None);
            for change in &changes {
                queue.push(&change.clone().event(self.seq, seen), None);
            }
        }
        reserved.then_some(Hole {
            gap,
            difference: changes,
            after,
            upto,
            seen,
            seq,
            id,
        })
    }
}
