//! `LastChanges`: what changed just before an object failed, by look-back.
//!
//! Only objects are looked up that have failed, or that report a problem of their own or of their Pods: a few of them, in
//! the background. Where the server has compacted the versions, there is nothing to show.

mod autoscaler;
mod candidate;
mod change;
mod error_text;
mod failure;
mod fields;
mod find;
mod recreated;
mod revoked_right;
mod suspects;
#[cfg(test)]
mod tests;
mod version_problem;
mod what;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;

use crate::diff::Redactor;
use crate::model::{Model, ModelObject};
use crate::object::Uid;
use crate::source::SourceKey;
use crate::watch::{Mux, Refusals, RequestAllowance, RequestLimit};

use autoscaler::Autoscalers;
use candidate::candidates;
pub(crate) use change::LastChange;
use failure::{Failure, FailureReason, broken};
use find::{FoundChanges, LookUp, Reads};
use recreated::RecreatedServices;
use revoked_right::{RevokedRights, Searches};
use suspects::Unread;

/// How many objects are looked up at a time.
const MAX_OBJECTS: usize = 24;

/// Of how many objects, at most, the watch caches are read.
const FEW: usize = 2;

/// How many requests the look-ups that start together may make.
const REQUESTS: u32 = 60;

/// How many of these are for objects that are well.
const REQUESTS_FOR_OTHERS: u32 = 12;

/// How many of them run at the same time.
const REQUESTS_AT_ONCE: usize = 8;

/// The last changes of failed objects, and the look-ups of more.
pub(crate) struct LastChanges {
    mux: Mux,
    redactor: Arc<Redactor>,
    request_limit: RequestLimit,
    /// What the look-ups may not read. They read the same kinds.
    refusals: Refusals,
    lookups: FuturesUnordered<BoxFuture<'static, (Failure, FoundChanges)>>,
    /// The failures that were looked up, with the result.
    found: BTreeMap<Failure, FoundChanges>,
    /// The number of failures that are not looked up, because there are too many.
    beyond: usize,
    /// Whether a change was found since the last call of `take_news`.
    has_news: bool,
}

impl LastChanges {
    /// Reads through this multiplexer. A file has no past.
    pub(crate) fn new(mux: Mux) -> LastChanges {
        LastChanges {
            mux,
            redactor: Arc::new(Redactor::new()),
            request_limit: RequestLimit::new(REQUESTS_AT_ONCE),
            refusals: Refusals::default(),
            lookups: FuturesUnordered::new(),
            found: BTreeMap::new(),
            beyond: 0,
            has_news: false,
        }
    }

