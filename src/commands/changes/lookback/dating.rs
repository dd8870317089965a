//! Dates the versions of a look-back, and drops those that are too old.

use std::sync::Arc;

use jiff::Timestamp;

use super::SourcePast;
use super::reach::Reach;
use super::source_past::{PastVersion, WriteTimes};
use super::walk::Walker;
use crate::commands::changes::doc_cache::DocCache;
use crate::source::Why;
use crate::watch::{Between, Dates, End, PastEvent, Revision, Storage, is_surely_before};

impl Walker {
    /// Completes events with their cause and time, and drops those that are too old. Returns the rest, and the revision
    /// of the newest one that it dropped.
    pub(super) async fn settle(
        &self,
        mut events: Vec<PastEvent>,
        known: &WriteTimes,
    ) -> (Vec<PastVersion>, Option<Revision>) {
        let why = self.history.tell_matching(&mut events);
        self.interrupt.unless_stopped(why).await;
        let mut docs = DocCache::default();
        let mut versions = Vec::with_capacity(events.len());
        for event in events {
            let mut version = PastVersion::new(event, known, &mut docs);
            if let (None, Some(at), true) = (version.time(), version.event.at, version.is_change())
            {
                version.dated = self.date(at).await;
            }
            versions.push(version);
        }
        let since = self.reach.time;
        let left_out = since.and_then(|since| leave_out(&mut versions, since));
        (versions, left_out)
    }

    /// Dates the revisions from which versions are known. They are not older than the versions that were left out.
    pub(super) async fn date_bounds(&self, found: &mut SourcePast, left_out: Option<Revision>) {
        for bound in [&mut found.from, &mut found.complete].into_iter().flatten() {
            if let Some(left_out) = left_out.filter(|left_out| *left_out >= bound.at) {
                // What was left out is older than the window.
                (bound.at, bound.dated) = (left_out, self.reach.time.map(exactly));
                continue;
            }
            let version =
                (found.versions.iter()).find(|version| version.event.at == Some(bound.at));
            // The default look-back spends its second on versions. Their times suffice, unless the server has no more.
            let is_dated = !self.reach.brief || matches!(found.end, Some(End::Forgotten(_)));
            bound.dated = match version {
                Some(version) if version.is_change() => {
                    version.time().map(exactly).or(version.dated)
                }
                Some(_) if !is_dated => None,
                Some(_) | None => self.date(bound.at).await,
            };
        }
    }

    /// When a revision was written; `None` if unknown.
    async fn date(&self, at: Revision) -> Option<Between> {
        if let Some(since) = self
            .reach
            .time
            .filter(|_| self.is_bounded() && at == self.reach.revision)
        {
            return Some(exactly(since));
        }
        let dating = async { self.dates().await?.of(at).await };
        self.interrupt.in_time(dating).await.flatten()
    }

    /// The same reach in the storage of this source. The revision of a run over several storages is one of the storage
    /// with the Leases, if that is one of them. In the others its time counts; if that is unknown, so is its place.
    pub(super) async fn elsewhere(&self) -> Reach {
        let revision = self.reach.revision;
        let Some(dates) = self.dates.as_ref() else {
            return self.reach;
        };
        if !self.is_one_of_many() || !self.is_bounded() || dates.covers(&self.history).await {
            return self.reach;
        }
        for other in self.run.iter() {
            if dates.covers(other).await {
                let written = dates.of(revision).await;
                return self.reach.since(written.map(|written| written.from));
            }
        }
        self.reach
    }

    fn is_one_of_many(&self) -> bool {
        self.run.len() > 1
    }

    /// The storage of this source. Sources of one resource share it.
    pub(super) async fn storage(&self) -> Storage {
        let Some(dates) = self.dates.as_ref().filter(|_| self.is_one_of_many()) else {
            return Storage::default();
        };
        let storage = self.interrupt.in_time(dates.storage(&self.history)).await;
        storage.unwrap_or_else(|| dates.unknown_storage())
    }

    /// The Lease times that date this source's revisions; `None` if they do not apply to it.
    pub(super) async fn dates(&self) -> Option<&Arc<Dates>> {
        let dates = self.dates.as_ref()?;
        let is_dated = self.is_dated.get_or_init(|| dates.covers(&self.history));
        is_dated.await.then_some(dates)
    }
}

fn exactly(time: Timestamp) -> Between {
    Between {
        from: time,
        until: Some(time),
    }
}

/// Drops versions from before `since`. The last of them stays as a listed state, because the next version is compared
/// with it. What is older than a version from before `since` is so, too. Returns the revision of the newest one.
fn leave_out(versions: &mut Vec<PastVersion>, since: Timestamp) -> Option<Revision> {
    let is_old = |version: &PastVersion| match version.time() {
        Some(time) => time < since,
        None => (version.dated.and_then(|dated| dated.until))
            .is_some_and(|until| is_surely_before(until, since)),
    };
    let newest = versions.iter().rposition(is_old)?;
    let left_out = versions[newest].event.at;
    if versions[newest].event.is_end() {
        versions.drain(..=newest);
    } else {
        versions.drain(..newest);
        versions[0].event.why = Why::Listed;
        versions[0].event.prev = None;
    }
    left_out
}
