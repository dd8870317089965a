//! `Renewals`: the renewals that were read, and the limits of what is requested.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::OnceCell;

use crate::object::Doc;
use crate::object::managed_fields::newest_time;
use crate::source::Version;
use crate::watch::history::read::PastError;
use crate::watch::revision::{Revision, RevisionSpan};

/// The most listings to request.
const REQUESTS: u32 = 300;
/// The most time to wait for them in total.
const PATIENCE: Duration = Duration::from_secs(5);

/// The renewals that were read. Nobody holds the lock on them during a request. Callers that need the same
/// response wait for its cell.
#[derive(Debug, Default)]
pub(super) struct Renewals {
    /// Maps the revision of a renewal to its time, and to the revision up to which no other renewal follows.
    pub(super) known: BTreeMap<Revision, (Timestamp, Revision)>,
    pub(super) listings: HashMap<Revision, Arc<OnceCell<Option<Renewal>>>>,
    /// The last time that was searched for, and the newest revision before it.
    pub(super) search: Option<(Timestamp, Arc<OnceCell<Option<Revision>>>)>,
    /// The newest readable revision; `None` until it is read.
    pub(super) newest: Option<Revision>,
    /// The start of the watch cache, up to its first renewal. There is none before that one.
    silence: Option<RevisionSpan>,
    pub(super) requests: u32,
    pub(super) waited: Duration,
    /// The Leases cannot be read at all, or there are none.
    pub(super) hopeless: bool,
}

/// A renewal: its revision and its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renewal {
    pub(super) at: Revision,
    pub(super) time: Timestamp,
}

impl Renewal {
    /// The latest of both. The clocks of the Lease holders may differ a little.
    pub(super) fn latest(self, other: Renewal) -> Renewal {
        Renewal {
            at: self.at.max(other.at),
            time: self.time.max(other.time),
        }
    }
}

impl Renewals {
    /// Whether the renewals before and after a revision are known.
    pub(super) fn are_around(&self, at: Revision) -> bool {
        self.at(at).is_some() && self.after(at).1.is_some()
    }

    /// The newest renewal at or before `at`, if it is known.
    pub(super) fn at(&self, at: Revision) -> Option<Renewal> {
        let (own, (time, upto)) = self.known.range(..=at).next_back()?;
        (at <= *upto).then_some(Renewal {
            at: *own,
            time: *time,
        })
    }

    /// The newest renewal that is known.
    pub(super) fn newest_renewal(&self) -> Option<Renewal> {
        let (at, (time, _)) = self.known.last_key_value()?;
        Some(Renewal {
            at: *at,
            time: *time,
        })
    }

    /// The newest revision from `at` on that is known to precede the next renewal, and that renewal if known.
    pub(super) fn after(&self, at: Revision) -> (Revision, Option<Renewal>) {
        let last = self.known.range(..=at).next_back();
        let low = last.map_or(at, |(_, (_, upto))| at.max(*upto));
        let low = low.max(self.silent_from(low));
        let next = self.known.range(low.next()..).next();
        let next = next.map(|(at, (time, _))| Renewal {
            at: *at,
            time: *time,
        });
        (low, next)
    }

    /// The cell for the response at a revision. Fails after enough requests.
    pub(super) fn listing(
        &mut self,
        at: Revision,
    ) -> Result<Arc<OnceCell<Option<Renewal>>>, PastError> {
        if self.hopeless || self.requests >= REQUESTS || self.waited >= PATIENCE {
            return Err(PastError::Spent);
        }
        Ok(self.listings.entry(at).or_default().clone())
    }

    /// The cell for the result of [`Dates::before`](super::Dates::before).
    pub(super) fn search(&mut self, time: Timestamp) -> Arc<OnceCell<Option<Revision>>> {
        if let Some((asked, search)) = &self.search
            && *asked == time
        {
            return search.clone();
        }
        let (_, search) = self.search.insert((time, Arc::default()));
        search.clone()
    }

    /// Notes that `newest` is the last renewal up to a revision.
    pub(super) fn note(&mut self, newest: Renewal, listed: Revision) {
        let listed = self.silent_from(listed);
        let known = self.known.entry(newest.at);
        let (_, upto) = known.or_insert((newest.time, listed));
        *upto = listed.max(*upto);
    }

    /// Notes all renewals of the watch cache after the revision `reaches`, the oldest first. The clocks of those who renew
    /// may differ a little, so a renewal has the latest time up to it.
    pub(super) fn note_all(&mut self, reaches: Revision, renewals: &[Renewal]) {
        let last = renewals.last().map(|last| last.at);
        let ends = renewals.iter().skip(1).map(|next| next.at.back(1));
        let mut latest = Timestamp::MIN;
        for (renewal, upto) in renewals.iter().zip(ends.chain(last)) {
            latest = latest.max(renewal.time);
            let time = latest;
            self.note(Renewal { time, ..*renewal }, upto);
        }
        self.silence = renewals.first().map(|first| RevisionSpan {
            after: reaches,
            upto: first.at.back(1),
        });
    }

    /// The last revision without a renewal from this one on, as far as the start of the watch cache shows it.
    fn silent_from(&self, at: Revision) -> Revision {
        let silence = self.silence.filter(|it| it.after <= at && at <= it.upto);
        silence.map_or(at, |silence| silence.upto)
    }

    pub(super) fn fail(&mut self, unread: &PastError) {
        self.hopeless |= matches!(unread, PastError::NotOffered(_));
    }
}

/// The revision and the time of the last write of a Lease.
pub(super) fn renewal(lease: &Version) -> Option<Renewal> {
    let at = Revision::parse(&lease.version)?;
    let doc: Doc = lease.doc().ok()?;
    let renewed = doc.root().time_at(&["spec", "renewTime"])?;
    // The last write may have been something else than a renewal.
    let written = newest_time(doc.root());
    let time = written.map_or(renewed, |written| written.max(renewed));
    Some(Renewal { at, time })
}