    /// Looks up the broken ones of these objects, and forgets the others. If they are too many, each namespace has its
    /// turn, with the failed objects first.
    pub(crate) fn look_up(
        &mut self,
        model: &Model,
        objects: impl Iterator<Item = Uid>,
        now: Timestamp,
    ) {
        let failures = failures(model, objects, now);
        let beyond = failures.iter().skip(MAX_OBJECTS);
        self.beyond = beyond.filter(|it| it.reason.is_failure()).count();
        let failed: BTreeSet<Failure> = failures.into_iter().take(MAX_OBJECTS).collect();
        self.found.retain(|failure, _| failed.contains(failure));
        let watch_cache = failed.len() <= FEW;
        let (failures, others): (Vec<_>, Vec<_>) = failed
            .iter()
            .partition(|failure| failure.reason.is_failure());
        let for_others = match (failures.len(), others.len()) {
            (_, 0) => 0,
            (0, _) => REQUESTS / 2,
            _ => REQUESTS_FOR_OTHERS,
        };
        let shares = [REQUESTS - for_others, for_others];
        let [of_failures, of_others] = shares.map(|requests| Reads {
            allowance: RequestAllowance::new(requests),
            watch_cache,
        });
        let mut searches = Searches::new();
        for failure in failed {
            if self.found.contains_key(&failure) {
                continue;
            }
            self.found.insert(failure.clone(), FoundChanges::default());
            let cluster = model.object(&failure.uid).and_then(ModelObject::cluster);
            let dates = cluster.and_then(|cluster| self.mux.dates(cluster));
            let history = |key: &SourceKey| {
                let history = self.mux.history(key)?;
                let history = history.limited(&self.request_limit);
                Some(history.remembering(&self.refusals))
            };
            let revoked = RevokedRights::of(model, &failure, &history, now);
            let look_up = LookUp {
                candidates: candidates(model, &failure, &history, now),
                autoscalers: Autoscalers::of(model, &failure, &history),
                recreated: RecreatedServices::of(model, &failure, &history, now),
                revoked: revoked.map(|it| it.shared(&mut searches)),
                redactor: self.redactor.clone(),
                dates: dates.map(|dates| dates.remembering(&self.refusals)),
                reads: if failure.reason.is_failure() {
                    of_failures.clone()
                } else {
                    of_others.clone()
                },
            };
            self.lookups.push(Box::pin(async move {
                let found = look_up.run().await;
                (failure, found)
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
            Some((failure, new)) => {
                if let Some(found) = self.found.get_mut(&failure) {
                    self.has_news |= *found != new;
                    *found = new;
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

    /// The last changes before the failure of an object that may be the cause, the most suspect first.
    pub(crate) fn of(&self, uid: &Uid) -> &[LastChange] {
        let mut found = self.found.iter();
        let of_object = found.find(|(failure, _)| failure.uid == *uid);
        of_object.map_or(&[], |(_, found)| &found.changes)
    }

    /// What was not looked up, and what a user can do about it; `None` if everything was. A name does not help where the server
    /// refuses what was to be read.
    pub(crate) fn shortfall(&self) -> Option<String> {
        let found = self.found.iter();
        let found = found.filter(|(failure, _)| failure.reason.is_failure());
        let found: Vec<&FoundChanges> = found.map(|(_, found)| found).collect();
        let silent = found.iter().filter(|found| found.changes.is_empty());
        let short: Vec<Unread> = silent.filter_map(|found| found.unread).collect();
        let all = found.len() + self.beyond;
        let done = found.len() - short.len();
        let is_named = all <= FEW;
        let absent = short.iter().filter(|why| **why == Unread::Absent).count();
        let text = if !is_named && (self.beyond > 0 || short.contains(&Unread::CutOff)) {
            format!("changes looked up for {done} of {all} failures: name an object to see its own")
        } else if !is_named && absent > 0 {
            format!(
                "not looked up for {absent} of {all} failures: whether the missing object was deleted; name one of them to see it"
            )
        } else if all == 1 {
            "not all changes before the failure could be read".to_owned()
        } else {
            "not all changes before the failures could be read".to_owned()
        };
        (done < all).then_some(text)
    }
}

/// The failures of these objects whose changes may tell something. Each namespace has its turn, with the failed objects
/// first. A Service that fails because of its Pods has no own cause.
/// Those that are well come last.
fn failures(model: &Model, objects: impl Iterator<Item = Uid>, now: Timestamp) -> Vec<Failure> {
    let mut broken = broken(model, objects, now);
    broken.sort_by_key(|(object, _)| Reverse(object.assessment.status()));
    let mut turns: BTreeMap<Option<Arc<str>>, usize> = BTreeMap::new();
    let failures = broken.into_iter().filter_map(|(object, uid)| {
        let failure = Failure::of(model, object, uid)?;
        let has_own_cause = failure.reason != FailureReason::Elsewhere;
        has_own_cause.then(|| {
            let turn = turns.entry(object.object.namespace.clone()).or_default();
            *turn += 1;
            (*turn, failure)
        })
    });
    let mut failures: Vec<(usize, Failure)> = failures.collect();
    failures.sort_by_key(|(turn, failure)| (!failure.reason.is_failure(), *turn));
    failures.into_iter().map(|(_, failure)| failure).collect()
}

impl fmt::Debug for LastChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastChanges")
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}
