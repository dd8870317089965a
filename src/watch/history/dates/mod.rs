//! When a revision was written. The store keeps no times; but the components of a control plane renew
//! Leases in `kube-system` every few seconds, and a renewal says when it was made, to the microsecond
//! (<https://kubernetes.io/docs/concepts/architecture/leases/>). What lies between two renewals by its
//! revision does so by time.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::look::History;
use super::read::{Archive, Unread};
use super::request_limit::RequestLimit;
use super::revision::Revision;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, Resource};
use crate::source::Select;
use crate::source::Version;
use crate::source::{ClusterId, Form, Scope, SourceKey};

/// So many listings are asked for at most,
const REQUESTS: u32 = 300;
/// and so long is waited for them in all.
const PATIENCE: Duration = Duration::from_secs(5);
/// So much later than it says may a write be in the store: its time is noted when it is sent, or taken in.
const LATENCY: SignedDuration = SignedDuration::from_secs(2);
/// A span that is no longer is not narrowed any more.
const NEAR: SignedDuration = SignedDuration::from_secs(2);

/// Between which times something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// Not before this.
    pub from: Timestamp,
    /// Not after this, but for the moment that [`is_surely_before`] allows; `None` if it may have been just
    /// now.
    pub until: Option<Timestamp>,
}

/// Whether what was written at a time, by its own word, was in the store before another. With a margin: what is
/// left out of a window must not have been in it.
pub fn is_surely_before(written: Timestamp, time: Timestamp) -> bool {
    time.duration_since(written) > LATENCY
}

/// Dates the revisions of a cluster's store.
pub struct Dates {
    archive: Archive,
    renewals: Mutex<Renewals>,
}

/// What was read. The lock on it is never held while a request is under way: a cell is what several callers of
/// one answer wait for.
#[derive(Debug, Default)]
struct Renewals {
    /// By the revision of a renewal: its time, and up to which revision there was no other.
    known: BTreeMap<Revision, (Timestamp, Revision)>,
    /// The newest renewal in the listing at a revision.
    listings: HashMap<Revision, Arc<OnceCell<Option<Renewal>>>>,
    /// The last time that was searched for, and the newest revision before it.
    search: Option<(Timestamp, Arc<OnceCell<Option<Revision>>>)>,
    requests: u32,
    waited: Duration,
    /// They may not be read, or there are none.
    hopeless: bool,
}

/// A renewal: at which revision it was written, and when.
#[derive(Clone, Copy, Debug)]
struct Renewal {
    at: Revision,
    time: Timestamp,
}

/// The Leases by which a cluster's revisions are dated.
pub(in crate::watch) fn leases(cluster: &ClusterId) -> SourceKey {
    SourceKey {
        cluster: cluster.clone(),
        resource: Resource {
            group: "coordination.k8s.io".into(),
            version: "v1".into(),
            plural: "leases".into(),
            kind: "Lease".into(),
            namespaced: true,
        },
        scope: Scope::Namespace("kube-system".into()),
        select: Select::All,
        form: Form::Full,
    }
}

impl Dates {
    /// By the Leases of this archive.
    pub(in crate::watch) fn new(archive: Archive) -> Dates {
        Dates {
            archive: archive.patient(),
            renewals: Mutex::default(),
        }
    }

    /// The same, under a limit of requests.
    #[must_use]
    pub fn limited(self, limit: &RequestLimit) -> Dates {
        Dates {
            archive: self.archive.limited(limit),
            ..self
        }
    }

    /// Whether the revisions of a source are those of the Leases: an API server can keep a resource in a
    /// store of its own. Of one store, what is newest only grows.
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

    /// When a revision was written; `None` if nothing tells. `newest` is the newest that can be read.
    pub async fn of(&self, at: Revision, newest: Revision) -> Option<Between> {
        let from = self.renewal(at).await.ok()??.time;
        let until = self.after(at, from, newest).await;
        Some(Between {
            from,
            until: until.map(|until| until.max(from)),
        })
    }

