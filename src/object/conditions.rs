//! `.status.conditions`: the one reader of them.

use std::borrow::Cow;

use jiff::Timestamp;

use super::Value;

/// A condition of an object. A part that is missing, or of another type, is empty.
#[derive(Clone, Debug)]
pub struct StatusCondition<'a> {
    /// Its `type`.
    pub kind: Cow<'a, str>,
    /// `True`, `False` or `Unknown`.
    pub status: Cow<'a, str>,
    /// Why, in a word.
    pub reason: Cow<'a, str>,
    /// Why, in a sentence.
    pub message: Cow<'a, str>,
    value: Value<'a>,
}

impl<'a> StatusCondition<'a> {
    /// Reads one item of the list.
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

    /// Whether it is of this type and has this status.
    pub fn is(&self, kind: &str, status: &str) -> bool {
        self.kind == kind && self.status == status
    }

    /// Since when it has its status.
    pub fn since(&self) -> Option<Timestamp> {
        self.time("lastTransitionTime")
    }

    /// When it was last written, where it says; else since when it has its status.
    pub fn updated(&self) -> Option<Timestamp> {
        self.time("lastUpdateTime").or_else(|| self.since())
    }

    /// The generation of the object that it is about, where it says.
    pub fn observed_generation(&self) -> Option<i64> {
        self.value.i64_at(&["observedGeneration"])
    }

    fn time(&self, key: &str) -> Option<Timestamp> {
        self.value.str_at(&[key])?.parse().ok()
    }
}

/// The conditions of an object, in its order.
pub fn conditions(object: Value<'_>) -> impl Iterator<Item = StatusCondition<'_>> {
    object
        .items_at(&["status", "conditions"])
        .map(StatusCondition::of)
}

/// The first condition of this type.
pub fn condition<'a>(object: Value<'a>, kind: &str) -> Option<StatusCondition<'a>> {
    conditions(object).find(|condition| condition.kind == kind)
}
