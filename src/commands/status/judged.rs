//! What is said of one object: its verdict, the cells of its row, and why.

use jiff::Timestamp;

use crate::object::Value;
use crate::status::{Cause, Row, Rules, Status, Verdict, causes, compute};

/// The judgement of one object, from the object alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    /// The state it is in.
    pub(super) verdict: Verdict,
    /// The cells of its row.
    pub(super) row: Row,
    /// Why it is not well, the most telling first.
    pub(super) causes: Vec<Cause>,
}

/// How an object is no longer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// It was deleted.
    Deleted,
    /// It exists, but is none of those that were asked for.
    Left,
}

impl Judged {
    /// Judges an object as it was at `now`.
    pub(super) fn of(object: Value<'_>, now: Timestamp, rules: Rules) -> Judged {
        let verdict = compute(object, now, rules);
        Judged {
            row: Row::of(object, verdict.status),
            causes: causes(object, &verdict, now),
            verdict,
        }
    }

    /// What is said of an object whose text is no JSON.
    pub(super) fn unreadable(error: &impl std::fmt::Display) -> Judged {
        Judged::bare(Verdict {
            error: Some(error.to_string()),
            ..unknown("")
        })
    }

    /// What is said of an object that has not been read yet.
    pub(super) fn unread() -> Judged {
        Judged::bare(unknown("Resource is not read yet"))
    }

    /// What is said of an object that is not there.
    pub(super) fn not_found() -> Judged {
        Judged::bare(Verdict::not_found())
    }

    /// What is said of an object that is there no longer.
    pub(super) fn departed(how: Departure) -> Judged {
        match how {
            Departure::Deleted => Judged::not_found(),
            Departure::Left => Judged::bare(unknown("Resource no longer matches the selector")),
        }
    }

    /// Whether it is as it should be.
    pub(super) fn is_well(&self) -> bool {
        self.verdict.status == Status::Current
    }

    /// Whether it needs attention: it has failed, or is a Pod that is not ready for a reason that says
    /// more than that.
    pub(super) fn is_failing(&self) -> bool {
        let pod = self.row.restarts.is_some();
        let mut causes = self.causes.iter();
        match self.verdict.status {
            Status::Failed => true,
            Status::InProgress | Status::Unknown => {
                pod && causes.any(|cause| cause.rule != "NotReady")
            }
            Status::Current | Status::Terminating | Status::NotFound => false,
        }
    }

    fn bare(verdict: Verdict) -> Judged {
        Judged {
            row: Row {
                ready: None,
                word: verdict.status.as_str().to_owned(),
                restarts: None,
            },
            causes: Vec::new(),
            verdict,
        }
    }
}

fn unknown(message: &str) -> Verdict {
    Verdict {
        status: Status::Unknown,
        message: message.to_owned(),
        conditions: Vec::new(),
        error: None,
    }
}

/// How far a workload has come in bringing its newest template to all its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// How many pods are of the newest template.
    pub(super) updated: i64,
    /// How many are wanted.
    pub(super) wanted: i64,
}

impl Progress {
    /// Reads it from the object; `None` for kinds that are not rolled out.
    pub(super) fn of(object: Value<'_>) -> Option<Progress> {
        let kind = object.str_at(&["kind"])?;
        let number = |path: &[&str], default| object.i64_at(path).unwrap_or(default);
        let (updated, wanted) = match &*kind {
            "Deployment" | "StatefulSet" => (
                number(&["status", "updatedReplicas"], 0),
                number(&["spec", "replicas"], 1),
            ),
            "DaemonSet" => (
                number(&["status", "updatedNumberScheduled"], 0),
                number(&["status", "desiredNumberScheduled"], 0),
            ),
            _ => return None,
        };
        Some(Progress { updated, wanted })
    }
}
