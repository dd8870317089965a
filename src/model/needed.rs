//! Which other objects an object needs.

use jiff::Timestamp;

use crate::graph::Tier;
use crate::object::Value;
use crate::status::{Assessment, Status, is_starting};

/// Up to which tier other objects matter to the state of an object. An object that is well has found most of what it
/// needs, and one that is only starting may still find it.
pub(super) fn needed(object: Value<'_>, own: &Assessment, now: Timestamp) -> Tier {
    let is_waiting = own.status() == Status::InProgress && !is_starting(object, now);
    if is_waiting || own.status() == Status::Failed {
        Tier::Unwell
    } else {
        Tier::Always
    }
}

/// Whether an object is a Pod that runs and is well.
pub(super) fn is_running_well(object: Value<'_>, own: &Assessment) -> bool {
    let is_running = object.str_at(&["status", "phase"]).as_deref() == Some("Running");
    is_running && own.is_well()
}
