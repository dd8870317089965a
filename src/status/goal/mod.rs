//! The goals of `--for`, with the syntax of `kubectl wait`: a condition, a value at a `JSONPath`, creation or
//! deletion (<https://kubernetes.io/docs/reference/kubectl/generated/kubectl_wait/>).

mod json_path;
mod multipliers;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::object::{StatusCondition, Value, conditions};
pub use json_path::JsonPath;

/// A state that an object has to reach.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// `condition=TYPE[=STATUS]`: the condition has this status (default: `true`) for the object's newest
    /// generation. Case does not matter.
    Condition {
        /// The condition's type.
        kind: String,
        /// The status it must have.
        status: String,
    },
    /// `jsonpath=EXPRESSION[=VALUE]`: the expression selects exactly one value, and it equals `VALUE`.
    JsonPath {
        /// The expression.
        path: JsonPath,
        /// The expected value; `None` accepts any value.
        value: Option<String>,
    },
    /// `current`: the object and its dependents are Current. One version of the object does not show that, so
    /// [`Goal::is_met`] is false.
    Current,
    /// `settled`: the object and its dependents are Current, and nothing below it is still being deleted. One version of the
    /// object does not show that, either.
    Settled,
    /// `create`: the object exists.
    Created,
    /// `delete`: the object does not exist.
    Deleted,
}

/// Why a value of `--for` does not parse. The first three messages are kubectl's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// It starts with no known keyword.
    #[error("unrecognized condition: {0:?}")]
    Unrecognized(String),
    /// It is not one expression, with or without braces around it: kubectl's words.
    #[error(
        "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{{name1.name2}}' or '{{.name1.name2}}'"
    )]
    Path,
    /// The expression is empty.
    #[error(
        "jsonpath wait format must be --for=jsonpath='{{.status.readyReplicas}}'=3 or --for=jsonpath='{{.status.readyReplicas}}'"
    )]
    Format,
    /// No value follows the equal sign.
    #[error(
        "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{{.status.readyReplicas}}'=3"
    )]
    NoValue,
    /// The expression does not parse.
    #[error("cannot read the JSONPath {expression:?}: {cause}")]
    Expression {
        /// The expression, as the user wrote it.
        expression: String,
        /// The parser's message.
        cause: String,
    },
}

impl FromStr for Goal {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Goal, GoalError> {
        let is_one = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        match text.split_once('=') {
            None if is_one(&["current", "ready"]) => Ok(Goal::Current),
            None if is_one(&["settled"]) => Ok(Goal::Settled),
            None if is_one(&["delete", "deleted"]) => Ok(Goal::Deleted),
            None if text.eq_ignore_ascii_case("create") => Ok(Goal::Created),
            Some(("condition", condition)) if !condition.is_empty() => {
                let (kind, status) = condition.split_once('=').unwrap_or((condition, "true"));
                Ok(Goal::Condition {
                    kind: kind.to_owned(),
                    status: status.to_owned(),
                })
            }
            Some(("jsonpath", rest)) => {
                let (path, value) = json_path::split(rest)?;
                Ok(Goal::JsonPath { path, value })
            }
            _ => Err(GoalError::Unrecognized(text.to_owned())),
        }
    }
}

impl fmt::Display for Goal {
    /// Writes the goal in the syntax of `--for`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Condition { kind, status } => write!(f, "condition={kind}={status}"),
            Goal::JsonPath { path, value: None } => write!(f, "jsonpath={path}"),
            Goal::JsonPath {
                path,
                value: Some(value),
            } => write!(f, "jsonpath={path}={value}"),
            Goal::Current => f.write_str("current"),
            Goal::Settled => f.write_str("settled"),
            Goal::Created => f.write_str("create"),
            Goal::Deleted => f.write_str("delete"),
        }
    }
}

impl Goal {
    /// Whether the goal is about the object with its dependents, so that it needs a judgement of them.
    pub fn is_judged(&self) -> bool {
        matches!(self, Goal::Current | Goal::Settled)
    }

    /// Whether the object has reached the goal. `object` is `None` if the object does not exist.
    pub fn is_met(&self, object: Option<Value<'_>>) -> bool {
        match (self, object) {
            (Goal::Deleted, object) => object.is_none(),
            (_, None) | (Goal::Current | Goal::Settled, Some(_)) => false,
            (Goal::Created, Some(_)) => true,
            (Goal::Condition { kind, status }, Some(object)) => {
                has_condition(object, kind, status).unwrap_or(false)
            }
            (Goal::JsonPath { path, value }, Some(object)) => path.holds(object, value.as_deref()),
        }
    }
}

/// Whether the first condition of this type that has a status has this status; `None` without such a
/// condition. A condition that describes an older generation of the object does not match.
fn has_condition(object: Value<'_>, kind: &str, status: &str) -> Option<bool> {
    let is_meant = |condition: &StatusCondition<'_>| {
        condition.kind.eq_ignore_ascii_case(kind) && !condition.status.is_empty()
    };
    let condition = conditions(object).find(is_meant)?;
    let observed = condition
        .observed_generation()
        .or_else(|| object.i64_at(&["status", "observedGeneration"]));
    let generation = object.i64_at(&["metadata", "generation"]);
    if let (Some(observed), Some(generation)) = (observed, generation)
        && observed < generation
    {
        return Some(false);
    }
    Some(condition.status.eq_ignore_ascii_case(status))
}
