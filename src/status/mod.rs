//! Judges objects: which state an object is in, kubectl's words for it, and why.
//!
//! The model is that of kstatus (`sigs.k8s.io/cli-utils`, `pkg/kstatus`). Everything here is a total
//! function of one object and the time: a malformed object gets a verdict too.

mod assessment;
mod diagnosis;
mod generic;
mod goal;
mod read;
mod refine;
mod review;
mod row;
mod rules;
mod verdict;

use jiff::Timestamp;

use crate::object::Value;

pub use assessment::{Assessment, Departure, RolloutCounts};
pub use diagnosis::{Cause, CauseRule, causes};
pub use goal::{Goal, GoalError, JsonPath};
pub use review::review_at;
pub use row::{Restarts, Row};
pub use verdict::{Condition, ConditionKind, Status, Verdict};

/// By which rules objects are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rules {
    /// Those of kstatus, messages and conditions included, as `sigs.k8s.io/cli-utils` v0.37.2 has
    /// them; a suspended Job alone is judged as later versions do (Current, "Job is suspended").
    Kstatus,
    /// Those of kstatus but for what it says of broken pods and replicas: a Pod whose phase is
    /// Failed is Failed, so is one with a container that waits for something that has gone wrong, and
    /// so is a workload whose `ReplicaFailure` is True.
    #[default]
    Spy,
}

/// Judges one object as it was at `now`. What the rules cannot read is [`Status::Unknown`], with the
/// reason in [`Verdict::error`].
pub fn compute(object: Value<'_>, now: Timestamp, rules: Rules) -> Verdict {
    judge(object, now, rules).unwrap_or_else(|error| Verdict::unknown(error.to_string()))
}

/// kstatus's order: what holds for every kind, then the rule of the kind, then a `Ready` condition.
fn judge(object: Value<'_>, now: Timestamp, rules: Rules) -> read::Reading<Verdict> {
    if rules == Rules::Kstatus {
        read::representable(object)?;
    }
    let kind = read::group_kind(object)?;
    if let Some(verdict) = generic::decide(object)? {
        return Ok(verdict);
    }
    let verdict = match rules::of(&kind) {
        Some(rule) => rule(object, now)?,
        None => generic::by_ready_condition(object)?,
    };
    match rules {
        Rules::Spy if verdict.status != Status::Failed => {
            Ok(refine::refine(object, &kind).unwrap_or(verdict))
        }
        Rules::Spy | Rules::Kstatus => Ok(verdict),
    }
}

#[cfg(test)]
mod tests;
