//! Finds the causes of an object's state: one line for each cause, from the object alone.
//!
//! A cause's text contains no age, so it changes only when the cause changes.

mod conditions;
mod container;
mod pod;
mod rule;
mod workload;

use jiff::Timestamp;

use crate::object::Value;

use super::verdict::{Status, Verdict};
use super::{read, rules};

pub(super) use container::{RECENT, WaitReason};
pub(super) use pod::SLACK;
pub use rule::CauseRule;

/// One reason for the state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The rule that found it.
    pub rule: CauseRule,
    /// The text, on one or more lines: `web: Back-off pulling image "nginx:nope"`. Much of it is cluster
    /// text, which is not escaped.
    pub text: String,
}

impl Cause {
    fn new(rule: CauseRule, text: impl Into<String>) -> Cause {
        Cause {
            rule,
            text: text.into(),
        }
    }
}

/// Finds the causes of `verdict`, the most useful first. Most Current objects have none.
pub fn causes(object: Value<'_>, verdict: &Verdict, now: Timestamp) -> Vec<Cause> {
    if let Some(error) = &verdict.error {
        return vec![Cause::new(CauseRule::Unreadable, error.clone())];
    }
    let kind = read::group_kind(object).unwrap_or_default();
    if verdict.status == Status::Terminating {
        return terminating(object, &kind, now);
    }
    let mut causes = match kind.as_str() {
        "Pod" => pod::causes(object, verdict.status, now),
        _ => workload::causes(object, &kind, verdict.status),
    };
    causes.extend(conditions::abnormal(object, &kind));
    if causes.is_empty() {
        causes.extend(of_verdict(verdict, &kind));
    }
    causes
}

/// The cause in the verdict itself, for objects without a more specific cause. Counts that are still too low
/// are progress, not a cause.
fn of_verdict(verdict: &Verdict, kind: &str) -> Option<Cause> {
    let condition = verdict.conditions.first()?;
    let rule = match verdict.status {
        Status::Failed => CauseRule::Failed,
        _ if condition.reason == "LatestGenerationNotObserved" => CauseRule::NotObserved,
        Status::InProgress if rules::of(kind).is_none() => CauseRule::NotReady,
        _ => return None,
    };
    let text = if rule == CauseRule::NotObserved {
        verdict.message.clone()
    } else {
        sentence(&condition.reason, &condition.message)
    };
    Some(Cause::new(rule, text))
}

/// The causes that keep an object that is being deleted.
fn terminating(object: Value<'_>, kind: &str, now: Timestamp) -> Vec<Cause> {
    let mut causes = conditions::abnormal(object, kind);
    let finalizers: Vec<_> = [["metadata", "finalizers"], ["spec", "finalizers"]]
        .iter()
        .flat_map(|path| object.items_at(path))
        .filter_map(Value::as_str)
        .collect();
    if !finalizers.is_empty() {
        causes.push(Cause::new(
            CauseRule::Finalizers,
            format!("waiting for finalizers: {}", finalizers.join(", ")),
        ));
    } else if kind == "Pod" {
        causes.extend(pod::overdue(object, now));
    }
    causes
}

/// `REASON: MESSAGE`, or only one of them if the other is empty.
fn sentence(reason: &str, message: &str) -> String {
    match (reason.trim(), message.trim()) {
        ("", "") => "no reason given".to_owned(),
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

#[cfg(test)]
mod tests;
