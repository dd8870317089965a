//! Finds the time at which a revision was written. The server's storage has no times. But the components of a
//! control plane renew Leases in `kube-system` every few seconds, and a renewal contains its time, to the
//! microsecond (<https://kubernetes.io/docs/concepts/architecture/leases/>). A revision between two renewals was
//! written between their times.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::look::History;
use super::read::{Archive, PastError};
use super::request_limit::RequestLimit;
use super::revision::Revision;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, Resource};
use crate::source::{ClusterId, Select, SourceKey, Version};

/// The most listings to request.
const REQUESTS: u32 = 300;
/// The most time to wait for them in total.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much later than its own time a write may be stored: the time is set when the request is sent or received.
const LATENCY: SignedDuration = SignedDuration::from_secs(2);
/// A span of at most this length is precise enough.
const NEAR: SignedDuration = SignedDuration::from_secs(2);

/// The times between which something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// The earliest possible time.
    pub from: Timestamp,
    /// The latest possible time, except for the margin of [`is_surely_before`]; `None` if it may be just now.
    pub until: Option<Timestamp>,
}

/// Whether a write with the time `written` was certainly stored before `time`. It keeps a margin: a write that a
/// window leaves out must not belong to it.
pub fn is_surely_before(written: Timestamp, time: Timestamp) -> bool {
    time.duration_since(written) > LATENCY
}

/// Finds the times of the revisions of a cluster's storage.
pub struct Dates {
    archive: Archive,
    renewals: Mutex<Renewals>,
}

/// The renewals that were read. Nobody holds the lock on them during a request. Callers that need the same
/// response wait for its cell.
#[derive(Debug, Default)]
struct Renewals {
    /// Maps the revision of a renewal to its time, and to the revision up to which no other renewal follows.
    known: BTreeMap<Revision, (Timestamp, Revision)>,
    /// The newest renewal in the listing at a revision.
    listings: HashMap<Revision, Arc<OnceCell<Option<Renewal>>>>,
    /// The last time that was searched for, and the newest revision before it.
    search: Option<(Timestamp, Arc<OnceCell<Option<Revision>>>)>,
    requests: u32,
    waited: Duration,
    /// The Leases cannot be read at all, or there are none.
    hopeless: bool,
}

/// A renewal: its revision and its time.
#[derive(Clone, Copy, Debug)]
struct Renewal {
    at: Revision,
    time: Timestamp,
}

/// The key of the Leases that give a cluster's revisions their times.
pub(in crate::watch) fn leases(cluster: &ClusterId) -> SourceKey {
    let resource = Resource {
        group: "coordination.k8s.io".into(),
        version: "v1".into(),
        plural: "leases".into(),
        kind: "Lease".into(),
        namespaced: true,
    };
    let namespace = Some("kube-system".into());
    SourceKey::of(cluster, resource, namespace, Select::All)
}

impl Dates {
    /// Uses the Leases of this archive.
    pub(in crate::watch) fn new(archive: Archive) -> Dates {
        Dates {
            archive: archive.retrying(),
            renewals: Mutex::default(),
        }
    }

    /// Limits the number of concurrent requests.
    #[must_use]
    pub fn limited(self, limit: &RequestLimit) -> Dates {
        Dates {
            archive: self.archive.limited(limit),
            ..self
        }
    }

    /// Whether the revisions of a source and those of the Leases have the same storage: an API server can store a
    /// resource in its own etcd. The newest revision of one storage only grows, so this compares three reads.
    pub async fn covers(&self, history: &History) -> bool {
        if self.lock().hopeless {
            return false;
        }
        let Ok(before) = history.newest().await else {
            return false;
        };
        let own = match self.archive.metadata().newest().await {
            Ok(own) => own,
            Err(unread) => {
                self.lock().fail(&unread);
                return false;
            }
        };
        let after = history.newest().await;
        before <= own && after.is_ok_and(|after| own <= after)
    }

    /// When a revision was written; `None` if it is unknown. `newest` is the newest readable revision.
    pub async fn of(&self, at: Revision, newest: Revision) -> Option<Between> {
        let from = self.renewal(at).await.ok()??.time;
        let until = self.after(at, from, newest).await;
        Some(Between {
            from,
            until: until.map(|until| until.max(from)),
        })
    }

    /// The newest revision that is certainly older than `time`.
    pub async fn before(&self, time: Timestamp, newest: Revision) -> Option<Revision> {
        // All sources of one run ask for the same time.
        let search = self.lock().search(time);
        let before = search.get_or_init(|| self.search(time, newest)).await;
        before.filter(|before| *before <= newest)
    }

    fn lock(&self) -> MutexGuard<'_, Renewals> {
        self.renewals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest renewal at or before `at`.
    async fn renewal(&self, at: Revision) -> Result<Option<Renewal>, PastError> {
        let listing = {
            let mut renewals = self.lock();
            if let Some(known) = renewals.at(at) {
                return Ok(Some(known));
            }
            renewals.listing(at)?
        };
        listing.get_or_try_init(|| self.read(at)).await.copied()
    }

