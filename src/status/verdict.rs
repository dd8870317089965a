//! What a judgement says.

use std::fmt;

/// The state of an object in kstatus's words, ordered from the best to the worst, so that the worst of
/// several is their maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// What is asked for is what is.
    Current,
    /// It is being deleted.
    Terminating,
    /// It is on its way to what is asked for.
    InProgress,
    /// It does not exist.
    NotFound,
    /// It could not be judged, or has not been read yet.
    Unknown,
    /// It will not get to what is asked for without help.
    Failed,
}

impl Status {
    /// The word, as kstatus spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Current => "Current",
            Status::Terminating => "Terminating",
            Status::InProgress => "InProgress",
            Status::NotFound => "NotFound",
            Status::Unknown => "Unknown",
            Status::Failed => "Failed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The two standard conditions of kstatus. Both are abnormal-true: absent means all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionKind {
    /// The object is not yet what is asked for.
    Reconciling,
    /// The object cannot become what is asked for.
    Stalled,
}

impl ConditionKind {
    /// The condition's `type`.
    pub fn as_str(self) -> &'static str {
        match self {
            ConditionKind::Reconciling => "Reconciling",
            ConditionKind::Stalled => "Stalled",
        }
    }
}

/// A condition that a verdict implies; its `status` is always True.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which one.
    pub kind: ConditionKind,
    /// Why, in one `CamelCase` word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
}

/// The judgement of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The state.
    pub status: Status,
    /// What it is based on; empty where [`Verdict::error`] speaks.
    pub message: String,
    /// `Reconciling` when it is in progress, `Stalled` when it failed, none otherwise.
    pub conditions: Vec<Condition>,
    /// Why the object could not be judged; its status is then [`Status::Unknown`].
    pub error: Option<String>,
}

impl Verdict {
    pub(super) fn current(message: impl Into<String>) -> Verdict {
        Verdict::plain(Status::Current, message.into())
    }

    pub(super) fn terminating(message: impl Into<String>) -> Verdict {
        Verdict::plain(Status::Terminating, message.into())
    }

    pub(super) fn in_progress(reason: impl Into<String>, message: impl Into<String>) -> Verdict {
        let (reason, message) = (reason.into(), message.into());
        Verdict {
            conditions: vec![Condition {
                kind: ConditionKind::Reconciling,
                reason,
                message: message.clone(),
            }],
            ..Verdict::plain(Status::InProgress, message)
        }
    }

    pub(super) fn failed(reason: impl Into<String>, message: impl Into<String>) -> Verdict {
        let (reason, message) = (reason.into(), message.into());
        Verdict {
            conditions: vec![Condition {
                kind: ConditionKind::Stalled,
                reason,
                message: message.clone(),
            }],
            ..Verdict::plain(Status::Failed, message)
        }
    }

    pub(super) fn unknown(error: String) -> Verdict {
        Verdict {
            error: Some(error),
            ..Verdict::plain(Status::Unknown, String::new())
        }
    }

    /// The verdict on an object that is there, and is not read.
    pub(super) fn unread(message: &str) -> Verdict {
        Verdict::plain(Status::Unknown, message.to_owned())
    }

    /// The verdict on an object that a cluster says it does not have.
    pub fn not_found() -> Verdict {
        Verdict::plain(Status::NotFound, "Resource not found".to_owned())
    }

    fn plain(status: Status, message: String) -> Verdict {
        Verdict {
            status,
            message,
            conditions: Vec::new(),
            error: None,
        }
    }
}
