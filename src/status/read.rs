//! Reads fields as kstatus does: some fields of a wrong type are errors, others count as absent.
//!
//! kstatus reads with functions of `k8s.io/apimachinery` (`unstructured.Nested*`,
//! `runtime.DefaultUnstructuredConverter`). Their rules are these. A field below `null` is absent. A field
//! below any other non-object is an error. A field that is itself `null` exists and has the wrong type. An
//! integer is a number without fraction and exponent that fits `int64`.

use std::borrow::Cow;

use crate::object::{Kind, StatusCondition, Value};

/// A value, or why the status of the object cannot be computed.
pub(super) type ReadResult<T> = Result<T, Unreadable>;

/// Why the status of an object cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// It is not a JSON object.
    #[error("the object is {0}, expected an object")]
    Root(&'static str),
    /// A number is out of the range of a double.
    #[error("number {0} is out of range")]
    Number(String),
    /// It has no kind, or its `apiVersion` is malformed, which hides the kind.
    #[error("the object has no kind")]
    Kind,
    /// A field has the wrong type.
    #[error("{path} is {found}, expected {expected}")]
    Field {
        /// The dotted path of the field.
        path: String,
        /// Its type.
        found: &'static str,
        /// The expected type.
        expected: &'static str,
    },
    /// A Pod has an unknown phase.
    #[error("unknown phase {0}")]
    Phase(String),
}

/// Rejects an object that kstatus's JSON decoder rejects: one with a number that overflows a double.
pub(super) fn representable(value: Value<'_>) -> ReadResult<()> {
    match value.kind() {
        Kind::Number if value.as_f64().is_none_or(f64::is_infinite) => {
            Err(Unreadable::Number(value.raw().to_owned()))
        }
        Kind::Object => value.fields().try_for_each(|(_, item)| representable(item)),
        Kind::Array => value.items().try_for_each(representable),
        _ => Ok(()),
    }
}

/// `GROUP/KIND` of an object, or `KIND` for the core group.
pub(super) fn group_kind(object: Value<'_>) -> ReadResult<String> {
    if object.kind() != Kind::Object {
        return Err(Unreadable::Root(object.kind().with_article()));
    }
    let api_version = text_or(object, &["apiVersion"], "");
    let kind = text_or(object, &["kind"], "");
    if kind.is_empty() || api_version.matches('/').count() > 1 {
        return Err(Unreadable::Kind);
    }
    Ok(match api_version.split_once('/') {
        None | Some(("", _)) => kind.into_owned(),
        Some((group, _)) => format!("{group}/{kind}"),
    })
}

/// The value at a path, which may be `null`.
pub(super) fn nested<'a>(object: Value<'a>, path: &[&str]) -> ReadResult<Option<Value<'a>>> {
    let mut value = object;
    for (depth, key) in path.iter().enumerate() {
        if value.is_null() {
            return Ok(None);
        }
        if value.kind() != Kind::Object {
            return Err(mismatch(value, &path[..depth], "an object"));
        }
        match value.get(key) {
            Some(inner) => value = inner,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// The integer at a path. A value of another type is an error.
pub(super) fn int(object: Value<'_>, path: &[&str]) -> ReadResult<Option<i64>> {
    let Some(value) = nested(object, path)? else {
        return Ok(None);
    };
    match value.as_i64() {
        Some(number) => Ok(Some(number)),
        None => Err(mismatch(value, path, "an integer")),
    }
}

/// The string at a path. A value of another type is an error.
pub(super) fn text<'a>(object: Value<'a>, path: &[&str]) -> ReadResult<Option<Cow<'a, str>>> {
    let Some(value) = nested(object, path)? else {
        return Ok(None);
    };
    match value.as_str() {
        Some(text) => Ok(Some(text)),
        None => Err(mismatch(value, path, "a string")),
    }
}

/// The integer at a path, or the default if there is none.
pub(super) fn int_or(object: Value<'_>, path: &[&str], default: i64) -> i64 {
    object.i64_at(path).unwrap_or(default)
}

/// The string at a path, or the default if there is none.
pub(super) fn text_or<'a>(object: Value<'a>, path: &[&str], default: &'a str) -> Cow<'a, str> {
    object.str_at(path).unwrap_or(Cow::Borrowed(default))
}

/// The truth value at a path; false if there is none.
pub(super) fn flag(object: Value<'_>, path: &[&str]) -> bool {
    object.bool_at(path).unwrap_or(false)
}

/// The object at a path; a value of another type counts as absent.
pub(super) fn object_at<'a>(object: Value<'a>, path: &[&str]) -> Option<Value<'a>> {
    object.at(path).filter(|value| value.kind() == Kind::Object)
}

/// `status.conditions` in their order. A value of another type is an error.
pub(super) fn conditions(object: Value<'_>) -> ReadResult<Vec<StatusCondition<'_>>> {
    const PATH: [&str; 2] = ["status", "conditions"];
    let Some(list) = nested(object, &PATH)?.filter(|list| !list.is_null()) else {
        return Ok(Vec::new());
    };
    if list.kind() != Kind::Array {
        return Err(mismatch(list, &PATH, "a list"));
    }
    list.items().map(condition).collect()
}

fn condition(condition: Value<'_>) -> ReadResult<StatusCondition<'_>> {
    if !matches!(condition.kind(), Kind::Object | Kind::Null) {
        return Err(mismatch(
            condition,
            &["status", "conditions[]"],
            "an object",
        ));
    }
    for key in ["type", "status", "reason", "message"] {
        let value = condition.get(key).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|value| value.kind() != Kind::String) {
            return Err(mismatch(
                value,
                &["status", "conditions[]", key],
                "a string",
            ));
        }
    }
    Ok(StatusCondition::of(condition))
}

/// The error for a value of the wrong type.
pub(super) fn mismatch(value: Value<'_>, path: &[&str], expected: &'static str) -> Unreadable {
    Unreadable::Field {
        path: path
            .iter()
            .fold(String::new(), |path, key| path + "." + key),
        found: value.kind().with_article(),
        expected,
    }
}
