//! Reads kubectl's `JSONPath` expressions.
//!
//! kubectl's dialect (<https://kubernetes.io/docs/reference/kubectl/jsonpath/>) is older than RFC 9535. An
//! expression stands in braces, and its `$` and its first dot are optional. A name after a dot may hold any
//! character; `\.` is a dot in a name. This module rewrites an expression to RFC 9535; a library parses and
//! evaluates it.

use std::fmt;

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use serde_json::Value as Json;

use super::GoalError;
use super::multipliers::{Multipliers, TOO_MANY};
use crate::object::Value;

/// An expression that selects values in an object.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    written: String,
    query: JpQuery,
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl JsonPath {
    /// Parses an expression, with or without braces.
    pub fn parse(written: &str) -> Result<JsonPath, GoalError> {
        if written.is_empty() {
            return Err(GoalError::Format);
        }
        let inner = written
            .strip_prefix('{')
            .map_or(Some(written), |rest| rest.strip_suffix('}'))
            .map(str::trim)
            .filter(|inner| !inner.is_empty() && !is_several(inner))
            .ok_or(GoalError::Path)?;
        let error = |cause: String| GoalError::Expression {
            expression: written.to_owned(),
            cause,
        };
        let standard = standard(inner);
        let query = parse_json_path(&standard).map_err(|cause| error(cause.to_string()))?;
        if !Multipliers::of(&query).are_few() {
            return Err(error(TOO_MANY.to_owned()));
        }
        Ok(JsonPath {
            written: written.to_owned(),
            query,
        })
    }

    /// The first value that the expression selects in an object, if any.
    pub fn first(&self, object: Value<'_>) -> Option<Json> {
        let object = serde_json::from_str::<Json>(object.raw()).ok()?;
        let found = js_path_process(&self.query, &object).ok()?;
        Some(found.first()?.clone().val().clone())
    }

    /// Whether the expression selects exactly one value, and that value equals `expected`, if given. As in
    /// kubectl, objects and lists equal nothing, and spaces around a value are ignored.
    pub(super) fn holds(&self, object: Value<'_>, expected: Option<&str>) -> bool {
        let Ok(object) = serde_json::from_str::<Json>(object.raw()) else {
            return false;
        };
        let Ok(found) = js_path_process(&self.query, &object) else {
            return false;
        };
        let [found] = &found[..] else {
            return false;
        };
        let found = found.clone().val();
        let Some(expected) = expected.map(str::trim) else {
            return true;
        };
        match found {
            Json::Object(_) | Json::Array(_) => false,
            Json::String(text) => text.trim() == expected,
            Json::Null => expected == "<nil>",
            Json::Bool(truth) => truth.to_string() == expected,
            Json::Number(number) => number.to_string() == expected,
        }
    }
}

/// Whether a text without the braces around it is more than an expression: it is quoted, or has other braces outside of brackets.
fn is_several(inner: &str) -> bool {
    let is_brace = |(_, c, depth): (usize, char, usize)| matches!((c, depth), ('{', 1) | ('}', 0));
    inner.starts_with(['\'', '"']) || depths(inner).any(is_brace)
}

/// Parses `EXPRESSION[=VALUE]`. An equal sign inside a filter does not start the value.
pub(super) fn split(text: &str) -> Result<(JsonPath, Option<String>), GoalError> {
    let equals = depths(text).find(|(_, c, depth)| *c == '=' && *depth == 0);
    let (path, value) = match equals {
        None => (text, None),
        // As in kubectl, two equal signs are of the expression, which has no place for them.
        Some((at, ..)) if text[at..].starts_with("==") => return Err(GoalError::Path),
        Some((at, ..)) => (&text[..at], Some(&text[at + 1..])),
    };
    let value = value.map(|value| value.trim_matches(['\'', '"']));
    if value.is_some_and(str::is_empty) {
        return Err(GoalError::NoValue);
    }
    Ok((JsonPath::parse(path)?, value.map(str::to_owned)))
}

/// Each character with the number of braces and brackets that are open after it. Quoted ones do not count.
fn depths(text: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let mut depth = 0_usize;
    let mut quote = None;
    text.char_indices().map(move |(at, c)| {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') if depth > 0 => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        (at, c, depth)
    })
}

/// The expression in RFC 9535 syntax. Bracketed parts stay as they are; each name after a dot becomes a
/// quoted name.
fn standard(expression: &str) -> String {
    let mut out = String::from("$");
    let mut rest = expression.strip_prefix('$').unwrap_or(expression);
    while !rest.is_empty() {
        if rest.starts_with('[') {
            let end = bracket(rest);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        if let Some(below) = rest.strip_prefix("..") {
            out.push_str("..");
            rest = below;
            if rest.starts_with('[') {
                continue;
            }
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
        }
        rest = member(rest, &mut out);
    }
    out
}

/// The length of the bracket expression at the start of the text.
fn bracket(text: &str) -> usize {
    let closed = depths(text).find(|(_, _, depth)| *depth == 0);
    closed.map_or(text.len(), |(at, c, _)| at + c.len_utf8())
}

/// Appends the name at the start of the text to `out`, in brackets; returns the rest.
fn member<'t>(text: &'t str, out: &mut String) -> &'t str {
    let mut name = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
            '.' | '[' => {
                end = at;
                break;
            }
            _ => name.push(c),
        }
    }
    if name == "*" {
        out.push_str("[*]");
    } else {
        out.push_str("['");
        for c in name.chars() {
            if matches!(c, '\'' | '\\') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push_str("']");
    }
    &text[end..]
}
