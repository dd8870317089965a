//! `PodCounts`: the numbers of Pods in a workload's spec and status.

use crate::object::Value;

/// The numbers of Pods in a workload's spec and status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PodCounts {
    /// The wanted Pods.
    pub(super) wanted: i64,
    /// The wanted Pods of the newest revision. A partition keeps the others at the old one.
    pub(super) goal: i64,
    /// The Pods that exist.
    pub(super) there: i64,
    /// Those of the newest revision.
    pub(super) updated: i64,
    /// The available Pods of all revisions.
    pub(super) available: i64,
}

/// The sum of such numbers. A server may send any.
pub(super) fn sum(counts: impl Iterator<Item = i64>) -> i64 {
    counts.fold(0, i64::saturating_add)
}

/// A number of the spec, or its default.
pub(super) fn spec(object: Value<'_>, key: &str, default: i64) -> i64 {
    object.i64_at(&["spec", key]).unwrap_or(default)
}

/// A count of the status. The API leaves out counts of 0.
pub(super) fn count(object: Value<'_>, key: &str) -> i64 {
    object.i64_at(&["status", key]).unwrap_or(0)
}
