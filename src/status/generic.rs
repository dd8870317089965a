//! kstatus's rules for objects of every kind: deletion, generation, the standard conditions, and Ready.

use crate::object::Value;

use super::read::{self, Reading};
use super::verdict::Verdict;

/// Applies the rules that do not depend on the kind. They come before the rule of the kind.
pub(super) fn decide(object: Value<'_>) -> Reading<Option<Verdict>> {
    let deletion = read::text(object, &["metadata", "deletionTimestamp"])?;
    if deletion.is_some_and(|time| !time.is_empty()) {
        return Ok(Some(Verdict::terminating(
            "Resource scheduled for deletion",
        )));
    }
    if let Some(verdict) = by_generation(object)? {
        return Ok(Some(verdict));
    }
    for condition in read::conditions(object)? {
        if condition.is("Reconciling", "True") {
            return Ok(Some(Verdict::in_progress(
                condition.reason,
                condition.message,
            )));
        }
        if condition.is("Stalled", "True") {
            return Ok(Some(Verdict::failed(condition.reason, condition.message)));
        }
    }
    Ok(None)
}

/// `InProgress` while the controller has last observed another generation, older or newer.
fn by_generation(object: Value<'_>) -> Reading<Option<Verdict>> {
    let Some(generation) = read::int(object, &["metadata", "generation"])? else {
        return Ok(None);
    };
    let observed = read::int(object, &["status", "observedGeneration"])?;
    Ok(observed
        .filter(|observed| *observed != generation)
        .map(|observed| {
            let kind = read::text_or(object, &["kind"], "");
            Verdict::in_progress(
                "LatestGenerationNotObserved",
                format!(
                    "{kind} generation is {generation}, but latest observed generation is {observed}"
                ),
            )
        }))
}

/// Decides by the `Ready` condition, for kinds without a rule. Without that condition the object is Current.
pub(super) fn by_ready_condition(object: Value<'_>) -> Reading<Verdict> {
    for condition in read::conditions(object)? {
        if condition.kind != "Ready" {
            continue;
        }
        match &*condition.status {
            "True" => return Ok(Verdict::current("Resource is Ready")),
            "False" | "Unknown" => {
                return Ok(Verdict::in_progress(condition.reason, condition.message));
            }
            _ => {}
        }
    }
    Ok(Verdict::current("Resource is current"))
}
