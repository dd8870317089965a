//! `Failure`: an object that has failed, and why.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::graph::Standing;
use crate::model::{Model, ModelObject, Root, isolating_policies, was_closed_out_lately};
use crate::object::Uid;
use crate::object::managed_fields::entries;
use crate::status::{CauseRule, Status};

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

/// The objects that have failed or report a problem. A workload on its way has the problems of its Pods, such as a probe
/// that fails. Of those that are well, nodes that are closed, `DaemonSets` that were closed out lately, and what was scaled.
pub(super) fn broken(
    model: &Model,
    objects: impl Iterator<Item = Uid>,
    now: Timestamp,
) -> Vec<(&ModelObject, Uid)> {
    let above_pods = LazyCell::new(|| above_broken_pods(model));
    let is_broken = |object: &ModelObject, uid: &Uid| match object.assessment.status() {
        Status::Current if object.assessment.has_cause(CauseRule::KeptOut) => {
            was_closed_out_lately(model.around(), uid, now)
        }
        Status::Current => {
            let closed = [CauseRule::Cordoned, CauseRule::Tainted];
            let is_closed = closed.iter().any(|rule| object.assessment.has_cause(*rule));
            is_closed
                || !isolating_policies(model.around(), uid).is_empty()
                || was_scaled(model, uid)
        }
        Status::InProgress => object.is_broken() || above_pods.contains(uid),
        Status::Terminating => object.assessment.has_cause(CauseRule::Finalizers),
        _ => object.is_broken(),
    };
    let objects = objects.filter_map(|uid| Some((model.object(&uid)?, uid)));
    objects
        .filter(|(object, uid)| is_broken(object, uid))
        .collect()
}

/// Whether the scale of a named object was ever written, as `kubectl scale` and an autoscaler do. The API server records no
/// time of such a write.
fn was_scaled(model: &Model, uid: &Uid) -> bool {
    let is_named = model.roots().get(uid).is_some_and(Root::is_named);
    let doc = is_named.then(|| model.doc(uid)).flatten();
    doc.is_some_and(|doc| {
        let mut entries = entries(doc.root()).into_iter();
        entries.any(|entry| &*entry.subresource == "scale")
    })
}

/// What is above the broken Pods of current revisions.
fn above_broken_pods(model: &Model) -> BTreeSet<Uid> {
    let mut standings = model.graph().standings();
    let pods = model
        .objects()
        .filter(|(_, object)| &*object.object.kind == "Pod" && object.is_broken());
    let current = pods.filter(|(uid, _)| standings.of(uid) == Standing::Current);
    model.graph().with_above(current.map(|(uid, _)| uid))
}
