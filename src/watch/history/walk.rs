//! The walk: reads the versions of one object, newest first.
//!
//! An object at revision R names the revision of its last change. The version before that is the object at that
//! revision minus one: one request per version. The events of the watch cache replace these requests, as far as
//! they reach, even for revisions that the server has compacted.
//!
//! A deletion leaves no version. Where the object does not exist, the walk probes older revisions in growing
//! steps. Once it finds the object, it divides the span to find the deletion. It can miss a lifetime that is
//! shorter than a step, unless the watch cache covers it, which has every event.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};

use super::past_event::{ObjectAt, Past, Presence};
use super::read::{Archive, End, PROBES, PastError, ended};
use super::replay::CachedObject;
use super::request_limit::RequestAllowance;
use crate::object::ObjectRef;
use crate::source::Version;
use crate::watch::revision::Revision;

/// How far back a walk goes.
#[derive(Clone, Debug)]
pub struct WalkLimits {
    /// The oldest revision of interest. The walk ends with the version at that revision.
    pub floor: Revision,
    /// The most requests of a walk.
    pub requests: u32,
    /// The requests that it shares with other walks; `None` without such a limit.
    pub shared: Option<RequestAllowance>,
}

impl WalkLimits {
    /// Takes one more request, after `made` of them. Returns whether the walk may make it.
    pub(super) fn allow(&self, made: u32) -> bool {
        made < self.requests && self.shared.as_ref().is_none_or(|shared| shared.take(1))
    }
}

impl Default for WalkLimits {
    fn default() -> WalkLimits {
        WalkLimits {
            floor: Revision::FIRST,
            requests: u32::MAX,
            shared: None,
        }
    }
}

/// A walk in progress.
pub struct Walk {
    pub(super) archive: Archive,
    /// The object of the walk.
    pub object: ObjectRef,
    pub(super) limits: WalkLimits,
    /// The object at the floor, if it is known.
    pub(super) bottom: Option<Presence>,
    /// The state that is known, and has been returned.
    pub(super) state: ObjectAt,
    pub(super) found: VecDeque<Past>,
    end: Option<End>,
    /// How many requests the walk has made.
    pub requests: u32,
    pub(super) cache: WalkCache,
    pub(super) lives: Lives,
    /// Whether the object did not exist at some time.
    was_absent: bool,
}

pub(super) enum WalkCache {
    Unread,
    /// It is read beside the other requests.
    Reading(BoxFuture<'static, CachedObject>),
    Known(CachedObject),
}

/// Which lifetimes of a name a walk looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lives {
    Every,
    /// The walk ends where the first lifetime that it meets begins.
    Newest,
}

impl Walk {
    pub(in crate::watch) fn new(
        archive: &Archive,
        object: &ObjectRef,
        state: ObjectAt,
        limits: WalkLimits,
    ) -> Walk {
        Walk {
            archive: archive.alone(object),
            object: object.clone(),
            limits,
            bottom: None,
            was_absent: state.there.is_none(),
            state,
            found: VecDeque::new(),
            end: None,
            requests: 0,
            cache: WalkCache::Unread,
            lives: Lives::Every,
        }
    }

    /// Reads the watch cache from the start, beside the first versions. Otherwise the walk reads it when no exact
    /// revision leads further.
    #[must_use]
    pub fn beside_watch_cache(mut self) -> Walk {
        self.begin_cache();
        self
    }

    /// Reads the watch cache first. It may have everything, in two requests.
    pub async fn after_watch_cache(mut self) -> Walk {
        self.read_cache().await;
        self
    }

    /// Does not use the watch cache: the caller has read it, or has no time for it.
    #[must_use]
    pub fn without_watch_cache(self) -> Walk {
        Walk {
            cache: WalkCache::Known(CachedObject::default()),
            ..self
        }
    }

    /// Makes no more requests than this.
    #[must_use]
    pub fn at_most(mut self, requests: u32) -> Walk {
        self.limits.requests = self.limits.requests.min(requests);
        self
    }

    /// For an object that did not exist at the floor. The walk ends at the object's creation, and does not search
    /// for an earlier lifetime of the name.
    pub(super) fn until_created(self) -> Walk {
        Walk {
            lives: Lives::Newest,
            ..self.without_watch_cache()
        }
    }

    /// For a caller that knows the object at the floor, and revisions at which it exists. It does not use the
    /// watch cache, which did not reach far enough.
    pub(in crate::watch) fn down_to(self, bottom: Presence, present: BTreeSet<Revision>) -> Walk {
        Walk {
            bottom: Some(bottom),
            cache: WalkCache::Known(CachedObject::known(present)),
            ..self
        }
    }

    /// The next finding, further back; `None` at the end.
    pub async fn next(&mut self) -> Option<Past> {
        while self.found.is_empty() && self.end.is_none() {
            if self.step_in_cache() {
                continue;
            }
            let step = match self.state.there.clone() {
                Some(version) => self.before(&version).await,
                None => self.search().await,
            };
            let Err(end) = step else { continue };
            if !matches!(end, End::Limit | End::Spent) {
                self.read_cache().await;
                if self.step_in_cache() {
                    continue;
                }
            }
            self.close(end);
        }
        self.found.pop_front()
    }

