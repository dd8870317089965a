//! The records of `status -o json`.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::{LastChangeRecord, LastLinesRecord, RefRecord};
use crate::render::age::rfc3339_millis;
use crate::status::{Assessment, Cause, Condition};

/// The assessment of an object. One record is printed when the object first appears, and one whenever a field
/// other than `time` has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusRecord {
    /// [`VERSION`](super::VERSION).
    pub v: u32,
    /// The time of the assessment.
    pub time: String,
    /// The object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// The uid of the owner that the object is shown under; null for a requested object.
    pub owner: Option<Arc<str>>,
    /// The number of owners above it.
    pub depth: usize,
    /// The state: kstatus's word.
    pub status: &'static str,
    /// The worst state among the dependents of its current revision; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<&'static str>,
    /// The reason for the state.
    pub message: String,
    /// kstatus's conditions.
    pub conditions: Vec<ConditionRecord>,
    /// The word in the STATUS column.
    pub word: String,
    /// Ready and total parts; absent for kinds without parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// The number of container restarts; for Pods only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<i64>,
    /// The causes of the state, the most important first.
    pub causes: Vec<CauseRecord>,
    /// What changed before it failed and may be the cause, once that is known. The most suspect change comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_changes: Vec<LastChangeRecord>,
    /// What its failed containers printed last, once that is read; for Pods only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<LastLinesRecord>,
    /// Why the object could not be assessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// With `--since`: the state then; null if the object did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<Option<WasRecord>>,
}

/// An earlier state of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasRecord {
    /// The state: kstatus's word.
    pub status: &'static str,
    /// The word in the STATUS column.
    pub word: String,
    /// Ready and total parts; absent for kinds without parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
}

impl WasRecord {
    /// The state of this assessment.
    pub fn of(assessment: &Assessment) -> WasRecord {
        WasRecord {
            status: assessment.status().as_str(),
            word: assessment.row.word.clone(),
            ready: assessment.row.ready.clone(),
        }
    }
}

/// A condition that the state implies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionRecord {
    /// `Reconciling` or `Stalled`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Always True. A condition that does not hold is absent.
    pub status: &'static str,
    /// The reason, in one word.
    pub reason: String,
    /// The reason, in a sentence.
    pub message: String,
}

/// One cause of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseRecord {
    /// The stable name of the rule that found it.
    pub rule: &'static str,
    /// The finding.
    pub text: String,
    /// The address of the document that the rule comes from; only with `--explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
}

impl StatusRecord {
    /// The record of an object that was assessed at `time`, without its position and its dependents.
    pub fn new(object_ref: RefRecord, assessment: &Assessment, time: Timestamp) -> StatusRecord {
        let Assessment {
            verdict,
            row,
            causes,
        } = assessment;
        StatusRecord {
            v: super::VERSION,
            time: rfc3339_millis(time),
            object_ref,
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
            last_changes: Vec::new(),
            last_lines: Vec::new(),
            error: verdict.error.clone(),
            was: None,
        }
    }

    /// Adds the sources of the rules that found the causes of this assessment.
    #[must_use]
    pub fn explained(self, assessment: &Assessment) -> StatusRecord {
        let causes = assessment.causes.iter();
        StatusRecord {
            causes: causes.map(CauseRecord::explained).collect(),
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
            source: None,
        }
    }

    /// The record of a cause with the source of its rule.
    pub fn explained(cause: &Cause) -> CauseRecord {
        CauseRecord {
            source: Some(cause.rule.explanation().source),
            ..CauseRecord::of(cause)
        }
    }
}