    /// The newest revision that is known to be older than `time`.
    pub async fn before(&self, time: Timestamp, newest: Revision) -> Option<Revision> {
        // All sources of a run ask for the same.
        let search = self.lock().search(time);
        let before = search.get_or_init(|| self.search(time, newest)).await;
        before.filter(|before| *before <= newest)
    }

    fn lock(&self) -> MutexGuard<'_, Renewals> {
        self.renewals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest renewal that is not newer than `at`.
    async fn renewal(&self, at: Revision) -> Result<Option<Renewal>, Unread> {
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
    async fn read(&self, at: Revision) -> Result<Option<Renewal>, Unread> {
        self.lock().requests += 1;
        let asked = Instant::now();
        let leases = self.archive.listing(at, 0).await;
        let mut renewals = self.lock();
        renewals.waited += asked.elapsed();
        let leases = leases.inspect_err(|unread| renewals.fail(unread))?;
        let newest = leases.iter().filter_map(|lease| renewal(lease));
        // The clocks of their holders may differ a little.
        let newest = newest.reduce(|one, other| Renewal {
            at: one.at.max(other.at),
            time: one.time.max(other.time),
        });
        if let Some(newest) = newest {
            renewals.note(newest, at);
        }
        Ok(newest)
    }

    /// See [`Dates::before`].
    async fn search(&self, time: Timestamp, newest: Revision) -> Option<Revision> {
        let (mut low, mut high, mut before) = (Revision::FIRST, newest.next(), None);
        while let Some(middle) = Revision::between(low, high) {
            match self.renewal(middle).await {
                Ok(Some(found)) if !is_surely_before(found.time, time) => high = found.at,
                Ok(found) => {
                    before = found.map(|found| found.at).or(before);
                    low = middle;
                }
                Err(Unread::Forgotten) => low = middle,
                Err(_) => break,
            }
        }
        before
    }

    /// When the first renewal after a revision was made; one that is near `from` will do.
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
    /// The newest renewal that is not newer than `at`, if it is known.
    fn at(&self, at: Revision) -> Option<Renewal> {
        let (own, (time, upto)) = self.known.range(..=at).next_back()?;
        (at <= *upto).then_some(Renewal {
            at: *own,
            time: *time,
        })
    }

    /// The newest revision from `at` on that is known to come before the next renewal, and that renewal.
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

    /// Where the answer for a revision is to stand; fails once enough was asked.
    fn listing(&mut self, at: Revision) -> Result<Arc<OnceCell<Option<Renewal>>>, Unread> {
        if self.hopeless || self.requests >= REQUESTS || self.waited >= PATIENCE {
            return Err(Unread::Spent);
        }
        Ok(self.listings.entry(at).or_default().clone())
    }

    /// Where the answer to [`Dates::before`] is to stand.
    fn search(&mut self, time: Timestamp) -> Arc<OnceCell<Option<Revision>>> {
        if let Some((asked, search)) = &self.search
            && *asked == time
        {
            return search.clone();
        }
        let (_, search) = self.search.insert((time, Arc::default()));
        search.clone()
    }

    /// Notes the newest renewal of the listing at a revision.
    fn note(&mut self, newest: Renewal, listed: Revision) {
        let known = self.known.entry(newest.at);
        let (_, upto) = known.or_insert((newest.time, listed));
        *upto = listed.max(*upto);
    }

    fn fail(&mut self, unread: &Unread) {
        self.hopeless |= matches!(unread, Unread::NotOffered(_));
    }
}

/// When a Lease was written last.
fn renewal(lease: &Version) -> Option<Renewal> {
    let at = Revision::parse(&lease.version)?;
    let doc: Doc = lease.doc().ok()?;
    let renewed: Timestamp = doc.root().str_at(&["spec", "renewTime"])?.parse().ok()?;
    // It need not have been a renewal.
    let written = Writers::of(None, Some(doc.root())).time();
    let time = written.map_or(renewed, |written| written.max(renewed));
    Some(Renewal { at, time })
}
