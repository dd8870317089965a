//! What happened before the program was started, read back from the server's memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::judge::Judge;
use super::since::Reach;
use crate::commands::sources::named;
use crate::diff::{Filter, Noise};
use crate::object::{ObjectRef, ResourceVersion};
use crate::watch::{
    End, History, Limits, Mux, Presence, Revision, SourceKey, Told, Version, Walk, Why, in_order,
};

/// How long live events wait for the versions before them, unless more was asked for.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many objects are walked at once.
const AT_ONCE: usize = 4;

/// The look-back of one run.
pub(super) struct LookBack {
    mux: Mux,
    reach: Reach,
    shown: Arc<(Filter, BTreeSet<Noise>)>,
    /// The sources whose walk has not begun.
    waiting: Vec<SourceKey>,
    walks: JoinSet<Found>,
    deadline: Option<Instant>,
    pub(super) found: Vec<Found>,
}

/// What is known of a source when the look-back begins.
pub(super) enum Start {
    /// Its one object is there.
    Version(Arc<Version>),
    /// It has been listed at this version.
    Listing(ResourceVersion),
}

/// What was found of one source.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) key: Arc<SourceKey>,
    /// What happened, the oldest first, of each object.
    pub(super) told: Vec<Told>,
    /// Why there is no more.
    pub(super) end: Option<End>,
    /// Of a wide source: how many objects it has, and how many have changed.
    pub(super) objects: Option<(usize, usize)>,
    /// Of a wide source: from which revision on no object is missing that came and went, where that is
    /// known.
    pub(super) complete: Option<Revision>,
}

impl LookBack {
    /// The look-back of these sources.
    pub(super) fn new(
        mux: Mux,
        reach: Reach,
        keys: &[SourceKey],
        shown: (Filter, BTreeSet<Noise>),
    ) -> LookBack {
        let has_past = |key: &&SourceKey| {
            let wanted = !reach.brief || named(key).is_some();
            wanted && mux.history(key).is_some()
        };
        let waiting = keys.iter().filter(has_past).cloned().collect();
        LookBack {
            reach,
            shown: Arc::new(shown),
            waiting,
            walks: JoinSet::new(),
            deadline: None,
            found: Vec::new(),
            mux,
        }
    }

    /// Whether there is anything to look back at.
    pub(super) fn is_wanted(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether all has been found that is waited for.
    pub(super) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.walks.is_empty()
    }

    /// Begins with a source, once it is known what is there. What comes after that is told as it comes.
    pub(super) fn start(&mut self, key: &SourceKey, from: Start) {
        let Some(at) = self.waiting.iter().position(|waiting| waiting == key) else {
            return;
        };
        let key = self.waiting.swap_remove(at);
        let Some(history) = self.mux.history(&key) else {
            return;
        };
        let deadline = self.reach.brief.then(|| Instant::now() + PATIENCE);
        self.deadline = self.deadline.or(deadline);
        let look = Look {
            history,
            reach: self.reach,
            shown: self.shown.clone(),
            deadline,
        };
        self.walks.spawn(look.run(from));
    }

    /// Leaves out a source that cannot be read.
    pub(super) fn skip(&mut self, key: &SourceKey) {
        self.waiting.retain(|waiting| waiting != key);
    }

    /// Waits until something more was found, or there is no more time.
    pub(super) async fn next(&mut self) {
        let late = async {
            match self.deadline {
                // The walks themselves end with what they have.
                Some(deadline) => sleep_until(deadline + PATIENCE / 4).await,
                None => std::future::pending().await,
            }
        };
        if self.is_over() {
            return std::future::pending().await;
        }
        tokio::select! {
            Some(walked) = self.walks.join_next() => self.found.extend(walked.ok()),
            () = late => {
                self.waiting.clear();
                self.walks.abort_all();
                while self.walks.join_next().await.is_some() {}
            }
        }
    }
}

/// One source's look-back.
struct Look {
    history: History,
    reach: Reach,
    shown: Arc<(Filter, BTreeSet<Noise>)>,
    deadline: Option<Instant>,
}

impl Look {
    async fn run(self, from: Start) -> Found {
        let mut found = Found {
            key: self.history.key().clone(),
            told: Vec::new(),
            end: None,
            objects: None,
            complete: None,
        };
        let told = match from {
            Start::Version(version) => self.before(version, &mut found).await,
            Start::Listing(version) => self.from(&version, &mut found).await,
        };
        if let Err(end) = told {
            found.end = Some(end);
        }
        found
    }

    async fn before(&self, version: Arc<Version>, found: &mut Found) -> Result<(), End> {
        let walk = self.history.before(&version, self.limits());
        let walk = (Some(version), walk.ok_or_else(unversioned)?);
        (found.told, found.end) = self.walk(walk).await;
        Ok(())
    }

    async fn from(&self, version: &ResourceVersion, found: &mut Found) -> Result<(), End> {
        let now = Revision::parse(version).ok_or_else(unversioned)?;
        if named(self.history.key()).is_none() {
            return self.wide(now, found).await;
        }
        let object = object_of(self.history.key());
        let walk = self.history.at(&object, now, self.limits()).await?;
        (found.told, found.end) = self.walk(walk).await;
        Ok(())
    }

    /// Compares then and now, and walks the objects that differ.
    async fn wide(&self, now: Revision, found: &mut Found) -> Result<(), End> {
        let reach = self.reach;
        let compared = self
            .history
            .compare(now, reach.revision, reach.time)
            .await?;
        let limits = Limits {
            floor: compared.then,
            ..self.limits()
        };
        let walks = compared.changed.iter().map(|object| {
            let limits = limits.clone();
            async { Ok(self.walk(self.history.at(object, now, limits).await?).await) }
        });
        let walks: Vec<_> = walks.collect();
        let mut walks = stream::iter(walks).buffered(AT_ONCE);
        let (mut changed, mut then) = (0, compared.then);
        let mut failed = None;
        while let Some(walked) = walks.next().await {
            let (told, end) = walked.unwrap_or_else(|end| (Vec::new(), Some(end)));
            changed += usize::from(told.iter().any(|told| told.why != Why::Listed));
            found.told.extend(told);
            match end {
                // It forgets while it is read.
                Some(End::Forgotten(at)) => then = then.max(at),
                Some(end @ (End::NotOffered(_) | End::Failed(_))) => failed = Some(end),
                Some(End::Limit) | None => {}
            }
        }
        found.objects = Some((compared.count, changed));
        found.complete = compared.complete.map(|complete| complete.max(then));
        found.end = failed.or(Some(if then > reach.revision {
            End::Forgotten(then)
        } else {
            End::Limit
        }));
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            floor: self.reach.revision,
            requests: self.reach.requests,
        }
    }

    /// Walks back as far as is wanted.
    async fn walk(&self, (newest, mut walk): (Presence, Walk)) -> (Vec<Told>, Option<End>) {
        let mut judge = Judge::new(newest.clone(), self.reach.time, &self.shown);
        let mut found = Vec::new();
        while judge.shown < self.reach.shown || judge.there.is_none() {
            let past = match self.deadline {
                Some(deadline) => timeout_at(deadline, walk.next()).await.ok().flatten(),
                None => walk.next().await,
            };
            match past {
                Some(past) if judge.is_wanted(&past) => found.push(past),
                Some(_) | None => break,
            }
        }
        (in_order(newest, found), walk.end().cloned())
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
