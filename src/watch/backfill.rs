//! Reading back an interval that no watch covered: the interval, and the versions that were found in it.

use std::sync::Arc;

use jiff::Timestamp;

use super::history::{PastEvent, Revision};
use super::store::StoreChange;
use crate::source::{Event, Gap, GapCause};

/// An interval that no watch covered.
#[derive(Debug)]
pub(super) struct Backfill {
    /// The gap that subscribers get if nothing can be read back. `difference` follows it.
    pub(super) gap: Gap,
    pub(super) difference: Arc<[StoreChange]>,
    /// The interval as revisions: `(after, upto]`.
    pub(super) after: Revision,
    pub(super) upto: Revision,
    /// How often the server's history had been restored when this backfill began.
    pub(super) restores: u32,
    pub(super) seen: Timestamp,
    pub(super) id: u64,
}

/// The result of a backfill.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The parts that could not be read back, and the difference that they made.
    pub(super) gaps: Vec<Gap>,
    pub(super) difference: Vec<StoreChange>,
    /// The versions after those gaps, in order.
    pub(super) events: Vec<PastEvent>,
}

impl Filled {
    pub(super) fn into_events(self, backfill: &Backfill, seen: Timestamp) -> Vec<Event> {
        let mut events: Vec<Event> = self.gaps.into_iter().map(Event::Gap).collect();
        for change in self.difference {
            events.push(change.event(backfill.seen));
        }
        for past in self.events {
            events.push(Event::Object {
                why: past.why,
                past: true,
                seen,
                now: past.now,
                prev: past.prev,
            });
        }
        events
    }
}

impl Gap {
    /// The interval as revisions; `None` if its ends are not revisions of one history.
    pub(super) fn revisions(&self) -> Option<(Revision, Revision)> {
        let revisions = Revision::parse(&self.after).zip(Revision::parse(&self.upto));
        revisions.filter(|(after, upto)| after < upto && self.cause != GapCause::Restored)
    }
}

impl GapCause {
    /// The same cause for a gap of this many revisions: at most one event per revision was dropped.
    pub(super) fn within(self, revisions: u64) -> GapCause {
        match self {
            GapCause::SlowSubscriber { dropped } => GapCause::SlowSubscriber {
                dropped: dropped.min(revisions),
            },
            other => other,
        }
    }

    /// The cause to report once the server has compacted the missed versions. An undecodable line and a slow
    /// subscriber stay the cause.
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
