//! One source's look-back: how far it goes, what it finds, and when that was.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt, stream};
use jiff::Timestamp;
use tokio::sync::OnceCell;

use super::interrupt::Interrupt;
use super::reach::Reach;
use super::stop_rule::{Judge, wrote};
use super::{Found, PATIENCE, Start};
use crate::commands::changes::shown::Shown;
use crate::commands::sources::named;
use crate::object::{ObjectRef, ResourceVersion};
use crate::watch::{
    Between, Dates, End, History, Limits, Presence, Revision, SourceError, SourceKey, Told,
    Version, Walk, Why, in_order, is_surely_before,
};

/// How many objects are walked at once.
const AT_ONCE: usize = 4;

/// One source's look-back.
pub(in crate::commands::changes) struct Look {
    pub(in crate::commands::changes) history: History,
    pub(in crate::commands::changes) dates: Option<Arc<Dates>>,
    pub(in crate::commands::changes) reach: Reach,
    pub(in crate::commands::changes) shown: Arc<Shown>,
    /// What ends it before its end.
    pub(super) interrupt: Interrupt,
    /// Whether `dates` are of this source, once it is known.
    pub(in crate::commands::changes) is_dated: OnceCell<bool>,
    /// When revisions were written.
    pub(in crate::commands::changes) dated: Mutex<BTreeMap<Revision, Between>>,
}

/// What a walk found, the oldest first.
#[derive(Default)]
struct Walked {
    told: Vec<Told>,
    end: Option<End>,
    /// From which revision on no life can have been missed.
    sure: Option<Revision>,
}

impl Look {
    pub(in crate::commands::changes) async fn run(mut self, from: Start) -> Found {
        let mut found = Found::new(self.history.key().clone());
        let told = match from {
            Start::Version(version) => self.before(version, &mut found).await,
            Start::Listing(version) => self.from(&version, &mut found).await,
        };
        if let Err(end) = told {
            found.end = Some(end);
        }
        found.dated = std::mem::take(self.dated.get_mut().unwrap_or_else(PoisonError::into_inner));
        if self.interrupt.has_cut() {
            return found.cut();
        }
        found
    }

    async fn before(&self, version: Arc<Version>, found: &mut Found) -> Result<(), End> {
        let newest = Revision::parse(&version.version).ok_or_else(unversioned)?;
        // Its versions say when they were written: no revision need be looked for.
        let walk = self.history.before(&version, self.limits());
        let walk = (Some(version), walk.ok_or_else(unversioned)?);
        self.named(walk, newest, found).await;
        Ok(())
    }

    async fn from(&mut self, version: &ResourceVersion, found: &mut Found) -> Result<(), End> {
        let newest = Revision::parse(version).ok_or_else(unversioned)?;
        self.begin(newest).await;
        if named(self.history.key()).is_none() {
            return self.wide(newest, found).await;
        }
        let object = object_of(self.history.key());
        let walk = self
            .interrupt
            .in_time(self.history.at(&object, newest, self.limits()));
        let late = End::Failed(SourceError::Timeout { after: PATIENCE });
        let walk = walk.await.ok_or(late)??;
        self.named(walk, newest, found).await;
        Ok(())
    }

    /// Finds the revision at which the time of interest begins, if anything tells.
    async fn begin(&mut self, newest: Revision) {
        let Some(time) = self.reach.time else { return };
        let find = async { self.dates().await?.before(time, newest).await };
        if let Some(before) = self.interrupt.unless_stopped(find).await.flatten() {
            self.reach.revision = before;
            // From then on is what was asked for.
            let asked = Between {
                from: time,
                until: Some(time),
            };
            let known = self.dated.get_mut();
            known
                .unwrap_or_else(PoisonError::into_inner)
                .insert(before, asked);
        }
    }

    async fn named(&self, walk: (Presence, Walk), newest: Revision, found: &mut Found) {
        let walked = self.walk(walk, newest).await;
        let is_bounded = self.reach.revision > Limits::default().floor;
        found.from = match walked.end {
            Some(End::Forgotten(at)) => Some(at),
            Some(End::Limit) if is_bounded => Some(self.reach.revision),
            _ => {
                let oldest = walked.told.first().and_then(|told| told.at);
                oldest.or(walked.sure)
            }
        };
        found.complete = walked.sure.max(walked.sure.and(found.from));
        (found.told, found.end) = (walked.told, walked.end);
        self.date_ends(found, newest).await;
    }

