//! Finds the time at which a revision was written. The server's storage has no times. But the components of a
//! control plane renew Leases in `kube-system` every few seconds, and a renewal contains its time, to the
//! microsecond (<https://kubernetes.io/docs/concepts/architecture/leases/>). A revision between two renewals was
//! written between their times.

mod renewals;
mod storages;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::History;
use super::read::{Archive, End, PROBES, PastError, ended};
use super::refusals::Refusals;
use super::replay::{LastEvent, Replay};
use super::request_limit::{RequestAllowance, RequestLimit};
use crate::object::Resource;
use crate::source::{ClusterId, Select, SourceKey};
use crate::watch::envelope::WatchVerb;
use crate::watch::revision::{Between, Revision, RevisionSpan};
use renewals::{Renewal, Renewals, renewal};
pub use storages::Storage;
use storages::{OF_LEASES, Storages, is_shared};

/// How much later than its own time a write may be stored: the time is set when the request is sent or received.
const LATENCY: SignedDuration = SignedDuration::from_secs(2);
/// A span of at most this length is precise enough.
const NEAR: SignedDuration = SignedDuration::from_secs(2);

/// How many revisions before another one the watch cache is read, so that a renewal is among them. A watch from further back
/// may be refused, because the cache does not reach so far.
const SHORTLY_BEFORE: u64 = 100;

/// A renewal this many revisions later is close: it costs less to divide the span than to search for a closer one.
const CLOSE: u64 = 1 << (2 * PROBES);

/// Whether a write with the time `written` was certainly stored before `time`. It keeps a margin: a write that a
/// window leaves out must not belong to it.
pub fn is_surely_before(written: Timestamp, time: Timestamp) -> bool {
    time.duration_since(written) > LATENCY
}

/// Finds the times of the revisions of a cluster's storage.
pub struct Dates {
    archive: Archive,
    renewals: Mutex<Renewals>,
    /// Set once the Leases were listed as they are now.
    listed: OnceCell<()>,
    /// Set once the renewals in the watch cache were read.
    recent: OnceCell<()>,
    /// The requests that it may make; `None` without such a limit.
    allowance: Option<RequestAllowance>,
    storages: Storages,
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
            archive: archive.retrying().in_one_page(),
            renewals: Mutex::default(),
            listed: OnceCell::new(),
            recent: OnceCell::new(),
            allowance: None,
            storages: Storages::default(),
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

    /// Shares these refusals.
    #[must_use]
    pub fn remembering(self, refusals: &Refusals) -> Dates {
        Dates {
            archive: self.archive.remembering(refusals),
            ..self
        }
    }

    /// Makes no more requests than these allow.
    #[must_use]
    pub fn within(self, allowance: &RequestAllowance) -> Dates {
        Dates {
            allowance: Some(allowance.clone()),
            ..self
        }
    }

    /// The storage of a source.
    pub async fn storage(&self, history: &History) -> Storage {
        let cell = self.storages.cell(&history.key().resource);
        let storage = async {
            let of_leases = async { self.newest().await.ok() };
            if !self.lock().hopeless && is_shared(history, of_leases).await {
                OF_LEASES
            } else {
                self.storages.other(history).await
            }
        };
        *cell.get_or_init(|| storage).await
    }

    /// A storage of which nothing is known.
    pub fn unknown_storage(&self) -> Storage {
        self.storages.new_storage()
    }

    /// Whether the Leases give the revisions of a source their times: both have the same storage.
    pub async fn covers(&self, history: &History) -> bool {
        self.storage(history).await == OF_LEASES
    }

    /// Reads the newest revision of the Leases. The first time, this lists them, so that their last renewal is known.
    async fn newest(&self) -> Result<Revision, PastError> {
        let mut listed = None;
        let list = async || listed = Some(self.list().await);
        self.listed.get_or_init(list).await;
        let read = match listed {
            Some(read) => read,
            None => self.archive.metadata().newest().await,
        };
        let mut renewals = self.lock();
        let newest = read.inspect_err(|unread| renewals.fail(unread))?;
        renewals.newest = Some(newest).max(renewals.newest);
        Ok(newest)
    }

    /// Lists the Leases, and notes the last renewal. Returns the newest revision.
    async fn list(&self) -> Result<Revision, PastError> {
        if !self.take_request() {
            return Err(PastError::Spent);
        }
        let (newest, leases) = self.archive.listing_now().await?;
        if let Some(last) = leases.iter().filter_map(renewal).reduce(Renewal::latest) {
            self.lock().note(last, newest);
        }
        Ok(newest)
    }

    /// The time of the last renewal; `None` if it is unknown. It is shortly before the server's time, whatever else
    /// the server says about that. This lists the Leases once.
    pub async fn last_renewal(&self) -> Option<Timestamp> {
        let (_, leases) = self.archive.listing_now().await.ok()?;
        let times = leases.iter().filter_map(renewal);
        times.map(|renewal| renewal.time).max()
    }

