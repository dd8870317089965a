//! The search of a walk for an earlier lifetime, from a revision at which the object does not exist. It reads several
//! revisions side by side.

use std::sync::Arc;

use futures::future::join_all;

use super::cached_object::CachedObject;
use super::end::{End, ended};
use super::objects_at::ObjectAt;
use super::past_event::{Past, Presence};
use super::read::{PROBES, PastError};
use super::revision::Revision;
use super::walk::{Cache, Lives, Walk};
use crate::source::Version;

/// Where a lifetime ends: between a revision at which the object exists, and one at which it does not.
struct Bounds {
    present: Revision,
    last: Arc<Version>,
    absent: Revision,
}

impl Walk {
    /// Searches for the lifetime before. The object does not exist at the current revision.
    pub(super) async fn search(&mut self) -> Result<(), End> {
        if self.lives == Lives::Newest {
            return Err(End::Limit);
        }
        self.read_cache().await;
        if self.step_in_cache() {
            return Ok(());
        }
        let absent = self.in_watch_cache().await;
        let Bounds {
            mut present,
            mut last,
            mut absent,
        } = self.presence_before(absent).await?;
        // The newest known absence is near, so the search continues from there.
        loop {
            let between = Revision::between(present, absent, PROBES.into());
            if between.is_empty() {
                break;
            }
            for (at, read) in self.read_all(between).await {
                match read {
                    Ok(Some(version)) => {
                        (present, last) = (at, version);
                        break;
                    }
                    Ok(None) => absent = at,
                    Err(PastError::Forgotten) => return Err(End::Forgotten(absent)),
                    Err(other) => return Err(ended(other)),
                }
            }
        }
        self.found.push_back(Past::Deleted(absent));
        self.found.push_back(Past::Version(last.clone()));
        self.state = ObjectAt {
            at: present,
            there: Some(last),
        };
        Ok(())
    }

    /// Finds a revision at which the object exists, before one at which it does not.
    async fn presence_before(&mut self, mut absent: Revision) -> Result<Bounds, End> {
        let (mut forgotten, mut step) = (None, 1);
        loop {
            let probes = self.probes(absent, forgotten, &mut step)?;
            for (at, read) in self.read_all(probes).await {
                match read {
                    Ok(Some(last)) => {
                        let present = at;
                        return Ok(Bounds {
                            present,
                            last,
                            absent,
                        });
                    }
                    Ok(None) => absent = at,
                    Err(PastError::Forgotten) => {
                        forgotten = Some(at);
                        break;
                    }
                    Err(other) => return Err(ended(other)),
                }
            }
        }
    }

    /// The next revisions to probe, newest first. `step` is the distance of the first one.
    fn probes(
        &self,
        absent: Revision,
        forgotten: Option<Revision>,
        step: &mut u64,
    ) -> Result<Vec<Revision>, End> {
        let low = self.limits.floor;
        if let Some(forgotten) = forgotten {
            let between = Revision::between(forgotten, absent, PROBES.into());
            return Some(between)
                .filter(|between| !between.is_empty())
                .ok_or(End::Forgotten(absent));
        }
        if absent <= low {
            return Err(End::Limit);
        }
        if let Cache::Known(cached) = &self.cache
            && let Some(present) = cached.present(absent)
        {
            return Ok(vec![present.max(low)]);
        }
        let mut probes = vec![absent];
        while let Some(last) = probes.last().copied()
            && last > low
            && probes.len() as u64 <= u64::from(PROBES)
        {
            probes.push(last.back(*step).max(low));
            *step = step.saturating_mul(2);
        }
        probes.remove(0);
        Ok(probes)
    }

    /// The revision from which the object is absent, as far as the watch cache shows it.
    async fn in_watch_cache(&mut self) -> Revision {
        let (low, high) = (self.limits.floor, self.state.at);
        let Cache::Known(cached) = &self.cache else {
            return high;
        };
        let deleted = cached.deletion(high).map(|event| event.at);
        let (has_events, reaches) = (cached.has_events(), cached.reaches);
        match (deleted, reaches.filter(|reaches| *reaches < high)) {
            (Some(deleted), _) => deleted,
            (None, Some(reaches)) if has_events => reaches.max(low),
            (None, Some(reaches)) => {
                if let Ok(None) = self.read(reaches).await {
                    return reaches;
                }
                self.cache = Cache::Known(CachedObject::default());
                high
            }
            (None, None) => high,
        }
    }

    pub(super) async fn read(&mut self, at: Revision) -> Result<Presence, PastError> {
        let read = self.read_all(vec![at]).await.pop();
        read.map_or(Err(PastError::Spent), |(_, read)| read)
    }

    /// Reads the object at several revisions, side by side.
    async fn read_all(
        &mut self,
        at: Vec<Revision>,
    ) -> Vec<(Revision, Result<Presence, PastError>)> {
        let (archive, object) = (&self.archive, &self.object);
        let (floor, bottom) = (self.limits.floor, &self.bottom);
        let (limits, requests) = (&self.limits, &mut self.requests);
        let reads = at.into_iter().map(|at| {
            let known = bottom.clone().filter(|_| at <= floor);
            let may_ask = known.is_none() && limits.allow(*requests);
            *requests += u32::from(may_ask);
            async move {
                let read = match known {
                    Some(there) => Ok(there),
                    None if may_ask => archive.object(object, at).await,
                    None => Err(PastError::Spent),
                };
                (at, read)
            }
        });
        let mut reads = join_all(reads);
        if let Cache::Reading(reading) = &mut self.cache {
            tokio::select! {
                biased;
                read = &mut reads => return read,
                cached = reading => self.cache = Cache::Known(cached),
            }
        }
        reads.await
    }
}
