//! Reading back an interval that no watch covered: the interval, and the versions that were found in it.

use std::sync::Arc;

use jiff::Timestamp;

use super::history::PastEvent;
use super::revision::Revision;
use super::store::StoreChange;
use crate::object::ResourceVersion;
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
    /// Whether its ends are versions that do not tell which versions are between them.
    pub(super) fn is_opaque(&self) -> bool {
        let is_opaque = |version: &ResourceVersion| {
            !version.as_str().is_empty() && Revision::parse(version).is_none()
        };
        is_opaque(&self.after) || is_opaque(&self.upto)
    }

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

    /// The cause to report if the server does not offer old versions: whether it has compacted them is unknown.
    pub(super) fn not_offered(self) -> GapCause {
        match self {
            GapCause::Expired | GapCause::Refused | GapCause::Unanswered | GapCause::Unseen => {
                GapCause::NotOffered
            }
            GapCause::NotOffered
            | GapCause::Undecodable
            | GapCause::Polled
            | GapCause::Restored
            | GapCause::SlowSubscriber { .. } => self,
        }
    }

    /// The cause to report once the server has compacted the missed versions. An undecodable line and a slow
    /// subscriber stay the cause.
    pub(super) fn forgotten(self, revisions: u64) -> GapCause {
        match self {
            GapCause::Refused | GapCause::Unanswered | GapCause::Unseen => GapCause::Expired,
            GapCause::Expired
            | GapCause::NotOffered
            | GapCause::Undecodable
            | GapCause::Polled
            | GapCause::Restored
            | GapCause::SlowSubscriber { .. } => self.within(revisions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_are_not_numbers_are_opaque() {
        for (after, upto, is_opaque) in [
            ("4", "8", false),
            ("", "8", false),
            ("4", "", false),
            ("v-4", "v-8", true),
            ("", "0a7", true),
            ("007", "009", true),
        ] {
            let gap = Gap {
                after: ResourceVersion::new(after),
                upto: ResourceVersion::new(upto),
                cause: GapCause::Expired,
            };
            assert_eq!(gap.is_opaque(), is_opaque, "{after} {upto}");
        }
        assert_eq!(GapCause::Expired.not_offered(), GapCause::NotOffered);
        let dropped = GapCause::SlowSubscriber { dropped: 2 };
        assert_eq!(dropped.not_offered(), dropped);
    }
}