    /// When a revision was written; `None` if it is unknown.
    pub async fn of(&self, at: Revision) -> Option<Between> {
        if !self.lock().are_around(at) {
            self.recent.get_or_init(|| self.read_recent(at)).await;
        }
        let from = self.renewal(at).await.ok()??.time;
        let until = self.after(at, from).await;
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

    /// The newest known revision that is certainly older than `time`, and its time; `None` if the server has forgotten it. A
    /// renewal has this revision, so it is some seconds older. `recorded` is a revision that a record has of a time before; the
    /// newer one of both counts.
    ///
    /// # Errors
    /// If the Leases cannot be read.
    pub async fn snapshot_before(
        &self,
        time: Timestamp,
        recorded: Option<Revision>,
    ) -> Result<Option<(Revision, Timestamp)>, End> {
        let newest = self.newest().await.map_err(ended)?;
        // A backup may have been restored since then.
        let recorded = recorded.filter(|recorded| *recorded <= newest);
        let Some(before) = self.before(time, newest).await else {
            return Ok(None);
        };
        // The watch cache may have it although the storage does not.
        match self.read(before).await {
            Ok(renewal) => Ok(renewal.map(|renewal| {
                let at = recorded.map_or(before, |recorded| recorded.max(before));
                (at, renewal.time)
            })),
            Err(PastError::Forgotten) => Ok(None),
            Err(other) => Err(ended(other)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Renewals> {
        self.renewals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the renewals that the watch cache has from shortly before `at`. Most revisions of the last minute need no other
    /// request.
    async fn read_recent(&self, at: Revision) {
        if self.listed.get().is_none() && self.newest().await.is_err() {
            return;
        }
        let known = self.lock().newest_renewal();
        let Some(last) = known else {
            return;
        };
        if !self.take_request() {
            return;
        }
        let span = RevisionSpan {
            after: at.back(SHORTLY_BEFORE).min(last.at),
            upto: last.at,
        };
        let replay = Replay::read(&self.archive, span, LastEvent::At(last.at)).await;
        if let Some(replay) = replay {
            // A deleted Lease is not renewed.
            let events = replay.events.iter();
            let events = events.filter(|event| event.verb != WatchVerb::Deleted);
            let recent: Vec<Renewal> = events.filter_map(|it| renewal(&it.version)).collect();
            self.lock().note_all(replay.reaches, &recent);
        }
    }

    /// Counts one more request. Returns whether it may be made.
    fn take_request(&self) -> bool {
        let is_allowed = self.allowance.as_ref().is_none_or(|it| it.take(1));
        self.lock().requests += u32::from(is_allowed);
        is_allowed
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
        if !self.take_request() {
            return Err(PastError::Spent);
        }
        let asked = Instant::now();
        let leases = self.archive.listing(at).await;
        let mut renewals = self.lock();
        // The requests of a search run side by side.
        renewals.waited += asked.elapsed() / PROBES;
        let leases = leases.inspect_err(|unread| renewals.fail(unread))?;
        let newest = leases.iter().filter_map(|lease| renewal(lease));
        let newest = newest.reduce(Renewal::latest);
        if let Some(newest) = newest {
            renewals.note(newest, at);
        }
        Ok(newest)
    }

    /// Divides the span until the revision is found. [`Dates::before`] caches the result.
    async fn search(&self, time: Timestamp, newest: Revision) -> Option<Revision> {
        let (mut low, mut high, mut before) = (Revision::FIRST, newest.next(), None);
        loop {
            let between = Revision::between(low, high, PROBES.into());
            if between.is_empty() {
                return before;
            }
            for (at, read) in self.renewals(between).await {
                match read {
                    Ok(Some(found)) if !is_surely_before(found.time, time) => {
                        high = high.min(found.at);
                    }
                    Ok(found) => {
                        before = found.map(|found| found.at).or(before);
                        low = at;
                        break;
                    }
                    Err(PastError::Forgotten) => {
                        low = at;
                        break;
                    }
                    Err(_) => return before,
                }
            }
        }
    }

    /// The newest renewal at or before each of these revisions, read side by side.
    async fn renewals(
        &self,
        at: Vec<Revision>,
    ) -> Vec<(Revision, Result<Option<Renewal>, PastError>)> {
        let reads = at
            .into_iter()
            .map(|at| async move { (at, self.renewal(at).await) });
        join_all(reads).await
    }

    /// The time of the first renewal after a revision. A renewal near `from` is good enough.
    async fn after(&self, at: Revision, from: Timestamp) -> Option<Timestamp> {
        let (mut low, known) = self.lock().after(at);
        let mut next = match known {
            Some(known) if known.at.since(low) <= CLOSE => known,
            known => self.first_after(at, &mut low).await.or(known)?,
        };
        while next.time.duration_since(from) > NEAR {
            let between = Revision::between(low, next.at, PROBES.into());
            if between.is_empty() {
                break;
            }
            for (probe, read) in self.renewals(between).await {
                match read {
                    Ok(Some(earlier)) if earlier.at > at => next = earlier,
                    Ok(_) => {
                        low = low.max(probe);
                        break;
                    }
                    Err(_) => return Some(next.time),
                }
            }
        }
        Some(next.time)
    }

    /// A renewal after a revision. Up to `low` there is none.
    async fn first_after(&self, at: Revision, low: &mut Revision) -> Option<Renewal> {
        let read = self.lock().newest;
        let newest = match read {
            Some(newest) => newest,
            None => self.newest().await.ok()?,
        };
        let mut step = 1;
        while *low < newest {
            let mut probes = Vec::new();
            let mut probe = *low;
            while probe < newest && (probes.len() as u64) < u64::from(PROBES) {
                probe = probe.forth(step).min(newest);
                step = step.saturating_mul(4);
                probes.push(probe);
            }
            for (probe, read) in self.renewals(probes).await {
                match read.ok()? {
                    Some(found) if found.at > at => return Some(found),
                    Some(_) | None => *low = probe,
                }
            }
        }
        None
    }
}
