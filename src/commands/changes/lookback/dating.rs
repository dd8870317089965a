//! Dates the versions of a look-back, and drops those that are too old.

use std::sync::Arc;

use jiff::Timestamp;

use super::SourcePast;
use super::source_past::{PastVersion, WriteTimes};
use super::walk::Walker;
use crate::commands::changes::doc_cache::DocCache;
use crate::source::Why;
use crate::watch::{Between, Dates, PastEvent, Revision, is_surely_before};

impl Walker {
    /// Completes events with their cause and time, and drops those that are too old.
    pub(super) async fn settle(
        &self,
        mut events: Vec<PastEvent>,
        known: &WriteTimes,
    ) -> Vec<PastVersion> {
        let why = self.history.mark_left_selector(&mut events);
        self.interrupt.unless_stopped(why).await;
        let mut docs = DocCache::default();
        let mut versions = Vec::with_capacity(events.len());
        for event in events {
            let mut version = PastVersion::new(event, known, &mut docs);
            if let (None, Some(at)) = (version.time(), version.event.at) {
                version.dated = self.date(at).await;
            }
            versions.push(version);
        }
        if let Some(since) = self.reach.time {
            leave_out(&mut versions, since);
        }
        versions
    }

    /// Dates the revisions from which versions are known.
    pub(super) async fn date_bounds(&self, found: &mut SourcePast) {
        for bound in [&mut found.from, &mut found.complete].into_iter().flatten() {
            let version =
                (found.versions.iter()).find(|version| version.event.at == Some(bound.at));
            bound.dated = match version {
                Some(version) => version.time().map(exactly).or(version.dated),
                None => self.date(bound.at).await,
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
/// with it.
fn leave_out(versions: &mut Vec<PastVersion>, since: Timestamp) {
    let is_old = |version: &PastVersion| match version.time() {
        Some(time) => time < since,
        None => (version.dated.and_then(|dated| dated.until))
            .is_some_and(|until| is_surely_before(until, since)),
    };
    let old = versions
        .iter()
        .take_while(|version| is_old(version))
        .count();
    let keep = old
        .checked_sub(1)
        .filter(|last| !versions[*last].event.is_end());
    versions.drain(..keep.unwrap_or(old));
    if keep.is_some()
        && let Some(bottom) = versions.first_mut()
    {
        bottom.event.why = Why::Listed;
        bottom.event.prev = None;
    }
}
