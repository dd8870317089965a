//! Reads single numbers of a workload.

use crate::object::Value;

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
