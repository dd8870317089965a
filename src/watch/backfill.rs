//! What is read back: an interval that no watch covered, and what was found of it.

use std::sync::Arc;

use jiff::Timestamp;

use super::history::{PastEvent, Revision};
use super::store::StoreChange;
use crate::source::{Event, Gap, GapCause};

/// An interval that no watch covered.
#[derive(Debug)]
pub(super) struct Backfill {
    /// What is said of it if nothing can be read back, and then the difference.
    pub(super) gap: Gap,
    pub(super) difference: Arc<[StoreChange]>,
    /// The same as revisions: `(after, upto]`.
    pub(super) after: Revision,
    pub(super) upto: Revision,
    /// How often the server's history had been set back when it began.
    pub(super) restores: u32,
    pub(super) seen: Timestamp,
    /// The numbers that are kept for its events begin after this one.
    pub(super) seq: u64,
    pub(super) id: u64,
}

/// What was read back.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The part that is missing all the same, and the difference that it made.
    pub(super) gaps: Vec<Gap>,
    pub(super) difference: Vec<StoreChange>,
    /// What happened after it, in order.
    pub(super) told: Vec<PastEvent>,
}

impl Filled {
    pub(super) fn events(self, backfill: &mut Backfill, seen: Timestamp) -> Vec<Event> {
        let mut events: Vec<Event> = self.gaps.into_iter().map(Event::Gap).collect();
        for change in self.difference {
            backfill.seq += 1;
            events.push(change.event(backfill.seq, backfill.seen));
        }
        for told in self.told {
            backfill.seq += 1;
            events.push(Event::Object {
                seq: backfill.seq,
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

impl Gap {
    /// The interval as revisions, if it is one of one history.
    pub(super) fn revisions(&self) -> Option<(Revision, Revision)> {
        let revisions = Revision::parse(&self.after).zip(Revision::parse(&self.upto));
        revisions.filter(|(after, upto)| after < upto && self.cause != GapCause::Restored)
    }
}

impl GapCause {
    /// The same for a gap of so many revisions: no more can have been dropped in it.
    pub(super) fn within(self, revisions: u64) -> GapCause {
        match self {
            GapCause::SlowSubscriber { dropped } => GapCause::SlowSubscriber {
                dropped: dropped.min(revisions),
            },
            other => other,
        }
    }

    /// The same where the server has forgotten what was missed. A line that could not be read, and a subscriber
    /// that did not read, are causes of their own.
    pub(super) fn forgotten(self, revisions: u64) -> GapCause {
        match self {
            GapCause::Refused | GapCause::Unanswered | GapCause::Unseen => GapCause::Expired,
            GapCause::Expired
            | GapCause::Undecodable
            | GapCause::Polled
            | GapCause::Restored
            | GapCause::SlowSubscriber { .. } => self.within(revisions),
        }
    }
}
