//! The walk: one object's versions, newest first, one request a version.
//!
//! An object at revision R says itself at which revision it was last changed; the version before that is
//! the object at that revision less one. A deletion has no version: where the object is absent, presence
//! is looked for in growing steps, and the revision at which it went by halving. A life that is shorter
//! than such a step can be missed, unless the watch cache reaches it: that has every event.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::end::{End, ended};
use super::lifetimes::Lifetimes;
use super::objects_at::ObjectAt;
use super::past_event::{Past, Presence};
use super::read::{Archive, Unread};
use super::revision::{Revision, RevisionSpan};
use crate::object::ObjectRef;
use crate::source::Version;

/// How far back a walk goes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The oldest revision that is of interest. The version that was there then is the last one told.
    pub floor: Revision,
    /// How many requests are made at most.
    pub requests: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            floor: Revision::FIRST,
            requests: u32::MAX,
        }
    }
}

/// A walk under way.
pub struct Walk {
    archive: Archive,
    object: ObjectRef,
    limits: Limits,
    /// What was there at the floor, if it is known.
    bottom: Option<Presence>,
    /// The state at this revision is known, and told.
    at: Revision,
    there: Presence,
    found: VecDeque<Past>,
    end: Option<End>,
    requests: u32,
    lifetimes: Option<Lifetimes>,
    lives: Lives,
}

/// Which lives of a name a walk looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lives {
    Every,
    /// It ends where the one that it meets first begins.
    Newest,
}

impl Walk {
    /// A walk that starts before `there`, or before the revision `at` where there was nothing.
    pub(in crate::watch) fn new(
        archive: &Archive,
        object: &ObjectRef,
        start: ObjectAt,
        limits: Limits,
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

    /// The same, but it does not ask the watch cache: that has been read.
    pub(super) fn without_watch_cache(self) -> Walk {
        Walk {
            lifetimes: Some(Lifetimes::default()),
            ..self
        }
    }

    /// The same for an object that did not exist at the floor: it ends where the object was created, without a
    /// search for an earlier life of the name.
    pub(super) fn until_created(self) -> Walk {
        Walk {
            lives: Lives::Newest,
            ..self.without_watch_cache()
        }
    }

    /// The same, knowing what was there at the floor, and at which revisions there was something. The
    /// watch cache is not asked: it has proved too short.
    pub(in crate::watch) fn down_to(self, bottom: Presence, present: BTreeSet<Revision>) -> Walk {
        Walk {
            bottom: Some(bottom),
            lifetimes: Some(Lifetimes::known(present)),
            ..self
        }
    }

    /// The next thing further back; `None` at the end.
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

    /// Why there is nothing more; `None` while there may be.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref().filter(|_| self.found.is_empty())
    }

    /// From which revision on no life can have been missed; `None` if that is not known. Of an object
    /// that was there all the time none can.
    pub fn sure(&self) -> Option<Revision> {
        match &self.lifetimes {
            None => Some(Revision::FIRST),
            Some(lifetimes) => lifetimes.reaches,
        }
    }

    /// Which object it is of.
    pub fn object(&self) -> &ObjectRef {
        &self.object
    }

    /// How many requests were made.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// Goes on with the version before one, or finds that there was none.
    async fn before(&mut self, version: &Arc<Version>) -> Result<(), End> {
        let own = revision(version)?;
        if own <= self.limits.floor {
            return Err(End::Limit);
        }
        let at = own.back(1);
        let before = match self.read(at).await {
            Ok(before) => before,
            Err(Unread::Forgotten) => return Err(End::Forgotten(own)),
            Err(other) => return Err(ended(other)),
        };
        match &before {
            // Nothing replaces an object in one write; should it have, it went then.
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

    /// Looks for the life before: absent now, present earlier.
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
                Err(Unread::Forgotten) => forgotten = Some(probe),
                Err(other) => return Err(ended(other)),
            }
            step = step.saturating_mul(2);
        };
        // What was last known to be absent is near; halve from there.
        while let Some(middle) = Revision::between(present, absent) {
            match self.read(middle).await {
                Ok(Some(version)) => (present, last) = (middle, version),
                Ok(None) => absent = middle,
                Err(Unread::Forgotten) => return Err(End::Forgotten(absent)),
                Err(other) => return Err(ended(other)),
            }
        }
        self.found.push_back(Past::Deleted(absent));
        self.found.push_back(Past::Version(last.clone()));
        self.at = present;
        self.there = Some(last);
        Ok(())
    }

    /// Where it may have been before.
    fn known_before(&self, absent: Revision, step: u64) -> Revision {
        let lifetimes = self.lifetimes.as_ref();
        let known = lifetimes.and_then(|lifetimes| lifetimes.present(absent));
        known.unwrap_or_else(|| absent.back(step))
    }

    /// Since when it is absent, as far as the watch cache tells.
    async fn in_watch_cache(&mut self) -> Revision {
        let (low, high) = (self.limits.floor, self.at);
        if self.lifetimes.is_none() {
            // Whatever becomes of the reading, it was not there all the time.
            self.lifetimes = Some(Lifetimes::default());
            self.requests += 2;
            let span = RevisionSpan {
                after: low,
                upto: high,
            };
            self.lifetimes = Some(Lifetimes::read(&self.archive, span).await);
        }
        let told = self.lifetimes.as_ref();
        match told.map(|told| (told.deletion(high), told.reaches)) {
            Some((Some(deleted), _)) => return deleted,
            Some((None, Some(reaches))) if reaches < high => {
                // That the cache is silent is no proof: events may be on their way.
                if let Ok(None) = self.read(reaches).await {
                    return reaches;
                }
                self.lifetimes = Some(Lifetimes::default());
            }
            _ => {}
        }
        high
    }

    async fn read(&mut self, at: Revision) -> Result<Presence, Unread> {
        if at <= self.limits.floor
            && let Some(bottom) = &self.bottom
        {
            return Ok(bottom.clone());
        }
        if self.requests >= self.limits.requests {
            return Err(Unread::Spent);
        }
        self.requests += 1;
        self.archive.object(&self.object, at).await
    }
}

fn revision(version: &Version) -> Result<Revision, End> {
    let cause = || End::NotOffered("its resourceVersions are no revisions".into());
    Revision::parse(&version.version).ok_or_else(cause)
}
