//! `--sort-by`: orders the requested objects by a field, as `kubectl get` does, with its errors.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use serde_json::Value as Json;

use crate::commands::CommandError;
use crate::model::Model;
use crate::object::{Kind, Quantity, Uid, Value};
use crate::status::JsonPath;

/// The field to sort by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SortBy {
    /// The path without braces and without its first dot.
    name: String,
    path: JsonPath,
}

/// What an object has in the field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SortKey(Option<Json>);

/// The order of objects by a field. It keeps what each has in the field, because a frame needs that of all objects.
#[derive(Debug)]
pub(super) struct Sorting {
    sort_by: SortBy,
    keys: BTreeMap<Uid, SortKey>,
}

impl Sorting {
    pub(super) fn new(sort_by: SortBy) -> Sorting {
        Sorting {
            sort_by,
            keys: BTreeMap::new(),
        }
    }

    /// Reads the field of these objects again. An object that is gone has the key of its last version.
    pub(super) fn update<'u>(&mut self, changed: impl Iterator<Item = &'u Uid>, model: &Model) {
        for uid in changed {
            if let Some(doc) = model.doc(uid) {
                let key = self.sort_by.key(doc.root());
                self.keys.insert(uid.clone(), key);
            }
        }
    }

    /// The key of an object.
    pub(super) fn key(&self, uid: &Uid) -> &SortKey {
        self.keys.get(uid).unwrap_or(&SortKey::NONE)
    }

    /// The error if there are objects and none has the field, as in kubectl.
    pub(super) fn error(&self, model: &Model) -> Option<CommandError> {
        if self.keys.values().any(|key| *key != SortKey::NONE) {
            return None;
        }
        let object = self.keys.keys().find_map(|uid| model.doc(uid))?;
        Some(no_field(&self.sort_by.name, object.root()))
    }
}

impl SortBy {
    /// Reads the value of the flag. An empty one sorts by nothing, as in kubectl.
    pub(super) fn parse(text: &str) -> Result<Option<SortBy>, CommandError> {
        if text.is_empty() {
            return Ok(None);
        }
        let name = unwrapped(text).ok_or_else(no_path)?;
        match JsonPath::parse(&format!(".{name}")) {
            Ok(path) => Ok(Some(SortBy {
                name: name.to_owned(),
                path,
            })),
            Err(_) => Err(no_expression(name)),
        }
    }

    fn key(&self, object: Value<'_>) -> SortKey {
        SortKey(self.path.first(object))
    }
}

/// The path without braces and without its first dot; `None` if braces are missing or inside. This is the rule of kubectl's
/// `RelaxedJSONPathExpression`
/// (<https://github.com/kubernetes/kubernetes/blob/v1.32.0/staging/src/k8s.io/kubectl/pkg/cmd/get/customcolumn.go>).
fn unwrapped(text: &str) -> Option<&str> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let name = inner.strip_prefix('.').unwrap_or(inner);
    (!name.is_empty() && !name.contains(['{', '}'])).then_some(name)
}

impl SortKey {
    /// The key of an object without the field.
    pub(super) const NONE: SortKey = SortKey(None);

    /// The order of kubectl: objects without the field first, numbers and quantities by amount, and other texts so that
    /// `web-10` comes after `web-9`.
    pub(super) fn compare(&self, other: &SortKey) -> Ordering {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => compare(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }
}

fn compare(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        }
        (Json::String(a), Json::String(b)) => {
            let quantities = Quantity::parse(a).zip(Quantity::parse(b));
            let by_amount = quantities.and_then(|(a, b)| a.compare(&b));
            by_amount.unwrap_or_else(|| natural(a, b))
        }
        (a, b) => a.to_string().cmp(&b.to_string()),
    }
}

/// Compares texts, and the numbers in them by their amount.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let ordering = match (part(a), part(b)) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some((this, rest)), Some((that, other_rest))) => {
                (a, b) = (rest, other_rest);
                compare_parts(this, that)
            }
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
}

/// The digits, or the other characters, at the start of a text, and the rest.
fn part(text: &str) -> Option<(&str, &str)> {
    let is_number = text.chars().next()?.is_ascii_digit();
    let end = text.find(|next: char| next.is_ascii_digit() != is_number);
    Some(text.split_at(end.unwrap_or(text.len())))
}

