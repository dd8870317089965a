//! `ObjectProgress`: which goals one object has met, and whether it has failed.

use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::deaths::Deaths;
use super::out_of_reach::out_of_reach;
use crate::model::Outlook;
use crate::object::{Doc, Uid, Value};
use crate::status::{Goal, Recovery};

/// How long an object may have failed while its controllers try again. A container may crash until its database is up.
const PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// When the wait gives up an object whose controllers try again.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailureLimit {
    /// The time of the check.
    pub(super) now: Timestamp,
    /// How many instances of a container may die. At the last one, the wait gives up.
    pub(super) restarts: usize,
}

/// The progress of one object.
#[derive(Default)]
pub(super) struct ObjectProgress {
    pub(super) name: Arc<str>,
    /// Its uid; `None` if it does not exist.
    pub(super) there: Option<Uid>,
    /// The number of goals it has met.
    met: usize,
    /// The last judgement of it.
    pub(super) outlook: Option<Outlook>,
    /// When it was first seen failed. It may have been in progress since then, but not Current.
    failed_since: Option<Timestamp>,
    /// The deaths of its containers.
    pub(super) deaths: Deaths,
    /// Why its last version can never meet the next goal.
    dead_end: Option<String>,
    /// Why it cannot meet the next goal.
    pub(super) failure: Option<GoalFailure>,
    /// Whether it has met the last goal at any time.
    was_met: bool,
}

/// Why an object cannot meet its goal.
#[derive(Debug)]
pub(super) enum GoalFailure {
    /// It was deleted first.
    Deleted,
    /// It has failed, for this reason.
    Failed(String),
    /// It is at its end: `can never be Ready: it has completed (Succeeded)`.
    OutOfReach(String),
}

impl fmt::Display for GoalFailure {
    /// Writes the failure after the name of the object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoalFailure::Deleted => f.write_str("was deleted before the condition was met"),
            GoalFailure::Failed(reason) => write!(f, "has failed: {reason}"),
            GoalFailure::OutOfReach(reason) => f.write_str(reason),
        }
    }
}

impl ObjectProgress {
    /// The progress of an object that is not read yet.
    pub(super) fn named(name: &str) -> ObjectProgress {
        ObjectProgress {
            name: name.into(),
            ..ObjectProgress::default()
        }
    }

    /// Whether all goals are met.
    pub(super) fn is_met(&self, goals: &[Goal]) -> bool {
        self.met == goals.len()
    }

    /// Whether a judgement may change the progress.
    pub(super) fn is_open(&self, goals: &[Goal]) -> bool {
        !self.is_met(goals) || goals.last().is_some_and(Goal::is_judged)
    }

    /// Whether the object was deleted before it met a goal that needs it.
    pub(super) fn was_deleted(&self) -> bool {
        matches!(self.failure, Some(GoalFailure::Deleted))
    }

    /// Advances to the first unmet goal. Returns whether all goals are met.
    pub(super) fn advance(&mut self, goals: &[Goal], object: Option<Value<'_>>) -> bool {
        let mut left = goals[self.met.min(goals.len())..].iter();
        self.met += left.by_ref().take_while(|goal| goal.is_met(object)).count();
        let next = goals.get(self.met).zip(object);
        self.dead_end = next.and_then(|(goal, object)| out_of_reach(goal, object));
        self.failure = self.failure.take().filter(|_| !self.is_met(goals));
        self.was_met |= self.is_met(goals);
        self.is_met(goals)
    }

    /// Why it is not Current, if that is its next goal; may be empty. For the goals of kubectl wait, the errors are
    /// kubectl's.
    pub(super) fn missing(&self, goals: &[Goal]) -> &str {
        let is_next = goals.get(self.met).is_some_and(Goal::is_judged);
        let outlook = self.outlook.as_ref().filter(|_| is_next);
        outlook.map_or("", Outlook::reason)
    }

    /// What it waits for: why it is not Current, or the next goal.
    pub(super) fn waits_for(&self, goals: &[Goal]) -> String {
        let reason = self.outlook.as_ref().map_or("", Outlook::reason);
        match goals.get(self.met) {
            Some(_) if !reason.is_empty() => reason.to_owned(),
            Some(_) if self.there.is_none() => "does not exist".to_owned(),
            Some(goal) => format!("not yet {goal}"),
            None => String::new(),
        }
    }

    /// Whether its next judgement, or the one that keeps the last goal met, is about what is still being deleted.
    pub(super) fn minds_ending(&self, goals: &[Goal]) -> bool {
        goals.get(self.met).or(goals.last()) == Some(&Goal::Settled)
    }

    fn can_fail(&self, goals: &[Goal]) -> bool {
        goals.get(self.met).is_some_and(|goal| match goal {
            Goal::Current | Goal::Settled | Goal::Condition { .. } | Goal::JsonPath { .. } => true,
            Goal::Created | Goal::Deleted => false,
        })
    }

    /// Takes the last judgement. Returns whether the object has met all goals for the first time.
    pub(super) fn take_outlook(
        &mut self,
        goals: &[Goal],
        doc: impl FnOnce() -> Option<Doc>,
    ) -> bool {
        let is_current = self.outlook == Some(Outlook::Current);
        if is_current || matches!(self.outlook, Some(Outlook::Ending(_))) {
            self.failed_since = None;
            self.deaths.forgive();
        }
        if self.is_met(goals) {
            // Only `current` and `settled` are judged again after they were met.
            self.met -= usize::from(!is_current);
            return false;
        }
        if is_current && goals[self.met].is_judged() {
            let was_met = self.was_met;
            self.met += 1;
            let doc = doc().filter(|_| !self.is_met(goals));
            return self.advance(goals, doc.as_ref().map(Doc::root)) && !was_met;
        }
        false
    }

    /// Notes the deletion of the object, if it has to exist.
    pub(super) fn delete(&mut self, goals: &[Goal]) {
        self.outlook = None;
        let was_met = self.is_met(goals) && goals.last().is_some_and(Goal::is_judged);
        if was_met || self.can_fail(goals) {
            self.met -= usize::from(was_met);
            self.failure = Some(GoalFailure::Deleted);
        }
    }

    /// Finds out whether the object has failed for good, or for too long.
    pub(super) fn check_failure(&mut self, goals: &[Goal], limit: FailureLimit) {
        if self.was_deleted() {
            return;
        }
        let can_fail = self.can_fail(goals);
        let dead_end = self.dead_end.clone().filter(|_| can_fail);
        self.failure = match &self.outlook {
            Some(Outlook::Failed { recovery, reason }) if can_fail => {
                let since = *self.failed_since.get_or_insert(limit.now);
                let is_final = match recovery {
                    Recovery::Never => true,
                    Recovery::Retried => {
                        let is_late = limit.now.duration_since(since) >= PATIENCE;
                        is_late || self.deaths.most() >= limit.restarts.max(1)
                    }
                    Recovery::Elsewhere => false,
                };
                is_final.then(|| GoalFailure::Failed(reason.clone()))
            }
            Some(_) | None => None,
        };
        if self.failure.is_none() {
            self.failure = dead_end.map(GoalFailure::OutOfReach);
        }
    }
}
