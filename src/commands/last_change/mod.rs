//! `LastChanges`: what changed just before an object failed, by look-back.
//!
//! Only objects are looked up that have failed, or that report a problem of their own or of their Pods: a few of them, in
//! the background. Where the server has compacted the versions, there is nothing to show.

mod candidate;
mod change;
mod changed_by;
mod failure;
mod failure_reason;
mod fields;
mod find;
mod suspects;
#[cfg(test)]
mod tests;
mod version_problem;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use tokio::time::timeout;

use crate::diff::Redactor;
use crate::model::{Model, ModelObject};
use crate::object::Uid;
use crate::watch::Mux;

use candidate::candidates;
pub(crate) use change::LastChange;
use failure::{Failure, broken};

/// How many objects are looked up at a time.
const MAX_OBJECTS: usize = 5;

/// How long one look-up may take. The view of `--once` waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The last changes of failed objects, and the look-ups of more.
pub(crate) struct LastChanges {
    mux: Mux,
    redactor: Arc<Redactor>,
    lookups: FuturesUnordered<BoxFuture<'static, (Failure, Option<LastChange>)>>,
    /// The failures that were looked up, with the result.
    found: BTreeMap<Failure, Option<LastChange>>,
    /// Whether a change was found since the last call of `take_news`.
    has_news: bool,
}

impl LastChanges {
    /// Reads through this multiplexer. A file has no past.
    pub(crate) fn new(mux: Mux) -> LastChanges {
        LastChanges {
            mux,
            redactor: Arc::new(Redactor::new()),
            lookups: FuturesUnordered::new(),
            found: BTreeMap::new(),
            has_news: false,
        }
    }

    /// Looks up the broken ones of these objects, the failed ones first, and forgets the others.
    pub(crate) fn look_up(
        &mut self,
        model: &Model,
        objects: impl Iterator<Item = Uid>,
        now: Timestamp,
    ) {
        let mut broken = broken(model, objects);
        broken.sort_by_key(|(object, _)| Reverse(object.assessment.status()));
        let failures = broken.into_iter();
        let failures = failures.filter_map(|(object, uid)| Failure::of(model, object, uid));
        let failed: BTreeSet<Failure> = failures.take(MAX_OBJECTS).collect();
        self.found.retain(|failure, _| failed.contains(failure));
        for failure in failed {
            if self.found.contains_key(&failure) {
                continue;
            }
            self.found.insert(failure.clone(), None);
            let candidates = candidates(model, &failure, &self.mux, now);
            let cluster = model.object(&failure.uid).and_then(ModelObject::cluster);
            let dates = cluster.and_then(|cluster| self.mux.dates(cluster));
            let find = find::last(candidates, self.redactor.clone(), dates);
            self.lookups.push(Box::pin(async move {
                let found = timeout(PATIENCE, find).await;
                (failure, found.ok().flatten())
            }));
        }
    }

    /// Whether look-ups are on their way.
    pub(crate) fn is_busy(&self) -> bool {
        !self.lookups.is_empty()
    }

    /// Waits for the result of a look-up. The caller may drop the future at any point.
    pub(crate) async fn next(&mut self) {
        match self.lookups.next().await {
            Some((failure, change)) => {
                if let Some(found) = self.found.get_mut(&failure) {
                    self.has_news |= change.is_some();
                    *found = change;
                }
            }
            None => std::future::pending().await,
        }
    }

    /// Whether a change was found since the last call.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Gives up all look-ups. Returns whether there were any.
    pub(crate) fn give_up(&mut self) -> bool {
        let was_busy = self.is_busy();
        self.lookups.clear();
        was_busy
    }

    /// The last change before the failure of an object, if it is known.
    pub(crate) fn of(&self, uid: &Uid) -> Option<&LastChange> {
        let mut found = self.found.iter();
        found.find(|(failure, _)| failure.uid == *uid)?.1.as_ref()
    }
}

impl fmt::Debug for LastChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastChanges")
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}
