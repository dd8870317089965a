//! The walk: reads the versions of one object, newest first, with one request per version.
//!
//! An object at revision R names the revision of its last change. The version before that is the object at that
//! revision minus one. A deletion leaves no version. Where the object does not exist, the walk probes older
//! revisions in growing steps. Once it finds the object, it halves the span to find the deletion. It can miss a
//! lifetime that is shorter than a step, unless the watch cache covers it, which has every event.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::end::{End, ended};
use super::lifetimes::Lifetimes;
use super::objects_at::ObjectAt;
use super::past_event::{Past, Presence};
use super::read::{Archive, PastError};
use super::revision::{Revision, RevisionSpan};
use crate::object::ObjectRef;
use crate::source::Version;

/// How far back a walk goes.
#[derive(Clone, Debug)]
pub struct WalkLimits {
    /// The oldest revision of interest. The walk ends with the version at that revision.
    pub floor: Revision,
    /// The most requests of a walk.
    pub requests: u32,
}

impl Default for WalkLimits {
    fn default() -> WalkLimits {
        WalkLimits {
            floor: Revision::FIRST,
            requests: u32::MAX,
        }
    }
}

/// A walk in progress.
pub struct Walk {
    archive: Archive,
    object: ObjectRef,
    limits: WalkLimits,
    /// The object at the floor, if it is known.
    bottom: Option<Presence>,
    /// The state at this revision is known, and has been returned.
    at: Revision,
    there: Presence,
    found: VecDeque<Past>,
    end: Option<End>,
    /// How many requests the walk has made.
    pub(super) requests: u32,
    lifetimes: Option<Lifetimes>,
    lives: Lives,
}

/// Which lifetimes of a name a walk looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lives {
    Every,
    /// The walk ends where the first lifetime that it meets begins.
    Newest,
}

impl Walk {
    /// A walk that starts before `there`. Without an object it starts before the revision `at`.
    pub(in crate::watch) fn new(
        archive: &Archive,
        object: &ObjectRef,
        start: ObjectAt,
        limits: WalkLimits,
    ) -> Walk {
        let ObjectAt { at, there } = start;
        Walk {
            archive: archive.alone(object),
            object: object.clone(),
            limits,
            bottom: None,
            at,
            there,
            found: VecDeque::new(),
            end: None,
            requests: 0,
            lifetimes: None,
            lives: Lives::Every,
        }
    }

    /// Does not use the watch cache, because the caller has read it.
    pub(super) fn without_watch_cache(self) -> Walk {
        Walk {
            lifetimes: Some(Lifetimes::default()),
            ..self
        }
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
            lifetimes: Some(Lifetimes::known(present)),
            ..self
        }
    }

    /// The next finding, further back; `None` at the end.
    pub async fn next(&mut self) -> Option<Past> {
        while self.found.is_empty() && self.end.is_none() {
            let step = match self.there.clone() {
                Some(version) => self.before(&version).await,
                None => self.search().await,
            };
            if let Err(end) = step {
                self.end = Some(end);
            }
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
        match &self.lifetimes {
            None => Some(Revision::FIRST),
            Some(lifetimes) => lifetimes.reaches,
        }
    }

    /// The object of the walk.
    pub fn object(&self) -> &ObjectRef {
        &self.object
    }

    /// Continues with the version before this one, or finds the creation.
    async fn before(&mut self, version: &Arc<Version>) -> Result<(), End> {
        let own = revision(version)?;
        if own <= self.limits.floor {
            return Err(End::Limit);
        }
        let at = own.back(1);
        let before = match self.read(at).await {
            Ok(before) => before,
            Err(PastError::Forgotten) => return Err(End::Forgotten(own)),
            Err(other) => return Err(ended(other)),
        };
        match &before {
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
        self.at = at;
        self.there = before;
        Ok(())
    }

    /// Searches for the lifetime before. The object does not exist at the current revision.
    async fn search(&mut self) -> Result<(), End> {
        if self.lives == Lives::Newest {
            return Err(End::Limit);
        }
        let mut absent = self.in_watch_cache().await;
        let mut forgotten: Option<Revision> = None;
        let mut step: u64 = 1;
        let (mut present, mut last) = loop {
            let low = forgotten.unwrap_or(self.limits.floor);
            let probe = match forgotten {
                None if absent <= low => return Err(End::Limit),
                None => self.known_before(absent, step).max(low),
                Some(low) => Revision::between(low, absent).ok_or(End::Forgotten(absent))?,
            };
            match self.read(probe).await {
                Ok(Some(version)) => break (probe, version),
                Ok(None) => absent = probe,
                Err(PastError::Forgotten) => forgotten = Some(probe),
                Err(other) => return Err(ended(other)),
            }
            step = step.saturating_mul(2);
        };
        // The newest known absence is near, so halving starts from there.
        while let Some(middle) = Revision::between(present, absent) {
            match self.read(middle).await {
                Ok(Some(version)) => (present, last) = (middle, version),
                Ok(None) => absent = middle,
                Err(PastError::Forgotten) => return Err(End::Forgotten(absent)),
                Err(other) => return Err(ended(other)),
            }
        }
        self.found.push_back(Past::Deleted(absent));
        self.found.push_back(Past::Version(last.clone()));
        self.at = present;
        self.there = Some(last);
        Ok(())
    }

    /// The next revision to probe.
    fn known_before(&self, absent: Revision, step: u64) -> Revision {
        let lifetimes = self.lifetimes.as_ref();
        let known = lifetimes.and_then(|lifetimes| lifetimes.present(absent));
        known.unwrap_or_else(|| absent.back(step))
    }

    /// The revision from which the object is absent, as far as the watch cache shows it.
    async fn in_watch_cache(&mut self) -> Revision {
        let (low, high) = (self.limits.floor, self.at);
        if self.lifetimes.is_none() {
            // The object was absent at some time, even if the read fails. So `sure` must not return the first
            // revision.
            self.lifetimes = Some(Lifetimes::default());
            self.requests += 2;
            let span = RevisionSpan {
                after: low,
                upto: high,
            };
            self.lifetimes = Some(Lifetimes::read(&self.archive, span).await);
        }
        let known = self.lifetimes.as_ref();
        match known.map(|known| (known.deletion(high), known.reaches)) {
            Some((Some(deleted), _)) => return deleted,
            Some((None, Some(reaches))) if reaches < high => {
                // A silent cache is no proof: events may still be on their way.
                if let Ok(None) = self.read(reaches).await {
                    return reaches;
                }
                self.lifetimes = Some(Lifetimes::default());
            }
            _ => {}
        }
        high
    }

    async fn read(&mut self, at: Revision) -> Result<Presence, PastError> {
        if at <= self.limits.floor
            && let Some(bottom) = &self.bottom
        {
            return Ok(bottom.clone());
        }
        if self.requests >= self.limits.requests {
            return Err(PastError::Spent);
        }
        self.requests += 1;
        self.archive.object(&self.object, at).await
    }
}

fn revision(version: &Version) -> Result<Revision, End> {
    let cause = || End::NotOffered("its resourceVersions are not numbers".into());
    Revision::parse(&version.version).ok_or_else(cause)
}
