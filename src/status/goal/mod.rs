//! What `--for` waits for, in the words of `kubectl wait`: a condition, a value at a `JSONPath`, that an
//! object is there, or that it is gone
//! (<https://kubernetes.io/docs/reference/kubectl/generated/kubectl_wait/>).

mod json_path;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::object::{StatusCondition, Value, conditions};
pub use json_path::JsonPath;

/// What an object has to come to.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// `condition=TYPE[=STATUS]`: the condition has this status (`true` by default), as the newest
    /// generation of the object left it. Both are compared regardless of case.
    Condition {
        /// The condition's type.
        kind: String,
        /// The status it must have.
        status: String,
    },
    /// `jsonpath=EXPRESSION[=VALUE]`: there is one value at the place, and it is this one.
    JsonPath {
        /// The place.
        path: JsonPath,
        /// The value; any will do if there is none.
        value: Option<String>,
    },
    /// `create`: the object is there.
    Created,
    /// `delete`: the object is gone.
    Deleted,
}

/// Why the value of `--for` cannot be read, in kubectl's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// It begins with none of the known words.
    #[error("unrecognized condition: {0:?}")]
    Unrecognized(String),
    /// Not an expression, or an expression and a value.
    #[error(
        "jsonpath wait format must be --for=jsonpath='{{.status.readyReplicas}}'=3 or --for=jsonpath='{{.status.readyReplicas}}'"
    )]
    Format,
    /// Nothing after the equal sign.
    #[error("jsonpath wait has to have a value after equal sign")]
    NoValue,
    /// The expression is none.
    #[error("cannot read the JSONPath {expression:?}: {cause}")]
    Expression {
        /// As it was written.
        expression: String,
        /// Where it cannot be read, and why.
        cause: String,
    },
}

impl FromStr for Goal {
    type Err = GoalError;

    fn from_str(text: &str) -> Result<Goal, GoalError> {
        match text.split_once('=') {
            None if text.eq_ignore_ascii_case("delete") => Ok(Goal::Deleted),
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
    /// As it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Condition { kind, status } => write!(f, "condition={kind}={status}"),
            Goal::JsonPath { path, value: None } => write!(f, "jsonpath={path}"),
            Goal::JsonPath {
                path,
                value: Some(value),
            } => write!(f, "jsonpath={path}={value}"),
            Goal::Created => f.write_str("create"),
            Goal::Deleted => f.write_str("delete"),
        }
    }
}

impl Goal {
    /// Whether an object has come to it; `None` is an object that is not there.
    pub fn is_met(&self, object: Option<Value<'_>>) -> bool {
        match (self, object) {
            (Goal::Deleted, object) => object.is_none(),
            (_, None) => false,
            (Goal::Created, Some(_)) => true,
            (Goal::Condition { kind, status }, Some(object)) => {
                has_condition(object, kind, status).unwrap_or(false)
            }
            (Goal::JsonPath { path, value }, Some(object)) => path.holds(object, value.as_deref()),
        }
    }
}

/// Whether the first condition of this type that has a status has this one. A condition that speaks of
/// an older generation than the object's is no answer.
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
