//! `Outlook`: what a wait for an object can expect, by the judgement of the object and its dependents.

use crate::object::Uid;
use crate::status::{CauseRule, Recovery, Status};

use super::around::Around;
use super::object::ModelObject;

/// What a wait for an object can expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// The object and its dependents are Current.
    Current,
    /// They are not Current yet, for this reason.
    Pending(String),
    /// The object or a dependent has failed.
    Failed {
        /// Whether it can get well without help.
        recovery: Recovery,
        /// The problem, and the dependent that has it.
        reason: String,
    },
}

impl Outlook {
    /// What a wait for an object can expect; `None` if the object is not there.
    ///
    /// The dependents count if they have the current revision. Three kinds of them do not: Pods that have ended,
    /// because their owners replace or count them; objects that are being deleted; and the Jobs of a `CronJob`,
    /// because each is a run of its own. While a controller has not observed the newest generation, its dependents
    /// may have the old one, so nothing has failed yet.
    pub fn of(around: Around<'_>, uid: &Uid) -> Option<Outlook> {
        let object = around.object(uid);
        let object = object.filter(|object| object.departure.is_none())?;
        let own = &object.assessment;
        if !own.is_observed() {
            return Some(Outlook::Pending(own.reason().to_owned()));
        }
        let parts = object.parts.as_ref();
        let parts = parts.filter(|_| &*object.object.kind != "CronJob");
        let part = |uid: Option<&Uid>| around.object(uid?);
        let worst = part(parts.and_then(|parts| parts.failed.as_ref()));
        let late = part(parts.and_then(|parts| parts.late.as_ref()));
        Some(match (own.status(), worst) {
            (Status::Failed, worst) => Outlook::Failed {
                recovery: recovery(object, worst),
                reason: reason(object, worst.filter(|_| is_by_pods(object))),
            },
            (_, Some(part)) => Outlook::Failed {
                recovery: part.assessment.recovery(),
                reason: of_part(part),
            },
            (Status::Current, None) => match late {
                None => Outlook::Current,
                Some(part) => Outlook::Pending(of_part(part)),
            },
            (_, None) => Outlook::Pending(own.reason().to_owned()),
        })
    }

    /// Why the object is not Current; empty if it is.
    pub fn reason(&self) -> &str {
        match self {
            Outlook::Current => "",
            Outlook::Pending(reason) | Outlook::Failed { reason, .. } => reason,
        }
    }
}

/// Whether the Pods of the object are its problem, or the first of its problems.
fn is_by_pods(object: &ModelObject) -> bool {
    let first = object.assessment.causes.first().map(|cause| cause.rule);
    let rules = [object.assessment.verdict.rule, first];
    rules.contains(&Some(CauseRule::FailedPods))
}

/// The recovery of an object that has failed. If its Pods are the problem, the recovery is theirs.
fn recovery(object: &ModelObject, worst: Option<&ModelObject>) -> Recovery {
    let part = worst.map(|part| part.assessment.recovery());
    let own = object.assessment.recovery();
    match part {
        Some(part) if is_by_pods(object) && own == CauseRule::FailedPods.recovery() => part,
        Some(part) => own.max(part),
        None => own,
    }
}

/// `0 of 3 new pods ready: 1 ImagePullBackOff: pod/web-x: web: Back-off pulling image`.
fn reason(object: &ModelObject, part: Option<&ModelObject>) -> String {
    let own = object.assessment.reason();
    match part {
        Some(part) => format!("{own}: {}", of_part(part)),
        None => own.to_owned(),
    }
}

fn of_part(part: &ModelObject) -> String {
    format!("{}: {}", part.object, part.assessment.reason())
}
