//! Reads `.status.conditions`. All modules use this reader.

use std::borrow::Cow;

use jiff::Timestamp;

use super::Value;

/// A condition of an object. A missing field, or one of another type, is empty.
#[derive(Clone, Debug)]
pub struct StatusCondition<'a> {
    /// Its `type`.
    pub kind: Cow<'a, str>,
    /// `True`, `False` or `Unknown`.
    pub status: Cow<'a, str>,
    /// The reason, in one word.
    pub reason: Cow<'a, str>,
    /// The reason, in a sentence.
    pub message: Cow<'a, str>,
    value: Value<'a>,
}

impl<'a> StatusCondition<'a> {
    /// Reads one item of the conditions.
    pub fn of(value: Value<'a>) -> StatusCondition<'a> {
        let text = |key| value.str_at(&[key]).unwrap_or_default();
        StatusCondition {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            value,
        }
    }

    /// Whether it has this type and this status.
    pub fn is(&self, kind: &str, status: &str) -> bool {
        self.kind == kind && self.status == status
    }

    /// The time of its last change of status.
    pub fn since(&self) -> Option<Timestamp> {
        let time = self.value.time_at(&["lastTransitionTime"]);
        time.filter(|time| *time > Timestamp::UNIX_EPOCH)
    }

    /// The time of its last update if it has one, else of its last change of status.
    pub fn updated(&self) -> Option<Timestamp> {
        let updated = self.value.time_at(&["lastUpdateTime"]);
        updated.or_else(|| self.since())
    }

    /// How bad a status other than True is, in the conditions of Cluster API and Knative; otherwise empty.
    pub fn severity(&self) -> Cow<'a, str> {
        self.value.str_at(&["severity"]).unwrap_or_default()
    }

    /// Whether it has this field.
    pub fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    /// The generation of the object that the condition describes, if it has one.
    pub fn observed_generation(&self) -> Option<i64> {
        self.value.i64_at(&["observedGeneration"])
    }
}

/// The conditions of an object, in the object's order.
pub fn conditions(object: Value<'_>) -> impl Iterator<Item = StatusCondition<'_>> {
    object
        .items_at(&["status", "conditions"])
        .map(StatusCondition::of)
}

/// The first condition of this type.
pub fn condition<'a>(object: Value<'a>, kind: &str) -> Option<StatusCondition<'a>> {
    conditions(object).find(|condition| condition.kind == kind)
}