fn compare_parts(a: &str, b: &str) -> Ordering {
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    if !is_number(a) || !is_number(b) {
        return a.cmp(b);
    }
    let (short_a, short_b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    let by_amount = short_a.len().cmp(&short_b.len()).then(short_a.cmp(short_b));
    by_amount.then(a.len().cmp(&b.len()))
}

/// The field that every object has.
const NAME: &str = ".metadata.name";

/// The error for a text that is not a path.
pub(super) fn no_path() -> CommandError {
    let error = "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or \
                 '{.name1.name2}'";
    error_with_example(error)
}

/// The error for a path with a bracket that is not an index or a filter.
pub(super) fn no_expression(path: &str) -> CommandError {
    let is_filter = path.contains("[?");
    let is_open = path.matches('[').count() > path.matches(']').count();
    error_with_example(match (is_filter, is_open) {
        (true, true) => "unterminated filter",
        (true, false) => "invalid filter",
        (false, true) => "unterminated array",
        (false, false) => "invalid array index",
    })
}

fn error_with_example(error: &str) -> CommandError {
    let hint = format!("write the path as --sort-by={NAME}");
    CommandError::failed(format!("error: {error}")).hint(hint)
}

/// The error for a field that no object has, with a field of `object` of the same name, if there is one.
pub(super) fn no_field(path: &str, object: Value<'_>) -> CommandError {
    let error =
        format!("error: couldn't find any field with path \"{{.{path}}}\" in the list of objects");
    let last = path.rsplit('.').next().unwrap_or_default();
    let last = last.split('[').next().unwrap_or_default();
    CommandError::failed(error).hint(match path_to(last, object) {
        Some(found) => format!("did you mean --sort-by={found}?"),
        None => format!("choose a field that the objects have, for example --sort-by={NAME}"),
    })
}

/// The shortest path in an object to a plain value with this name, whatever its case.
fn path_to(name: &str, object: Value<'_>) -> Option<String> {
    let mut open = VecDeque::from([(String::new(), object)]);
    while let Some((path, value)) = open.pop_front() {
        for (field, inner) in value.fields() {
            // A dot in a name would need a backslash, which shells remove.
            if field.contains(['.', '[', '\'']) || field == "managedFields" {
                continue;
            }
            let path = format!("{path}.{field}");
            let is_plain = !matches!(inner.kind(), Kind::Object | Kind::Array);
            if is_plain && field.eq_ignore_ascii_case(name) {
                return Some(path);
            }
            open.push_back((path, inner));
        }
        if let Some(first) = value.items().next() {
            open.push_back((format!("{path}[0]"), first));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::object::Doc;

    use super::*;

    /// The values of a field in the order of `--sort-by`.
    fn sorted(values: &[&str]) -> String {
        let by = SortBy::parse("{.a.b}").expect("an expression");
        let by = by.expect("a field");
        let object = |value: &&str| {
            let field = if value.is_empty() {
                "{}".to_owned()
            } else {
                format!("{{\"b\":{value}}}")
            };
            Doc::parse(format!("{{\"a\":{field}}}")).expect("JSON")
        };
        let docs = values.iter().map(object);
        let mut keys: Vec<SortKey> = docs.map(|doc| by.key(doc.root())).collect();
        keys.sort_by(SortKey::compare);
        let text = |key: SortKey| key.0.map_or("-".to_owned(), |found| found.to_string());
        keys.into_iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn fields_are_sorted_as_in_kubectl() {
        for (values, expect) in [
            (&["10", "9.5", "", "-1"][..], "- -1 9.5 10"),
            (
                &[r#""2Gi""#, r#""900Mi""#, r#""1""#],
                r#""1" "900Mi" "2Gi""#,
            ),
            (
                &[r#""web-10""#, r#""web-9""#, r#""web""#, r#""web-09""#],
                r#""web" "web-9" "web-09" "web-10""#,
            ),
            (&["true", "false"], "false true"),
            (
                &[r#""2026-01-02T00:00:00Z""#, r#""2025-12-31T23:00:00Z""#],
                r#""2025-12-31T23:00:00Z" "2026-01-02T00:00:00Z""#,
            ),
        ] {
            assert_eq!(sorted(values), expect);
        }
    }

    #[test]
    fn braces_and_the_first_dot_are_optional() {
        let name = |text| SortBy::parse(text).map(|by| by.map(|by| by.name));
        for text in ["a.b", ".a.b", "{a.b}", "{.a.b}"] {
            let name = name(text).expect("an expression");
            assert_eq!(name.as_deref(), Some("a.b"), "{text}");
        }
        assert_eq!(name("").expect("no expression"), None);
    }

    #[test]
    fn an_error_begins_with_the_words_of_kubectl() {
        let error = |text: &str| SortBy::parse(text).expect_err(text).to_string();
        let no_path = "error: unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or \
                       '{.name1.name2}'";
        for text in ["{.a", "{", "{}", ".", "{.a}{.b}", "{.a}}"] {
            assert_eq!(error(text), no_path, "{text}");
        }
        assert_eq!(error(".a["), "error: unterminated array");
        assert_eq!(error(".a[?(@.b"), "error: unterminated filter");
    }

    #[test]
    fn the_hint_names_a_path_that_works() {
        let pod = r#"{"metadata":{"name":"web","labels":{"a.b/c":"1"},"managedFields":[{"manager":"kubectl"}]},
            "spec":{"nodeName":"n1","containers":[{"name":"app","image":"web:2"}]}}"#;
        let doc = Doc::parse(pod).expect("JSON");
        let hint = |path: &str| no_field(path, doc.root()).hints().join("");
        for (path, expect) in [
            ("name", "did you mean --sort-by=.metadata.name?"),
            ("status.nodename", "did you mean --sort-by=.spec.nodeName?"),
            (
                "spec.image",
                "did you mean --sort-by=.spec.containers[0].image?",
            ),
            (
                "manager",
                "choose a field that the objects have, for example --sort-by=.metadata.name",
            ),
            (
                "spec",
                "choose a field that the objects have, for example --sort-by=.metadata.name",
            ),
        ] {
            assert_eq!(hint(path), expect, "{path}");
        }
    }
}
