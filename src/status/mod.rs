//! Assesses objects: the state of an object, kubectl's words for it, and its causes.
//!
//! The model is that of kstatus (`sigs.k8s.io/cli-utils`, `pkg/kstatus`). Everything here is a total function
//! of one object and the time: a malformed object gets a verdict too.

mod admission;
mod assessment;
mod built_in;
mod cause;
mod cause_rule;
mod certificate;
mod conditions;
mod custom;
mod diagnosis;
mod generic;
mod goal;
mod parts;
mod pause;
mod polarity;
mod read;
mod refine;
mod review;
mod row;
mod rules;
mod runs;
mod schedule;
mod state;
mod verdict;
mod warning;
mod words;

use jiff::Timestamp;

use crate::object::Value;

pub use admission::{
    missing_object, refusing_policy, refusing_quota, short_refusal, uncalled_service,
    uncalled_webhook,
};
pub use assessment::{Assessment, Departure};
pub use cause::{Cause, Finding};
pub use cause_rule::{CauseRule, Explanation, Recovery};
#[cfg(test)]
pub(crate) use certificate::CERTIFICATE_OF_WEB;
pub use certificate::CertificateNames;
pub use diagnosis::causes;
pub use goal::{Goal, GoalError, JsonPath};
pub use review::{is_starting, review_at};
pub use row::{Restarts, Row};
pub use runs::{MAX_MISSED, held_since, missed_starts, next_start};
pub use state::Status;
pub use verdict::{Condition, ConditionKind, Verdict};

/// The rules that decide an object's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, clap::ValueEnum)]
pub enum Rules {
    /// kstatus's rules, and the problems that they miss: containers that wait because of an error, replicas that
    /// cannot be created, running Jobs, violated budgets, and conditions that report a problem.
    #[default]
    #[value(help = "The rules of kstatus, and problems that kstatus does not check")]
    Spy,
    /// kstatus's rules, messages and conditions, as in `sigs.k8s.io/cli-utils` v0.37.2. One exception follows
    /// later versions: a suspended Job is Current ("Job is suspended").
    #[value(help = "Exactly the rules of kstatus (sigs.k8s.io/cli-utils)")]
    Kstatus,
}

/// The explanations of all rules: those of kstatus, those that refine its verdicts, and those that find causes.
#[cfg(any(test, feature = "testing"))]
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    let kinds = rules::KINDS.iter().map(|rule| &rule.explanation);
    let base = generic::RULES.into_iter().chain(kinds);
    base.chain(refine::RULES).chain(CauseRule::ALL)
}

/// Computes the status of one object at `now`. If the rules cannot read the object, the status is
/// [`Status::Unknown`] and [`Verdict::error`] holds the reason.
pub fn compute(object: Value<'_>, now: Timestamp, rules: Rules) -> Verdict {
    judge(object, now, rules).unwrap_or_else(|error| Verdict::unknown(error.to_string()))
}

/// kstatus's order: the rules for every kind, then the rule of the kind, then the `Ready` condition.
fn judge(object: Value<'_>, now: Timestamp, rules: Rules) -> read::ReadResult<Verdict> {
    if rules == Rules::Kstatus {
        read::representable(object)?;
    }
    let kind = read::group_kind(object)?;
    if let Some(newer) = built_in::with_conditions(object).filter(|_| rules == Rules::Spy) {
        return judge(newer.root(), now, rules);
    }
    if let Some(verdict) = generic::decide(object, rules)? {
        return Ok(verdict);
    }
    let verdict = match rules::of(&kind) {
        Some(rule) => rule.decide(object, now)?,
        None => generic::by_ready_condition(object)?,
    };
    Ok(match rules {
        Rules::Spy => refine::refine(object, &kind, now, verdict),
        Rules::Kstatus => verdict,
    })
}

#[cfg(test)]
mod tests;
