//! One source's look-back: how far it goes, what it finds, and when that was.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt, stream};
use tokio::sync::OnceCell;

use super::interrupt::Interrupt;
use super::progress::Progress;
use super::reach::Reach;
use super::stop_rule::Judge;
use super::{Found, PATIENCE, Start};
use crate::commands::changes::shown::Shown;
use crate::commands::sources::named;
use crate::object::{ObjectRef, ResourceVersion};
use crate::watch::{
    Between, Changed, Dates, End, History, Limits, Missing, ObjectsAt, PastEvent, Presence,
    Revision, SourceError, SourceKey, Version, Walk, in_order,
};

/// How many objects are walked at once.
const AT_ONCE: usize = 8;

/// One source's look-back.
pub(in crate::commands::changes) struct Look {
    pub(in crate::commands::changes) history: History,
    pub(in crate::commands::changes) dates: Option<Arc<Dates>>,
    pub(in crate::commands::changes) reach: Reach,
    pub(in crate::commands::changes) shown: Arc<Shown>,
    /// What ends it before its end.
    pub(super) interrupt: Interrupt,
    /// How far all walks of the run are.
    pub(in crate::commands::changes) progress: Arc<Progress>,
    /// Whether `dates` are of this source, once it is known.
    pub(in crate::commands::changes) is_dated: OnceCell<bool>,
    /// When revisions were written.
    pub(in crate::commands::changes) dated: Mutex<BTreeMap<Revision, Between>>,
}

/// What a walk found, the oldest first.
#[derive(Default)]
struct Walked {
    told: Vec<PastEvent>,
    end: Option<End>,
    /// From which revision on no life can have been missed.
    sure: Option<Revision>,
}

impl Look {
    pub(in crate::commands::changes) async fn run(mut self, from: Start) -> Found {
        let mut found = Found::new(self.history.key().clone());
        let told = match from {
            Start::Version(version) => self.before(version, &mut found).await,
            Start::Listing(version, objects) => self.from((&version, objects), &mut found).await,
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

    async fn from(
        &mut self,
        (version, objects): (&ResourceVersion, Vec<Arc<Version>>),
        found: &mut Found,
    ) -> Result<(), End> {
        let newest = Revision::parse(version).ok_or_else(unversioned)?;
        self.begin(newest).await;
        if named(self.history.key()).is_none() {
            let at = newest;
            return self.wide(ObjectsAt { at, objects }, found).await;
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
        let mut walked = self.back(walk).await;
        self.settle(&mut walked.told, newest).await;
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
        if found.told.len() > 1
            && let Some(End::Failed(cause)) = found.end.take_if(|end| matches!(end, End::Failed(_)))
        {
            let object = object_of(self.history.key());
            found.missing.push(Missing { object, cause });
            found.complete = None;
        }
        self.date_ends(found, newest).await;
    }

    /// Finds what has changed between then and now, and walks back what the watch cache does not tell.
    async fn wide(&self, now: ObjectsAt, found: &mut Found) -> Result<(), End> {
        let (floor, newest, objects) = (self.reach.revision, now.at, now.objects.len());
        // What says when it was written is only needed where revisions do not.
        let since = self.reach.time.filter(|_| !self.is_bounded());
        let compare = self.history.compare(now, floor, since);
        let Some(compared) = self.interrupt.unless_stopped(compare).await else {
            return Ok(());
        };
        let compared = compared?;
        self.progress.expect(compared.changed.len());
        let changed = compared.changed.into_iter();
        let walks: Vec<_> = changed
            .map(|changed| self.changed(changed, newest))
            .collect();
        let mut walks = stream::iter(walks).buffered(AT_ONCE);
        let mut then = compared.then;
        found.missing = compared.missing;
        while let Some((object, walked)) = walks.next().await {
            self.progress.done();
            found.told.extend(walked.told);
            match walked.end {
                // It forgets while it is read.
                Some(End::Forgotten(at)) => then = then.max(at),
                Some(End::Failed(cause)) => {
                    let object = object.ok_or_else(unversioned)?;
                    found.missing.push(Missing { object, cause });
                }
                Some(end @ End::NotOffered(_)) => return Err(end),
                Some(End::Limit) | None => {}
            }
        }
        drop(walks);
        found.told.sort_by_key(|told| told.at);
        found.objects = Some(objects);
        found.from = Some(then);
        let complete = compared.complete.filter(|_| found.missing.is_empty());
        found.complete = complete.map(|complete| complete.max(then));
        found.end = Some(if then > floor {
            End::Forgotten(then)
        } else {
            End::Limit
        });
        self.date_ends(found, newest).await;
        Ok(())
    }

    /// What happened to one object: what a walk finds, and after that what the watch cache has told.
    async fn changed(&self, changed: Changed, newest: Revision) -> (Option<ObjectRef>, Walked) {
        let mut object = None;
        let mut walked = Walked::default();
        if let Some((there, walk)) = changed.earlier {
            object = Some(walk.object().clone());
            walked = self.back((there, walk)).await;
        }
        walked.told.extend(changed.told);
        self.settle(&mut walked.told, newest).await;
        (object, walked)
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
    async fn back(&self, (there, mut walk): (Presence, Walk)) -> Walked {
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
        Walked {
            told: in_order(there, found),
            end: walk.end().cloned(),
            sure: walk.sure(),
        }
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
