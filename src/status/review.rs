//! When an assessment may change although the object does not.

use jiff::{SignedDuration, Timestamp};

use crate::object::Value;

use super::conditions::problems;
use super::{built_in, certificate, diagnosis, read, rules, runs};

/// How long controllers have for the first look at a new object.
const FIRST_SYNC: SignedDuration = SignedDuration::from_secs(5);

/// The first time after `now` at which [`compute`](super::compute) or [`causes`](super::causes) may give
/// another result for the same object; `None` if time changes nothing. By then a Pod has been unschedulable
/// for too long, is overdue for deletion, or has run long enough since its last restart. An object of another
/// kind is then no longer new, its problem has lasted long enough to be a failure, its certificate has expired, or its
/// next run is late, or can no longer be started.
pub fn review_at(object: Value<'_>, now: Timestamp) -> Option<Timestamp> {
    if let Some(newer) = built_in::with_conditions(object) {
        return review_at(newer.root(), now);
    }
    let kind = read::group_kind(object).ok()?;
    let moments = if kind == "Pod" {
        moments_of_pod(object)
    } else if kind == "Secret" {
        let mut moments = certificate::moments(object);
        let end = built_in::token_end(object);
        moments.extend(end.and_then(|end| end.checked_add(SignedDuration::from_secs(1)).ok()));
        moments
    } else {
        let problems = problems(object, &kind).into_iter();
        let settles = problems.filter_map(|problem| problem.settles());
        let runs = (kind == "batch/CronJob").then(|| runs::moments(object, now));
        let moments = started(object).into_iter().chain(settles);
        let expires = (kind == "cert-manager.io/Certificate").then(|| {
            moment(
                object,
                &["status", "notAfter"],
                SignedDuration::from_secs(1),
            )
        });
        moments
            .chain(runs.into_iter().flatten())
            .chain(expires.flatten())
            .collect()
    };
    moments.into_iter().filter(|moment| *moment > now).min()
}

fn moments_of_pod(object: Value<'_>) -> Vec<Timestamp> {
    let metadata = |key, after| moment(object, &["metadata", key], after);
    let restarts = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| object.items_at(&["status", list]))
        .filter_map(|status| {
            let path = ["lastState", "terminated", "finishedAt"];
            moment(status, &path, diagnosis::RECENT)
        });
    started(object)
        .into_iter()
        .chain(metadata("deletionTimestamp", diagnosis::SLACK))
        .chain(restarts)
        .collect()
}

/// Whether an object is so new that its controllers need not have looked at it yet.
pub fn is_starting(object: Value<'_>, now: Timestamp) -> bool {
    started(object).is_some_and(|started| started > now)
}

fn started(object: Value<'_>) -> Option<Timestamp> {
    let is_pod = object.str_at(&["kind"]).as_deref() == Some("Pod");
    let after = if is_pod {
        rules::SCHEDULE_WINDOW
    } else {
        FIRST_SYNC
    };
    moment(object, &["metadata", "creationTimestamp"], after)
}

/// The time at a path, plus `after`.
fn moment(object: Value<'_>, path: &[&str], after: SignedDuration) -> Option<Timestamp> {
    object.time_at(path)?.checked_add(after).ok()
}
