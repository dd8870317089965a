//! `Verdict`: the computed status of one object.

use jiff::Timestamp;

use crate::object::Value;

use super::cause::Finding;
use super::cause_rule::{CauseRule, Explanation};
use super::state::Status;

/// The two standard conditions of kstatus. Both are abnormal-true: absent means all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionKind {
    /// The object does not have the desired state yet.
    Reconciling,
    /// The object cannot reach the desired state.
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
    /// Its type.
    pub kind: ConditionKind,
    /// Why, in one `CamelCase` word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
}

/// The computed status of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The state.
    pub status: Status,
    /// The reason, in a sentence; empty if [`Verdict::error`] is set.
    pub message: String,
    /// `Reconciling` for `InProgress`, `Stalled` for Failed, otherwise empty.
    pub conditions: Vec<Condition>,
    /// The rule that found a problem which kstatus misses; `None` if kstatus decided.
    pub rule: Option<CauseRule>,
    /// The explanation of the rule that decided; `None` if no rule did, for example for an absent object.
    pub explanation: Option<&'static Explanation>,
    /// Why the status could not be computed; the status is then [`Status::Unknown`].
    pub error: Option<String>,
}

/// A rule that finds a problem of an object which kstatus misses.
pub(super) type Refinement = fn(Value<'_>, Timestamp) -> Option<Verdict>;

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

    /// The verdict on an object with this problem. The rule's name is the reason.
    pub(super) fn found(finding: &Finding) -> Verdict {
        let rule = finding.cause.rule;
        let text = finding.cause.text.clone();
        let verdict = match finding.status {
            Status::Failed => Verdict::failed(rule.as_str(), text),
            Status::Unknown => Verdict::unread(&text),
            _ => Verdict::in_progress(rule.as_str(), text),
        };
        verdict.by(rule)
    }

    /// The same verdict, with the rule that found it.
    pub(super) fn by(self, rule: CauseRule) -> Verdict {
        Verdict {
            rule: Some(rule),
            explanation: Some(rule.explanation()),
            ..self
        }
    }

    /// The same verdict, by a rule that finds no causes.
    pub(super) fn decided_by(self, explanation: &'static Explanation) -> Verdict {
        Verdict {
            explanation: Some(explanation),
            ..self
        }
    }

    pub(super) fn unknown(error: String) -> Verdict {
        Verdict {
            error: Some(error),
            ..Verdict::plain(Status::Unknown, String::new())
        }
    }

    /// The verdict on an object whose current state was not read.
    pub(super) fn unread(message: &str) -> Verdict {
        Verdict::plain(Status::Unknown, message.to_owned())
    }

    /// The verdict on an object that does not exist.
    pub fn not_found() -> Verdict {
        Verdict::plain(Status::NotFound, "Resource not found".to_owned())
    }

    fn plain(status: Status, message: String) -> Verdict {
        Verdict {
            status,
            message,
            conditions: Vec::new(),
            rule: None,
            explanation: None,
            error: None,
        }
    }
}
