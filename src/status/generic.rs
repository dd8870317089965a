//! kstatus's rules for objects of every kind: deletion, generation, the standard conditions, and Ready.

use crate::object::Value;

use super::Rules;
use super::cause_rule::{self, Explanation};
use super::read::{self, ReadResult};
use super::verdict::Verdict;

/// kstatus's reason for an object whose controller has observed another generation.
pub(super) const NOT_OBSERVED: &str = "LatestGenerationNotObserved";

const DELETION: Explanation = Explanation {
    name: "kstatus deletion",
    finds: "The object has a deletion timestamp.",
    source: cause_rule::KSTATUS_GENERIC,
};
const GENERATION: Explanation = Explanation {
    name: "kstatus generation",
    finds: "The controller has not yet observed the newest generation of the spec.",
    source: cause_rule::KSTATUS_GENERIC,
};
const CONDITIONS: Explanation = Explanation {
    name: "kstatus conditions",
    finds: "The condition Reconciling or Stalled is True.",
    source: cause_rule::KSTATUS_GENERIC,
};
const READY: Explanation = Explanation {
    name: "kstatus Ready",
    finds: "An object of another kind is Current unless its condition Ready is False or Unknown.",
    source: cause_rule::KSTATUS_GENERIC,
};

/// The rules for all kinds.
#[cfg(any(test, feature = "testing"))]
pub(super) const RULES: [&Explanation; 4] = [&DELETION, &GENERATION, &CONDITIONS, &READY];

/// Applies the rules that do not depend on the kind. They come before the rule of the kind.
pub(super) fn decide(object: Value<'_>, rules: Rules) -> ReadResult<Option<Verdict>> {
    let deletion = read::text(object, &["metadata", "deletionTimestamp"])?;
    if deletion.is_some_and(|time| !time.is_empty()) {
        let verdict = Verdict::terminating("Resource scheduled for deletion");
        return Ok(Some(verdict.decided_by(&DELETION)));
    }
    if let Some(verdict) = by_generation(object, rules)? {
        return Ok(Some(verdict.decided_by(&GENERATION)));
    }
    for condition in read::conditions(object)? {
        if condition.is("Reconciling", "True") {
            let verdict = Verdict::in_progress(condition.reason, condition.message);
            return Ok(Some(verdict.decided_by(&CONDITIONS)));
        }
        if condition.is("Stalled", "True") {
            let verdict = Verdict::failed(condition.reason, condition.message);
            return Ok(Some(verdict.decided_by(&CONDITIONS)));
        }
    }
    Ok(None)
}

/// `InProgress` while the controller has last observed another generation, older or newer.
fn by_generation(object: Value<'_>, rules: Rules) -> ReadResult<Option<Verdict>> {
    let Some(generation) = read::int(object, &["metadata", "generation"])? else {
        return Ok(None);
    };
    let path = ["status", "observedGeneration"];
    let observed = match rules {
        Rules::Kstatus => read::int(object, &path)?,
        // It is a text in a Rollout of Argo (<https://github.com/argoproj/argo-rollouts/issues/4672>). Old ones have a hash
        // there, which may have digits only.
        Rules::Spy => (object.i64_at(&path)).or_else(|| {
            let observed = object.str_at(&path)?.parse().ok();
            observed.filter(|observed| *observed <= generation)
        }),
    };
    Ok(observed
        .filter(|observed| *observed != generation)
        .map(|observed| {
            let kind = read::text_or(object, &["kind"], "");
            Verdict::in_progress(
                NOT_OBSERVED,
                format!(
                    "{kind} generation is {generation}, but latest observed generation is {observed}"
                ),
            )
        }))
}

/// Decides by the `Ready` condition, for kinds without a rule. Without that condition the object is Current.
pub(super) fn by_ready_condition(object: Value<'_>) -> ReadResult<Verdict> {
    for condition in read::conditions(object)? {
        if condition.kind != "Ready" {
            continue;
        }
        match &*condition.status {
            "True" => return Ok(Verdict::current("Resource is Ready").decided_by(&READY)),
            "False" | "Unknown" => {
                let verdict = Verdict::in_progress(condition.reason, condition.message);
                return Ok(verdict.decided_by(&READY));
            }
            _ => {}
        }
    }
    Ok(Verdict::current("Resource is current").decided_by(&READY))
}
