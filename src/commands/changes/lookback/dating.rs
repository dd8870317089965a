//! When the versions that a look-back finds were written, and which of them are too old.

use std::sync::{Arc, PoisonError};

use jiff::Timestamp;

use super::Found;
use super::stop_rule::wrote;
use super::walk::Look;
use crate::watch::{Dates, PastEvent, Revision, Why, is_surely_before};

impl Look {
    /// Finds out why and when it was, and leaves out what is too old.
    pub(super) async fn settle(&self, told: &mut Vec<PastEvent>, newest: Revision) {
        let why = self.history.tell_why(told);
        self.interrupt.unless_stopped(why).await;
        let undated = told.iter().filter(|told| wrote(told).is_none());
        let undated: Vec<Revision> = undated.filter_map(|told| told.at).collect();
        for at in undated {
            self.date(at, newest).await;
        }
        if let Some(since) = self.reach.time {
            self.leave_out(told, since);
        }
    }

    /// Leaves out what was before `since`. The last version of that stays, untold: what follows is told
    /// against it.
    fn leave_out(&self, told: &mut Vec<PastEvent>, since: Timestamp) {
        let dated = self.dated.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = |told: &PastEvent| {
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
    pub(super) async fn date_ends(&self, found: &Found, newest: Revision) {
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
    pub(super) async fn dates(&self) -> Option<&Arc<Dates>> {
        let dates = self.dates.as_ref()?;
        let is_dated = self.is_dated.get_or_init(|| dates.covers(&self.history));
        is_dated.await.then_some(dates)
    }
}