    /// Why the walk ended; `None` while it may continue.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref().filter(|_| self.found.is_empty())
    }

    /// The revision from which no lifetime can be missing; `None` if it is unknown. If the object existed all the
    /// time, no lifetime can be missing.
    pub fn sure(&self) -> Option<Revision> {
        match &self.cache {
            _ if !self.was_absent => Some(Revision::FIRST),
            WalkCache::Known(cached) => cached.reaches,
            WalkCache::Unread | WalkCache::Reading(_) => None,
        }
    }

    /// Continues with an event of the watch cache, if it is read and leads further. This makes no request.
    fn step_in_cache(&mut self) -> bool {
        if let WalkCache::Reading(reading) = &mut self.cache
            && let Some(cached) = reading.now_or_never()
        {
            self.cache = WalkCache::Known(cached);
        }
        let WalkCache::Known(cached) = &self.cache else {
            return false;
        };
        let Some((found, state)) = cached.before(&self.state) else {
            return false;
        };
        self.was_absent |= state.there.is_none();
        self.found.extend(found);
        self.state = state;
        true
    }

    /// Continues with the version before this one, or finds the creation.
    async fn before(&mut self, version: &Arc<Version>) -> Result<(), End> {
        let own = revision(version)?;
        if own <= self.limits.floor {
            return Err(End::Limit);
        }
        let at = own.back(1);
        let there = match self.read(at).await {
            Ok(before) => before,
            Err(PastError::Forgotten) => return Err(End::Forgotten(own)),
            Err(other) => return Err(ended(other)),
        };
        match &there {
            // One write cannot replace an object by another. If it looks so, the old object was deleted at this
            // revision.
            Some(other) if other.object.uid != version.object.uid => {
                self.found.push_back(Past::Created);
                self.found.push_back(Past::Deleted(own));
                self.found.push_back(Past::Version(other.clone()));
            }
            Some(same) => self.found.push_back(Past::Version(same.clone())),
            None => self.found.push_back(Past::Created),
        }
        self.was_absent |= there.is_none();
        self.state = ObjectAt { at, there };
        Ok(())
    }

    /// Reads the watch cache to its end, once.
    async fn read_cache(&mut self) {
        self.begin_cache();
        if let WalkCache::Reading(reading) = &mut self.cache {
            self.cache = WalkCache::Known(reading.await);
        }
    }

    fn begin_cache(&mut self) {
        let is_over = |own| own <= self.limits.floor;
        let own = self.state.there.as_deref().map(revision);
        if matches!(self.cache, WalkCache::Unread) && !own.is_some_and(|own| own.is_ok_and(is_over))
        {
            if !self.limits.allow(self.requests) {
                self.cache = WalkCache::Known(CachedObject::default());
                return;
            }
            self.requests += 2;
            let (archive, state) = (self.archive.clone(), self.state.clone());
            let read = CachedObject::read(archive, state, self.limits.floor);
            self.cache = WalkCache::Reading(read.boxed());
        }
    }

    /// Ends the walk. The last state of a deleted object is all that is left if its last version cannot be read.
    fn close(&mut self, end: End) {
        if let WalkCache::Known(cached) = &self.cache
            && end != End::Limit
        {
            self.found
                .extend(cached.last_state(&self.state).into_iter().flatten());
        }
        self.end = Some(end);
    }

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
        if let WalkCache::Known(cached) = &self.cache
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
        let WalkCache::Known(cached) = &self.cache else {
            return high;
        };
        let deleted = cached.deletion(high).map(|event| event.at);
        let (has_events, reaches) = (cached.has_events(), cached.reaches);
        match (deleted, reaches.filter(|reaches| *reaches < high)) {
            (Some(deleted), _) => deleted,
            (None, Some(reaches)) if has_events => reaches.max(low),
            (None, Some(reaches)) => {
                // What is compacted there proves nothing against the watch cache, which often reaches further back.
                if let Ok(None) | Err(PastError::Forgotten) = self.read(reaches).await {
                    return reaches;
                }
                self.cache = WalkCache::Known(CachedObject::default());
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
        if let WalkCache::Reading(reading) = &mut self.cache {
            tokio::select! {
                biased;
                read = &mut reads => return read,
                cached = reading => self.cache = WalkCache::Known(cached),
            }
        }
        reads.await
    }
}

fn revision(version: &Version) -> Result<Revision, End> {
    let cause = || End::NotOffered("its resourceVersions are not numbers".into());
    Revision::parse(&version.version).ok_or_else(cause)
}

/// Where a lifetime ends: between a revision at which the object exists, and one at which it does not.
struct Bounds {
    present: Revision,
    last: Arc<Version>,
    absent: Revision,
}
