//! Finds the causes of an object's state: one line for each cause, from the object alone.
//!
//! A cause's text contains no age, so it changes only when the cause changes.

mod autoscaler;
mod container;
mod note;
mod pod;
mod workload;

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::object::Value;

use super::cause::{Cause, sentence};
use super::cause_rule::CauseRule;
use super::conditions::{has_telling_names, problems};
use super::generic::NOT_OBSERVED;
use super::state::Status;
use super::verdict::Verdict;
use super::{built_in, read, rules};

pub(super) use container::{RECENT, WaitReason};
pub(super) use note::{budget, cron_job};
pub(super) use pod::SLACK;

/// Finds the causes of `verdict`, the most useful first. Most Current objects have none.
pub fn causes(object: Value<'_>, verdict: &Verdict, now: Timestamp) -> Vec<Cause> {
    if let Some(newer) = built_in::with_conditions(object) {
        return causes(newer.root(), verdict, now);
    }
    let kind = read::group_kind(object).unwrap_or_default();
    if let Some(error) = &verdict.error {
        let lost = pod::lost(object).filter(|_| kind == "Pod");
        return vec![lost.unwrap_or_else(|| Cause::new(CauseRule::Unreadable, error.clone()))];
    }
    if verdict.status == Status::Terminating {
        return terminating(object, &kind, now);
    }
    let mut causes = match kind.as_str() {
        "Pod" => pod::causes(object, verdict.status, now),
        _ => workload::causes(object, &kind, verdict.status),
    };
    let mut others = [note::notes(object, &kind), of_conditions(object, &kind)];
    if has_telling_names(&kind) && verdict.status != Status::Current {
        others.reverse();
    }
    causes.extend(others.into_iter().flatten());
    if causes.is_empty() || is_untold(verdict, &kind, &causes) {
        causes.splice(0..0, of_verdict(verdict, &kind));
    }
    Cause::drop_bare(&mut causes);
    causes
}

/// Whether the causes leave out what has decided. A custom resource may report its failure in one condition and its
/// readiness in another. The causes of a Pod are more exact than its verdict.
fn is_untold(verdict: &Verdict, kind: &str, causes: &[Cause]) -> bool {
    let has = |rule| causes.iter().any(|cause| cause.rule == rule);
    let reason = verdict.conditions.first().map(|one| &one.reason);
    let told = reason.filter(|_| verdict.message.is_empty());
    let told = told.unwrap_or(&verdict.message);
    let is_told = causes.iter().any(|cause| cause.text.contains(told));
    let is_custom = rules::of(kind).is_none();
    let has_failed = verdict.status == Status::Failed;
    let says_more = has_failed || causes.iter().all(Cause::is_bare);
    match verdict.rule {
        Some(rule) => kind != "Pod" && !has(rule) && !is_told,
        None => is_custom && says_more && !is_told,
    }
}

/// The causes in an object's conditions, the decisive one first. Conditions that repeat an earlier message are left out. What
/// is only unknown waits for the others.
fn of_conditions(object: Value<'_>, kind: &str) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    let mut messages = BTreeSet::new();
    let mut problems = problems(object, kind);
    if problems.iter().any(|problem| !problem.is_unknown()) {
        problems.retain(|problem| !problem.is_unknown());
    }
    for problem in problems {
        let message = &problem.condition.message;
        if message.is_empty() || messages.insert(message.clone().into_owned()) {
            causes.push(Cause::new(problem.rule, problem.text()));
        }
    }
    causes
}

/// The cause in the verdict itself, for objects without a more specific cause. Counts that are still too low
/// are progress, not a cause.
fn of_verdict(verdict: &Verdict, kind: &str) -> Option<Cause> {
    let condition = verdict.conditions.first()?;
    if let Some(rule) = verdict.rule {
        let text = match condition.message.trim() {
            "" => &condition.reason,
            message => message,
        };
        return Some(Cause::new(rule, text));
    }
    let rule = match verdict.status {
        Status::Failed => CauseRule::Failed,
        _ if condition.reason == NOT_OBSERVED => CauseRule::NotObserved,
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
    let mut causes = of_conditions(object, kind);
    let own = object.items_at(&["metadata", "finalizers"]);
    // This finalizer in the spec of a namespace only waits for what its conditions report.
    let is_reported =
        |name: &Value<'_>| name.as_str().as_deref() == Some("kubernetes") && !causes.is_empty();
    let of_spec = object.items_at(&["spec", "finalizers"]);
    let finalizers = own.chain(of_spec.filter(|name| !is_reported(name)));
    let finalizers: Vec<_> = finalizers.filter_map(Value::as_str).collect();
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

#[cfg(test)]
mod tests;