    /// Compares then and now, and walks the objects that differ.
    async fn wide(&self, now: Revision, found: &mut Found) -> Result<(), End> {
        let floor = self.reach.revision;
        // What says when it was written is only needed where revisions do not.
        let since = self.reach.time.filter(|_| !self.is_bounded());
        let compare = self.history.compare(now, floor, since);
        let Some(compared) = self.interrupt.unless_stopped(compare).await else {
            return Ok(());
        };
        let compared = compared?;
        let limits = Limits {
            floor: compared.then,
            ..self.limits()
        };
        let walks = compared.changed.iter().map(|object| {
            let limits = limits.clone();
            async {
                match self
                    .interrupt
                    .unless_stopped(self.history.at(object, now, limits))
                    .await
                {
                    Some(walk) => Ok(self.walk(walk?, now).await),
                    None => Ok(Walked::default()),
                }
            }
        });
        let walks: Vec<_> = walks.collect();
        let mut walks = stream::iter(walks).buffered(AT_ONCE);
        let (mut then, mut failed) = (compared.then, None);
        while let Some(walked) = walks.next().await {
            let end = match walked {
                Ok(walked) => {
                    found.told.extend(walked.told);
                    walked.end
                }
                Err(end) => Some(end),
            };
            match end {
                // It forgets while it is read.
                Some(End::Forgotten(at)) => then = then.max(at),
                Some(end @ (End::NotOffered(_) | End::Failed(_))) => failed = Some(end),
                Some(End::Limit) | None => {}
            }
        }
        drop(walks);
        found.told.sort_by_key(|told| told.at);
        found.objects = Some(compared.count);
        found.from = Some(then);
        found.complete = compared.complete.map(|complete| complete.max(then));
        let is_forgotten = then > floor;
        found.end = failed.or(Some(if is_forgotten {
            End::Forgotten(then)
        } else {
            End::Limit
        }));
        self.date_ends(found, now).await;
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            floor: self.reach.revision,
            requests: self.reach.requests,
        }
    }

    fn is_bounded(&self) -> bool {
        self.reach.revision > Limits::default().floor
    }

    /// Walks back as far as is wanted.
    async fn walk(&self, (there, mut walk): (Presence, Walk), newest: Revision) -> Walked {
        // Where revisions tell what is too old, a version that does not say when it was written must
        // not end it.
        let since = self.reach.time.filter(|_| !self.is_bounded());
        let mut judge = Judge::new(there.clone(), since, (&self.shown, self.history.key()));
        let mut found = Vec::new();
        while judge.shown < self.reach.shown || judge.there.is_none() {
            match self.interrupt.in_time(walk.next()).await.flatten() {
                Some(past) if judge.is_wanted(&past) => found.push(past),
                Some(_) | None => break,
            }
        }
        let mut told = in_order(there, found);
        self.interrupt
            .unless_stopped(self.history.tell_why(&mut told))
            .await;
        let undated = told.iter().filter(|told| wrote(told).is_none());
        let undated: Vec<Revision> = undated.filter_map(|told| told.at).collect();
        for at in undated {
            self.date(at, newest).await;
        }
        if let Some(since) = self.reach.time {
            self.leave_out(&mut told, since);
        }
        Walked {
            told,
            end: walk.end().cloned(),
            sure: walk.sure(),
        }
    }

    /// Leaves out what was before `since`. The last version of that stays, untold: what follows is told
    /// against it.
    fn leave_out(&self, told: &mut Vec<Told>, since: Timestamp) {
        let dated = self.dated.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |told: &Told| {
            let until = || told.at.and_then(|at| dated.get(&at)?.until);
            match wrote(told) {
                Some(time) => time < since,
                None => until().is_some_and(|until| is_surely_before(until, since)),
            }
        };
        let old = told.iter().take_while(|told| is_old(told)).count();
        let keep = old.checked_sub(1).filter(|last| !told[*last].is_end());
        told.drain(..keep.unwrap_or(old));
        if keep.is_some()
            && let Some(bottom) = told.first_mut()
        {
            bottom.why = Why::Listed;
            bottom.prev = None;
        }
    }

    /// Finds out when the oldest of it was.
    async fn date_ends(&self, found: &Found, newest: Revision) {
        let is_told = |at: &Revision| found.told.iter().any(|told| told.at == Some(*at));
        let ends = found.from.into_iter().chain(found.complete);
        let ends: Vec<Revision> = ends.filter(|at| !is_told(at)).collect();
        for at in ends {
            self.date(at, newest).await;
        }
    }

    /// Finds out when a revision was written.
    async fn date(&self, at: Revision, newest: Revision) {
        if self.is_dated_at(at) {
            return;
        }
        let dating = async { Some((at, self.dates().await?.of(at, newest).await?)) };
        if let Some(dated) = self.interrupt.in_time(dating).await.flatten() {
            let known = self.dated.lock();
            known
                .unwrap_or_else(PoisonError::into_inner)
                .extend([dated]);
        }
    }

    fn is_dated_at(&self, at: Revision) -> bool {
        let known = self.dated.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains_key(&at)
    }

    /// What dates the revisions of this source.
    async fn dates(&self) -> Option<&Arc<Dates>> {
        let dates = self.dates.as_ref()?;
        let is_dated = self.is_dated.get_or_init(|| dates.covers(&self.history));
        is_dated.await.then_some(dates)
    }
}

fn unversioned() -> End {
    End::NotOffered("its resourceVersions are no revisions".into())
}

/// The one object that a source is about.
fn object_of(key: &SourceKey) -> ObjectRef {
    ObjectRef {
        api_version: key.resource.api_version().into(),
        kind: key.resource.kind.clone(),
        namespace: key.namespace().map(Into::into),
        name: named(key).unwrap_or_default().into(),
        uid: None,
    }
}
