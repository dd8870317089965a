//! One phase of a rollout: which, how far, and what has made it fail.

use jiff::Timestamp;

use super::read::Kind;
use super::reading::Condition;

/// Which phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
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
    /// The controller says so.
    Complete,
}

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is over.
    Done,
    /// It has begun.
    Underway,
    /// It will not get further by itself.
    Failed,
    /// It has not begun.
    Waiting,
    /// What would tell was not read.
    Unknown,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) name: Name,
    pub(super) progress: Progress,
    /// How far it is, in words; not escaped.
    pub(super) text: String,
    /// What has made it fail.
    pub(super) failure: Option<Failure>,
    /// When it was over, by the server's clock.
    pub(super) time: Option<Timestamp>,
}

/// What has made a phase fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// Which rule found it.
    pub(super) rule: &'static str,
    /// Which pod, in which state, and how many more; not escaped. Empty where it is no pod.
    pub(super) what: String,
    /// The name of the pod.
    pub(super) pod: Option<String>,
    /// Why; not escaped.
    pub(super) cause: String,
}

impl Name {
    /// The phase as frames and lines call it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Name::Change => "spec change",
            Name::Observed => "observed",
            Name::ReplicaSet => "replicaset",
            Name::Scheduled => "scheduled",
            Name::Images => "images",
            Name::Available => "available",
            Name::OldPods => "old pods",
            Name::Complete => "complete",
        }
    }
}

impl Progress {
    /// The word that records have for it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Progress::Done => "done",
            Progress::Underway => "underway",
            Progress::Failed => "failed",
            Progress::Waiting => "waiting",
            Progress::Unknown => "unknown",
        }
    }

    /// That of `n` of `wanted`.
    pub(super) fn of(n: i64, wanted: i64) -> Progress {
        match n {
            n if n >= wanted => Progress::Done,
            0 => Progress::Waiting,
            _ => Progress::Underway,
        }
    }
}

impl Phase {
    /// A phase, so far.
    pub(super) fn new(name: Name, progress: Progress, text: impl Into<String>) -> Phase {
        Phase {
            name,
            progress,
            text: text.into(),
            failure: None,
            time: None,
        }
    }

    /// A phase of which nothing is known, as objects of a kind were not read.
    pub(super) fn unread(name: Name, kind: Kind) -> Phase {
        Phase::new(name, Progress::Unknown, kind.unread())
    }

    /// The phase with the time at which it was over, if it is.
    pub(super) fn at(self, time: Option<Timestamp>) -> Phase {
        let time = time.filter(|_| self.progress == Progress::Done);
        Phase { time, ..self }
    }

    /// The phase, failed.
    pub(super) fn failed(self, failure: Failure) -> Phase {
        Phase {
            progress: Progress::Failed,
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

impl Failure {
    /// What a condition says.
    pub(super) fn of(condition: Condition) -> Failure {
        Failure {
            rule: "Condition",
            what: String::new(),
            pod: None,
            cause: condition.message,
        }
    }
}
