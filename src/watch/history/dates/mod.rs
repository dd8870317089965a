//! When a revision was written. The store keeps no times; but the components of a control plane renew
//! Leases in `kube-system` every few seconds, and a renewal says when it was made, to the microsecond
//! (<https://kubernetes.io/docs/concepts/architecture/leases/>). What lies between two renewals by its
//! revision does so by time.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::look::History;
use super::read::{Archive, Unread};
use super::revision::Revision;
use super::turns::Turns;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, Resource};
use crate::watch::event::Version;
use crate::watch::key::{ClusterId, Form, Scope, SourceKey};

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
    known: Mutex<Known>,
}

/// What was read.
#[derive(Debug, Default)]
struct Known {
    /// By the revision of a renewal: its time, and up to which revision there was no other.
    renewals: BTreeMap<Revision, (Timestamp, Revision)>,
    /// The last time that was searched for, and the newest revision before it.
    before: Option<(Timestamp, Option<Revision>)>,
    requests: u32,
    waited: Duration,
    /// They may not be read, or there are none.
    hopeless: bool,
}

/// The newest renewal up to some revision.
type Renewal = Option<(Revision, Timestamp)>;

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
        labels: None,
        fields: None,
        form: Form::Full,
    }
}

impl Dates {
    /// By the Leases of this archive.
    pub(in crate::watch) fn new(archive: Archive) -> Dates {
        Dates {
            archive: archive.patient(),
            known: Mutex::default(),
        }
    }

    /// The same, whose requests wait their turn.
    #[must_use]
    pub fn in_turn(self, turns: &Turns) -> Dates {
        Dates {
            archive: self.archive.in_turn(turns),
            ..self
        }
    }

    /// Whether the revisions of a source are those of the Leases: an API server can keep a resource in a
    /// store of its own. Of one store, what is newest only grows.
    pub async fn covers(&self, history: &History) -> bool {
        if self.known.lock().await.hopeless {
            return false;
        }
        let Ok(before) = history.newest().await else {
            return false;
        };
        let own = match self.archive.metadata().newest().await {
            Ok(own) => own,
            Err(unread) => {
                let mut known = self.known.lock().await;
                known.hopeless = matches!(unread, Unread::NotOffered(_));
                return false;
            }
        };
        let after = history.newest().await;
        before <= own && after.is_ok_and(|after| own <= after)
    }

    /// When a revision was written; `None` if nothing tells. `newest` is the newest that can be read.
    pub async fn of(&self, at: Revision, newest: Revision) -> Option<Between> {
        let mut known = self.known.lock().await;
        let (_, from) = known.renewal(&self.archive, at).await.ok()??;
        let until = known.after(&self.archive, (at, from), newest).await;
        Some(Between {
            from,
            until: until.map(|until| until.max(from)),
        })
    }

    /// The newest revision that is known to be older than `time`.
    pub async fn before(&self, time: Timestamp, newest: Revision) -> Option<Revision> {
        let mut known = self.known.lock().await;
        // All sources of a run ask for the same.
        if let Some((asked, before)) = known.before
            && asked == time
        {
            return before.filter(|before| *before <= newest);
        }
        let before = known.search(&self.archive, time, newest).await;
        known.before = Some((time, before));
        before
    }
}

impl Known {
    /// The newest renewal that is not newer than `at`.
    async fn renewal(&mut self, archive: &Archive, at: Revision) -> Result<Renewal, Unread> {
        if let Some((own, (time, upto))) = self.renewals.range(..=at).next_back()
            && at <= *upto
        {
            return Ok(Some((*own, *time)));
        }
        if self.hopeless || self.requests >= REQUESTS || self.waited >= PATIENCE {
            return Err(Unread::Spent);
        }
        self.requests += 1;
        let asked = Instant::now();
        let leases = archive.listing(at, 0).await;
        self.waited += asked.elapsed();
        let leases = match leases {
            Ok(leases) => leases,
            Err(unread) => {
                self.hopeless = matches!(unread, Unread::NotOffered(_));
                return Err(unread);
            }
        };
        let renewals = leases.iter().filter_map(|lease| renewal(lease));
        let newest = renewals.fold(None, |newest: Renewal, (own, time)| match newest {
            // The clocks of their holders may differ a little.
            Some((at, latest)) => Some((at.max(own), latest.max(time))),
            None => Some((own, time)),
        });
        if let Some((own, time)) = newest {
            let (_, upto) = self.renewals.entry(own).or_insert((time, at));
            *upto = at.max(*upto);
        }
        Ok(newest)
    }

    /// See [`Dates::before`].
    async fn search(
        &mut self,
        archive: &Archive,
        time: Timestamp,
        newest: Revision,
    ) -> Option<Revision> {
        let (mut low, mut high, mut before) = (Revision::FIRST, newest.next(), None);
        while let Some(middle) = Revision::between(low, high) {
            match self.renewal(archive, middle).await {
                Ok(Some((at, renewed))) if !is_surely_before(renewed, time) => high = at,
                Ok(found) => {
                    before = found.map(|(at, _)| at).or(before);
                    low = middle;
                }
                Err(Unread::Forgotten) => low = middle,
                Err(_) => break,
            }
        }
        before
    }

    /// When the first renewal after a revision was made; one that is near `from` will do.
    async fn after(
        &mut self,
        archive: &Archive,
        (at, from): (Revision, Timestamp),
        newest: Revision,
    ) -> Option<Timestamp> {
        let none_up_to = self.renewals.range(..=at).next_back();
        let (mut low, mut step) = (none_up_to.map_or(at, |(_, (_, upto))| at.max(*upto)), 1);
        let known = self.renewals.range(low.next()..).next();
        let known = known.map(|(own, (time, _))| (*own, *time));
        let (mut high, mut time) = loop {
            if let Some(known) = known {
                break known;
            }
            if low >= newest {
                return None;
            }
            let probe = low.forth(step).min(newest);
            match self.renewal(archive, probe).await.ok()? {
                Some((own, time)) if own > at => break (own, time),
                Some(_) | None => low = probe,
            }
            step = step.saturating_mul(4);
        };
        while let Some(middle) = Revision::between(low, high)
            && time.duration_since(from) > NEAR
        {
            match self.renewal(archive, middle).await {
                Ok(Some((own, earlier))) if own > at => (high, time) = (own, earlier),
                Ok(_) => low = middle,
                Err(_) => break,
            }
        }
        Some(time)
    }
}

/// At which revision a Lease was written last, and when.
fn renewal(lease: &Version) -> Option<(Revision, Timestamp)> {
    let own = Revision::parse(&lease.version)?;
    let doc: Doc = lease.doc().ok()?;
    let renewed: Timestamp = doc.root().str_at(&["spec", "renewTime"])?.parse().ok()?;
    // It need not have been a renewal.
    let written = Writers::of(None, Some(doc.root())).time();
    Some((own, written.map_or(renewed, |written| written.max(renewed))))
}