    /// Reads the listing at a revision.
    async fn read(&self, at: Revision) -> Result<Option<Renewal>, PastError> {
        self.lock().requests += 1;
        let asked = Instant::now();
        let leases = self.archive.listing(at, 0).await;
        let mut renewals = self.lock();
        renewals.waited += asked.elapsed();
        let leases = leases.inspect_err(|unread| renewals.fail(unread))?;
        let newest = leases.iter().filter_map(|lease| renewal(lease));
        // The clocks of the Lease holders may differ a little.
        let newest = newest.reduce(|one, other| Renewal {
            at: one.at.max(other.at),
            time: one.time.max(other.time),
        });
        if let Some(newest) = newest {
            renewals.note(newest, at);
        }
        Ok(newest)
    }

    /// Searches by halving. [`Dates::before`] caches the result.
    async fn search(&self, time: Timestamp, newest: Revision) -> Option<Revision> {
        let (mut low, mut high, mut before) = (Revision::FIRST, newest.next(), None);
        while let Some(middle) = Revision::between(low, high) {
            match self.renewal(middle).await {
                Ok(Some(found)) if !is_surely_before(found.time, time) => high = found.at,
                Ok(found) => {
                    before = found.map(|found| found.at).or(before);
                    low = middle;
                }
                Err(PastError::Forgotten) => low = middle,
                Err(_) => break,
            }
        }
        before
    }

    /// The time of the first renewal after a revision. A renewal near `from` is good enough.
    async fn after(&self, at: Revision, from: Timestamp, newest: Revision) -> Option<Timestamp> {
        let (mut low, known) = self.lock().after(at);
        let mut step = 1;
        let mut next = loop {
            if let Some(known) = known {
                break known;
            }
            if low >= newest {
                return None;
            }
            let probe = low.forth(step).min(newest);
            match self.renewal(probe).await.ok()? {
                Some(found) if found.at > at => break found,
                Some(_) | None => low = probe,
            }
            step = step.saturating_mul(4);
        };
        while let Some(middle) = Revision::between(low, next.at)
            && next.time.duration_since(from) > NEAR
        {
            match self.renewal(middle).await {
                Ok(Some(earlier)) if earlier.at > at => next = earlier,
                Ok(_) => low = middle,
                Err(_) => break,
            }
        }
        Some(next.time)
    }
}

impl Renewals {
    /// The newest renewal at or before `at`, if it is known.
    fn at(&self, at: Revision) -> Option<Renewal> {
        let (own, (time, upto)) = self.known.range(..=at).next_back()?;
        (at <= *upto).then_some(Renewal {
            at: *own,
            time: *time,
        })
    }

    /// The newest revision from `at` on that is known to precede the next renewal, and that renewal if known.
    fn after(&self, at: Revision) -> (Revision, Option<Renewal>) {
        let last = self.known.range(..=at).next_back();
        let low = last.map_or(at, |(_, (_, upto))| at.max(*upto));
        let next = self.known.range(low.next()..).next();
        let next = next.map(|(at, (time, _))| Renewal {
            at: *at,
            time: *time,
        });
        (low, next)
    }

    /// The cell for the response at a revision. Fails after enough requests.
    fn listing(&mut self, at: Revision) -> Result<Arc<OnceCell<Option<Renewal>>>, PastError> {
        if self.hopeless || self.requests >= REQUESTS || self.waited >= PATIENCE {
            return Err(PastError::Spent);
        }
        Ok(self.listings.entry(at).or_default().clone())
    }

    /// The cell for the result of [`Dates::before`].
    fn search(&mut self, time: Timestamp) -> Arc<OnceCell<Option<Revision>>> {
        if let Some((asked, search)) = &self.search
            && *asked == time
        {
            return search.clone();
        }
        let (_, search) = self.search.insert((time, Arc::default()));
        search.clone()
    }

    /// Records the newest renewal of the listing at a revision.
    fn note(&mut self, newest: Renewal, listed: Revision) {
        let known = self.known.entry(newest.at);
        let (_, upto) = known.or_insert((newest.time, listed));
        *upto = listed.max(*upto);
    }

    fn fail(&mut self, unread: &PastError) {
        self.hopeless |= matches!(unread, PastError::NotOffered(_));
    }
}

/// The revision and the time of the last write of a Lease.
fn renewal(lease: &Version) -> Option<Renewal> {
    let at = Revision::parse(&lease.version)?;
    let doc: Doc = lease.doc().ok()?;
    let renewed = doc.root().time_at(&["spec", "renewTime"])?;
    // The last write may have been something else than a renewal.
    let written = Writers::of(None, Some(doc.root())).time();
    let time = written.map_or(renewed, |written| written.max(renewed));
    Some(Renewal { at, time })
}
