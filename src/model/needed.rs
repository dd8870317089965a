//! Which other objects an object needs.

use jiff::Timestamp;

use crate::graph::{Reference, Tier, references};
use crate::object::Value;
use crate::status::{Assessment, Status, is_starting};

/// The other objects that matter to the state of an object. An object that is well has found most of what it
/// needs, and one that is only starting may still find it.
pub(super) fn needed(object: Value<'_>, own: &Assessment, now: Timestamp) -> Vec<Reference> {
    let is_waiting = own.status() == Status::InProgress && !is_starting(object, now);
    let upto = if is_waiting || own.status() == Status::Failed {
        Tier::Unwell
    } else {
        Tier::Always
    };
    references(object, upto)
}
