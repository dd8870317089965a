//! The records of `status -o json`.

use jiff::Timestamp;
use serde::Serialize;

use crate::object::{ObjectRef, Uid};
use crate::render::age::rfc3339_millis;
use crate::status::{Assessment, Cause, Condition, Status};

use super::RefRecord;

/// The verdict on an object. One is printed when an object is first seen, and one whenever anything in
/// it but `time` has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusRecord {
    /// [`VERSION`](super::VERSION).
    pub v: u32,
    /// When the object was judged.
    pub time: String,
    /// Which object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// The uid of the object it is shown under; null for one that was asked for.
    pub owner: Option<String>,
    /// How many owners it is shown under.
    pub depth: usize,
    /// The state: kstatus's word.
    pub status: &'static str,
    /// The worst state among the dependents of its current revision; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<&'static str>,
    /// What the state is based on.
    pub message: String,
    /// kstatus's conditions.
    pub conditions: Vec<ConditionRecord>,
    /// The word in the STATUS column.
    pub word: String,
    /// How many parts are ready of how many; absent for kinds without parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// How often containers were restarted; for Pods alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<i64>,
    /// Why it is in this state, the most telling first.
    pub causes: Vec<CauseRecord>,
    /// Why it could not be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A condition that the state implies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionRecord {
    /// `Reconciling` or `Stalled`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Always True: where it is not, the condition is absent.
    pub status: &'static str,
    /// Why, in a word.
    pub reason: String,
    /// Why, in a sentence.
    pub message: String,
}

/// One reason for the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseRecord {
    /// Which rule found it: a stable name.
    pub rule: &'static str,
    /// What it found.
    pub text: String,
}

/// Where an object stands among those it is shown with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreePlace<'a> {
    /// What it is shown under.
    pub owner: Option<&'a Uid>,
    /// How many owners it is shown under.
    pub depth: usize,
}

impl StatusRecord {
    /// The record of an object of `cluster` that was assessed at `time`, without where it stands and what
    /// depends on it.
    pub fn new(
        cluster: &str,
        object: &ObjectRef,
        assessment: &Assessment,
        time: Timestamp,
    ) -> StatusRecord {
        let Assessment {
            verdict,
            row,
            causes,
        } = assessment;
        StatusRecord {
            v: super::VERSION,
            time: rfc3339_millis(time),
            object_ref: RefRecord::new(cluster, object),
            owner: None,
            depth: 0,
            status: verdict.status.as_str(),
            worst: None,
            message: verdict.message.clone(),
            conditions: verdict.conditions.iter().map(condition).collect(),
            word: row.word.clone(),
            ready: row.ready.clone(),
            restarts: row.restarts.map(|restarts| restarts.count),
            causes: causes.iter().map(CauseRecord::of).collect(),
            error: verdict.error.clone(),
        }
    }

    /// The record with where the object stands and the worst of what depends on it.
    #[must_use]
    pub fn at(self, place: TreePlace<'_>, worst: Option<Status>) -> StatusRecord {
        StatusRecord {
            owner: place.owner.map(|uid| uid.as_str().to_owned()),
            depth: place.depth,
            worst: worst.map(Status::as_str),
            ..self
        }
    }
}

fn condition(condition: &Condition) -> ConditionRecord {
    ConditionRecord {
        kind: condition.kind.as_str(),
        status: "True",
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    }
}

impl CauseRecord {
    /// The record of a cause.
    pub fn of(cause: &Cause) -> CauseRecord {
        CauseRecord {
            rule: cause.rule.as_str(),
            text: cause.text.clone(),
        }
    }
}
