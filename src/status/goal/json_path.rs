//! kubectl's `JSONPath`, by way of the standard one.
//!
//! kubectl's dialect (<https://kubernetes.io/docs/reference/kubectl/jsonpath/>) is older than RFC 9535
//! and differs in what a single expression needs: it stands in braces, the `$` may be left out as the
//! first dot may, names after a dot may hold anything, and a dot in a name is written `\.`. It is
//! rewritten here; reading and evaluating is the library's.

use std::fmt;

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use serde_json::Value as Json;

use super::GoalError;
use crate::object::Value;

/// An expression that names a place in an object.
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
    fn parse(written: &str) -> Result<JsonPath, GoalError> {
        let inner = written
            .strip_prefix('{')
            .map_or(Some(written), |rest| rest.strip_suffix('}'))
            .map(str::trim)
            .filter(|inner| !inner.is_empty())
            .ok_or(GoalError::Format)?;
        let query = parse_json_path(&standard(inner)).map_err(|error| GoalError::Expression {
            expression: written.to_owned(),
            cause: error.to_string(),
        })?;
        Ok(JsonPath {
            written: written.to_owned(),
            query,
        })
    }

    /// Whether there is exactly one value at the place, and it is `expected`, if any is. As kubectl
    /// has it, objects and lists are equal to nothing, and space around a value does not count.
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

/// Reads `EXPRESSION[=VALUE]`. The equal signs of a filter are not the one before the value.
pub(super) fn split(text: &str) -> Result<(JsonPath, Option<String>), GoalError> {
    let equals = depths(text).find(|(_, c, depth)| *c == '=' && *depth == 0);
    let (path, value) = match equals {
        None => (text, None),
        Some((at, ..)) => (&text[..at], Some(&text[at + 1..])),
    };
    let value = value.map(|value| value.trim_matches(['\'', '"']));
    if value.is_some_and(str::is_empty) {
        return Err(GoalError::NoValue);
    }
    Ok((JsonPath::parse(path)?, value.map(str::to_owned)))
}

/// Each character with how many braces and brackets are open behind it. Those in quotes do not count.
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

/// The expression as RFC 9535 writes it: what stands in brackets stays, each name after a dot is put
/// into quotes.
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

/// The length of the bracket that the text begins with.
fn bracket(text: &str) -> usize {
    let closed = depths(text).find(|(_, _, depth)| *depth == 0);
    closed.map_or(text.len(), |(at, c, _)| at + c.len_utf8())
}

/// Writes the name that the text begins with as a bracket; returns what follows it.
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
