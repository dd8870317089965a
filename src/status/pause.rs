//! Custom resources that someone has paused on purpose: their controllers leave them as they are.

use crate::object::{StatusCondition, Value};

use super::cause::Cause;
use super::cause_rule::CauseRule;
use super::conditions::has_telling_names;
use super::verdict::Verdict;
use super::words::words_of;
use super::{custom, read};

/// Truth values of a spec that pause an object.
const SPEC: &[&str] = &["pause", "paused", "suspend", "suspended"];

/// Names of annotations that pause an object, after their prefixes: those of Crossplane, Cluster API and KEDA
/// (<https://docs.crossplane.io/latest/concepts/managed-resources/#paused>), Strimzi, and `CloudNativePG`.
const ANNOTATIONS: &[&str] = &[
    "hibernation",
    "pause-reconciliation",
    "paused",
    "paused-replicas",
];

/// Values of such annotations that do not pause.
const OFF: &[&str] = &["disabled", "false", "no", "off"];

/// Why an object is paused; `None` if it is not.
pub(super) fn sign(object: Value<'_>, kind: &str) -> Option<Cause> {
    if !has_telling_names(kind) {
        return None;
    }
    let mut fields = SPEC.iter();
    if let Some(field) = fields.find(|field| read::flag(object, &["spec", field])) {
        let is_suspended = field.starts_with("suspend");
        let (rule, text) = if is_suspended {
            (CauseRule::Suspended, "suspended")
        } else {
            (CauseRule::Paused, "paused")
        };
        return Some(Cause::new(rule, text));
    }
    let replicas = |path: &[&str]| object.i64_at(path);
    if replicas(&["spec", "replicas"]) == Some(0) && replicas(&["status", "replicas"]) <= Some(0) {
        return Some(Cause::new(CauseRule::ScaledToZero, "scaled to 0"));
    }
    let text = annotation(object)
        .or_else(|| condition(object))
        .or_else(|| custom::paused(object))?;
    Some(Cause::new(CauseRule::Paused, format!("paused: {text}")))
}

/// The verdict on an object that is paused and otherwise in progress: it is as someone wants it.
pub(super) fn settle(object: Value<'_>, kind: &str) -> Option<Verdict> {
    let sign = sign(object, kind)?;
    Some(Verdict::current(sign.text).by(sign.rule))
}

fn annotation(object: Value<'_>) -> Option<String> {
    let annotations = read::object_at(object, &["metadata", "annotations"])?;
    let mut names = annotations.fields();
    let (name, _) = names.find(|(name, value)| {
        let (_, own) = name.rsplit_once('/').unwrap_or_default();
        let value = value.as_str().unwrap_or_default();
        ANNOTATIONS.contains(&own) && !OFF.contains(&&*value)
    })?;
    Some(format!("annotation {name}"))
}

fn condition(object: Value<'_>) -> Option<String> {
    let conditions = read::conditions(object).unwrap_or_default();
    let found = conditions
        .into_iter()
        .find(|condition: &StatusCondition<'_>| {
            let pauses = |name: &str| {
                let words = words_of(name);
                let last = words.last().map(String::as_str);
                words.first().is_some_and(|first| first != "not")
                    && matches!(last, Some("paused" | "suspended"))
            };
            pauses(&condition.reason) || (condition.status == "True" && pauses(&condition.kind))
        })?;
    let (kind, status) = (found.kind, found.status);
    Some(match &*found.reason {
        "" => format!("{kind}={status}"),
        reason => format!("{kind}={status}: {reason}"),
    })
}
