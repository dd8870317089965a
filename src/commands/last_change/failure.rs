//! `Failure`: an object that has failed, and why.

use crate::model::{Model, ModelObject};
use crate::object::Uid;
use crate::status::Status;

use super::failure_reason::{FailureReason, unwell_pods};

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

/// Whether an object has failed or reports a problem. A workload on its way has the problems of its Pods, such as a probe
/// that fails.
pub(super) fn is_broken(model: &Model, object: &ModelObject, uid: &Uid) -> bool {
    let is_moving = object.assessment.status() == Status::InProgress;
    let mut pods = unwell_pods(model, uid).into_iter();
    object.is_broken() || (is_moving && pods.any(ModelObject::is_broken))
}
