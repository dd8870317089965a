//! The errors of `--sort-by`. They begin with the words of `kubectl get --sort-by -o name` (kubectl 1.32), and have a hint
//! with a path that works.

use std::collections::VecDeque;

use crate::commands::CommandError;
use crate::object::{Kind, Value};

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
    use super::*;
    use crate::object::Doc;

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
