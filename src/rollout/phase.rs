//! `RolloutPhase`: one phase of a rollout, its progress, and why it failed.

use jiff::Timestamp;

use super::change::{Moment, SpecChange};
use crate::object::StatusCondition;
use crate::status::CauseRule;

/// The phases, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhaseName {
    /// Someone changed the spec.
    Change,
    /// Someone changed another part of the spec since, for example the number of replicas.
    LaterChange,
    /// The controller has observed the change.
    Observed,
    /// The `ReplicaSet` for the pod template exists.
    ReplicaSet,
    /// The `ControllerRevision` for the pod template exists.
    Revision,
    /// The controller has started the run.
    Started,
    /// Its pods have nodes.
    Scheduled,
    /// Their images are pulled.
    Images,
    /// They are available.
    Available,
    /// Enough pods of the run have succeeded.
    Succeeded,
    /// The pods of older revisions are gone.
    OldPods,
    /// The controller reports it complete.
    Complete,
    /// The last run by the schedule.
    LastRun,
    /// The next run by the schedule.
    NextRun,
}

/// The progress of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseProgress {
    /// It is complete.
    Done,
    /// It has started.
    Underway,
    /// It cannot continue by itself.
    Failed,
    /// It has not started.
    Waiting,
    /// The objects that show it were not read.
    Unknown,
}

/// One phase.
#[derive(Clone)]
pub struct RolloutPhase {
    /// Which phase it is.
    pub name: PhaseName,
    /// How far it is.
    pub progress: PhaseProgress,
    /// The progress as text.
    pub text: String,
    /// The change of the spec, if the phase is one.
    pub change: Option<SpecChange>,
    /// Why it failed.
    pub failure: Option<PhaseFailure>,
    /// When it reached its progress.
    pub at: Moment,
    /// Whether it may have reached it before: later Pods may have taken the place of those that did.
    pub is_at_most: bool,
}

/// Why a phase failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseFailure {
    /// The rule that found it.
    pub rule: CauseRule,
    /// The pod, its state, and the number of other such pods. Empty if no pod caused it.
    pub what: String,
    /// The name of the pod.
    pub pod: Option<String>,
    /// The cause.
    pub cause: String,
}

impl PhaseName {
    /// The name in frames, lines and records.
    pub fn as_str(self) -> &'static str {
        match self {
            PhaseName::Change => "spec change",
            PhaseName::LaterChange => "then changed",
            PhaseName::Observed => "observed",
            PhaseName::ReplicaSet => "replicaset",
            PhaseName::Revision => "revision",
            PhaseName::Started => "started",
            PhaseName::Scheduled => "scheduled",
            PhaseName::Images => "images",
            PhaseName::Available => "available",
            PhaseName::Succeeded => "succeeded",
            PhaseName::OldPods => "old pods",
            PhaseName::Complete => "complete",
            PhaseName::LastRun => "last run",
            PhaseName::NextRun => "next run",
        }
    }
}

impl PhaseProgress {
    /// The word in lines and records.
    pub fn as_str(self) -> &'static str {
        match self {
            PhaseProgress::Done => "done",
            PhaseProgress::Underway => "underway",
            PhaseProgress::Failed => "failed",
            PhaseProgress::Waiting => "waiting",
            PhaseProgress::Unknown => "unknown",
        }
    }

    /// The progress for `n` of `wanted`.
    pub(super) fn of(n: i64, wanted: i64) -> PhaseProgress {
        match n {
            n if n >= wanted => PhaseProgress::Done,
            0 => PhaseProgress::Waiting,
            _ => PhaseProgress::Underway,
        }
    }
}

impl RolloutPhase {
    /// A phase with this progress.
    pub(super) fn new(
        name: PhaseName,
        progress: PhaseProgress,
        text: impl Into<String>,
    ) -> RolloutPhase {
        RolloutPhase {
            name,
            progress,
            text: text.into(),
            change: None,
            failure: None,
            at: Moment::default(),
            is_at_most: false,
        }
    }

    /// The phase of a change: the one that starts a rollout, or a later one.
    pub(super) fn change(name: PhaseName, change: &SpecChange) -> RolloutPhase {
        RolloutPhase {
            at: change.at,
            change: Some(change.clone()),
            ..RolloutPhase::new(name, PhaseProgress::Done, change.text())
        }
    }

    /// A phase with unknown progress, because objects of a kind were not read.
    pub(super) fn unread(name: PhaseName, text: &str) -> RolloutPhase {
        RolloutPhase::new(name, PhaseProgress::Unknown, text)
    }

    /// The phase with the time of its completion by the server's clock, if it is complete.
    pub(super) fn at(mut self, time: Option<Timestamp>) -> RolloutPhase {
        self.at.server = time.filter(|_| self.progress == PhaseProgress::Done);
        self
    }

    /// The phase with the time since which it has its progress: that of the same phase before, or else
    /// `seen`. Each run by a schedule is another one.
    pub(super) fn since(
        mut self,
        before: &[RolloutPhase],
        seen: Option<Timestamp>,
    ) -> RolloutPhase {
        let is_same = |was: &&RolloutPhase| {
            (was.name, was.progress) == (self.name, self.progress)
                && (self.name != PhaseName::LastRun || was.text == self.text)
        };
        match before.iter().find(is_same) {
            Some(was) => self.at = was.at,
            None => self.at.seen = seen,
        }
        self
    }

    /// The phase as failed.
    pub(super) fn failed(self, failure: PhaseFailure) -> RolloutPhase {
        RolloutPhase {
            progress: PhaseProgress::Failed,
            failure: Some(failure),
            at: Moment::default(),
            ..self
        }
    }

    /// Whether it is a change, and what changed is known.
    pub fn has_fields(&self) -> bool {
        let change = self.change.as_ref();
        change.is_some_and(|change| change.fields.is_some())
    }

    /// The progress, and the pod that delays it: `1/2 pulled; web-x ErrImagePull`.
    pub fn summary(&self) -> String {
        match &self.failure {
            Some(failure) if !failure.what.is_empty() => format!("{}; {}", self.text, failure.what),
            _ => self.text.clone(),
        }
    }
}

impl PhaseFailure {
    /// A failure that no pod caused.
    pub(super) fn new(rule: CauseRule, cause: &str) -> PhaseFailure {
        PhaseFailure {
            rule,
            what: String::new(),
            pod: None,
            cause: cause.to_owned(),
        }
    }

    /// The failure that a condition reports.
    pub(super) fn of(condition: &StatusCondition<'_>) -> PhaseFailure {
        PhaseFailure::new(CauseRule::Condition, &condition.message)
    }
}
