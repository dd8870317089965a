//! Field paths of the table of relations: `spec.rules[].http.paths[].backend.service`.

use crate::object::Value;

/// The values at the end of a path. `[]` follows a list; `containers*` stands for containers of every type.
pub(super) fn values_at<'a>(value: Value<'a>, path: &str) -> Vec<Value<'a>> {
    let mut found = Vec::new();
    collect(value, path, &mut found);
    found
}

fn collect<'a>(value: Value<'a>, path: &str, found: &mut Vec<Value<'a>>) {
    if path.is_empty() {
        found.push(value);
        return;
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let lists: &[&str] = match step.strip_suffix("[]") {
        Some(list) => &[list],
        None if step == "containers*" => &["initContainers", "containers", "ephemeralContainers"],
        None => {
            if let Some(inner) = value.get(step) {
                collect(inner, rest, found);
            }
            return;
        }
    };
    for item in lists.iter().flat_map(|list| value.items_at(&[list])) {
        collect(item, rest, found);
    }
}
