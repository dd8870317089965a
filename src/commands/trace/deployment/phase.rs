//! One phase of a rollout: which, how far, and what has made it fail.

use jiff::Timestamp;

use super::loaded::LoadedKind;
use crate::object::StatusCondition;
use crate::status::CauseRule;

/// Which phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PhaseName {
    /// Someone changed the spec.
    Change,
    /// The controller has seen it.
    Observed,
    /// There is a `ReplicaSet` of the template.
    ReplicaSet,
    /// Its pods have nodes.
    Scheduled,
    /// Their images are there.
    Images,
    /// They are available.
    Available,
    /// The pods of older revisions are gone.
    OldPods,
    /// The controller reports it complete.
    Complete,
}

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhaseProgress {
    /// It is over.
    Done,
    /// It has begun.
    Underway,
    /// It will not get further by itself.
    Failed,
    /// It has not begun.
    Waiting,
    /// The objects that show it were not read.
    Unknown,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RolloutPhase {
    pub(super) name: PhaseName,
    pub(super) progress: PhaseProgress,
    /// How far it is, in words; not escaped.
    pub(super) text: String,
    /// What has made it fail.
    pub(super) failure: Option<PhaseFailure>,
    /// When it was over, by the server's clock.
    pub(super) time: Option<Timestamp>,
}

/// What has made a phase fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PhaseFailure {
    /// Which rule found it.
    pub(super) rule: CauseRule,
    /// Which pod, in which state, and how many more; not escaped. Empty where it is no pod.
    pub(super) what: String,
    /// The name of the pod.
    pub(super) pod: Option<String>,
    /// Why; not escaped.
    pub(super) cause: String,
}

impl PhaseName {
    /// The phase as frames and lines call it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            PhaseName::Change => "spec change",
            PhaseName::Observed => "observed",
            PhaseName::ReplicaSet => "replicaset",
            PhaseName::Scheduled => "scheduled",
            PhaseName::Images => "images",
            PhaseName::Available => "available",
            PhaseName::OldPods => "old pods",
            PhaseName::Complete => "complete",
        }
    }
}

impl PhaseProgress {
    /// The word that records have for it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            PhaseProgress::Done => "done",
            PhaseProgress::Underway => "underway",
            PhaseProgress::Failed => "failed",
            PhaseProgress::Waiting => "waiting",
            PhaseProgress::Unknown => "unknown",
        }
    }

    /// That of `n` of `wanted`.
    pub(super) fn of(n: i64, wanted: i64) -> PhaseProgress {
        match n {
            n if n >= wanted => PhaseProgress::Done,
            0 => PhaseProgress::Waiting,
            _ => PhaseProgress::Underway,
        }
    }
}

impl RolloutPhase {
    /// A phase, so far.
    pub(super) fn new(
        name: PhaseName,
        progress: PhaseProgress,
        text: impl Into<String>,
    ) -> RolloutPhase {
        RolloutPhase {
            name,
            progress,
            text: text.into(),
            failure: None,
            time: None,
        }
    }

    /// A phase of which nothing is known, as objects of a kind were not read.
    pub(super) fn unread(name: PhaseName, kind: LoadedKind) -> RolloutPhase {
        RolloutPhase::new(name, PhaseProgress::Unknown, kind.unread())
    }

    /// The phase with the time at which it was over, if it is.
    pub(super) fn at(self, time: Option<Timestamp>) -> RolloutPhase {
        let time = time.filter(|_| self.progress == PhaseProgress::Done);
        RolloutPhase { time, ..self }
    }

    /// The phase, failed.
    pub(super) fn failed(self, failure: PhaseFailure) -> RolloutPhase {
        RolloutPhase {
            progress: PhaseProgress::Failed,
            failure: Some(failure),
            time: None,
            ..self
        }
    }

    /// How far it is and which pod holds it up: `1/2 pulled; web-x ErrImagePull`.
    pub(super) fn words(&self) -> String {
        match &self.failure {
            Some(failure) if !failure.what.is_empty() => format!("{}; {}", self.text, failure.what),
            _ => self.text.clone(),
        }
    }
}

impl PhaseFailure {
    /// The failure that a condition reports.
    pub(super) fn of(condition: &StatusCondition<'_>) -> PhaseFailure {
        PhaseFailure {
            rule: CauseRule::Condition,
            what: String::new(),
            pod: None,
            cause: condition.message.clone().into_owned(),
        }
    }
}
