//! Which changes are shown, and in which order.

use crate::diff::{Change, Diff, LAST_APPLIED, Op, SegId};

use super::view::DiffView;

/// Above this many moves, a list is said to be in another order.
pub(super) const MOVES: usize = 3;

/// The changes that are shown: those of the metadata first, then the spec, the data, the status and the
/// rest; of each, what stands at the top of it first.
pub(super) fn shown<'d>(diff: &'d Diff<'_>, view: &DiffView<'_>) -> Vec<&'d Change> {
    let changes = diff.changes().iter();
    let mut shown: Vec<&Change> = changes.filter(|change| view.shows(diff, change)).collect();
    shown.sort_by_cached_key(|change| rank(diff, change.at));
    shown
}

/// The place of a change among the others: its section, and whether it is at the top of it.
pub(super) fn rank(diff: &Diff<'_>, at: SegId) -> (usize, bool) {
    let (depth, top) = diff
        .chain(at)
        .fold((0, at), |(depth, _), above| (depth + 1, above));
    let top = diff.field(top);
    let section = match top {
        Some("metadata") => 0,
        Some("spec") => 1,
        Some("data" | "stringData" | "binaryData") => 2,
        Some("status") => 3,
        Some(_) | None => 4,
    };
    // The applied configuration mostly repeats the changes above it.
    if diff.field(at) == Some(LAST_APPLIED) {
        return (5, true);
    }
    (section, depth > 2)
}

/// Whether a change is of the place of an item alone.
pub(super) fn is_move(change: &Change) -> bool {
    matches!(change.op, Op::Move { .. })
}
