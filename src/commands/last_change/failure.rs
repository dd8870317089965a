//! `Failure`: an object that has failed, and why.

use crate::model::{Model, ModelObject};
use crate::object::Uid;

use super::failure_reason::FailureReason;

/// An object that has failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Failure {
    pub(super) uid: Uid,
    /// The generation of its spec.
    generation: i64,
    /// Why it has failed. This may be known later than the failure.
    pub(super) reason: FailureReason,
}

impl Failure {
    /// The failure of this object; `None` if the object cannot be read.
    pub(super) fn of(model: &Model, object: &ModelObject, uid: Uid) -> Option<Failure> {
        let generation = model.doc(&uid)?.root().i64_at(&["metadata", "generation"]);
        Some(Failure {
            uid,
            generation: generation.unwrap_or_default(),
            reason: FailureReason::of(model, object),
        })
    }
}
