//! The paths in an object, for `--only`, `--ignore` and `--sort-by`. Offers name fields, and items by their keys or
//! numbers. They contain no other value.

use super::offer::Offer;
use crate::object::list_keys::{Identity, ListKeys, ListPlace};
use crate::object::path::{Label, Path, Place, Step};
use crate::object::{Kind, Value};

/// The paths in an object that begin with `text` and end at the next field or item after it. The leading dot is
/// optional, as in [`Pattern`](crate::object::path::Pattern).
pub(super) fn paths(object: Value<'_>, text: &str) -> Vec<Offer> {
    search(object, text, ItemLabels::Keys)
}

/// The same paths as `JSONPath` expressions of kubectl: an item has its number.
pub(super) fn json_paths(object: Value<'_>, text: &str) -> Vec<Offer> {
    search(object, text, ItemLabels::Numbers)
}

fn search(object: Value<'_>, text: &str, item_labels: ItemLabels) -> Vec<Offer> {
    let is_bare = !text.is_empty() && !text.starts_with('.');
    let mut search = PathSearch {
        wanted: if is_bare {
            format!(".{text}")
        } else {
            text.to_owned()
        },
        skipped: usize::from(is_bare),
        offers: Vec::new(),
        fields: Vec::new(),
        item_labels,
    };
    search.inside(object, "");
    search.offers
}

struct PathSearch {
    wanted: String,
    /// How many bytes of each path the user leaves out.
    skipped: usize,
    offers: Vec<Offer>,
    /// The fields above the present value.
    fields: Vec<String>,
    item_labels: ItemLabels,
}

/// How paths name the items of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemLabels {
    Keys,
    Numbers,
}

impl PathSearch {
    /// Searches the children of the value at `path`, which is empty for the object.
    fn inside(&mut self, value: Value<'_>, path: &str) {
        for (name, inner) in value.fields() {
            let step = text(Step::Field(name.clone()));
            // Only a path that starts with a quoted field has a dot before its bracket.
            let step = match step.strip_prefix(".[") {
                Some(rest) if !path.is_empty() => format!("[{rest}"),
                Some(_) | None => step,
            };
            self.fields.push(name.into_owned());
            self.visit(inner, &format!("{path}{step}"));
            self.fields.pop();
        }
        let items: Vec<Value<'_>> = value.items().collect();
        for (item, label) in items.iter().zip(self.labels(&items)) {
            self.visit(*item, &format!("{path}{label}"));
        }
    }

    fn visit(&mut self, value: Value<'_>, path: &str) {
        if path.len() >= self.wanted.len() && path.starts_with(&self.wanted) {
            self.offers
                .push(Offer::new(&path[self.skipped..], kind(value)));
        }
        if self.wanted.starts_with(path) {
            self.inside(value, path);
        }
    }

    /// The last steps of the paths of a list's items. An item of a set has the path of the set.
    fn labels(&self, items: &[Value<'_>]) -> Vec<String> {
        if self.item_labels == ItemLabels::Numbers {
            return (0..items.len()).map(|at| format!("[{at}]")).collect();
        }
        let mut above = self.fields.iter().rev().map(String::as_str);
        let place = ListPlace {
            field: above.next().unwrap_or_default(),
            parent: above.next().unwrap_or_default(),
            path: None,
        };
        let rule = ListKeys::builtin().rule(place, items, &[]);
        let label = |&item: &Value<'_>| match rule.identity {
            Identity::Value => String::new(),
            Identity::Order => "[*]".to_owned(),
            Identity::Key(key) => {
                let parts = key.parts(item);
                let parts = parts.map(|(name, value)| (name.to_owned().into(), value));
                let label = Label::Key {
                    parts: parts.collect(),
                    nth: 1,
                };
                let place = Place {
                    old: None,
                    new: None,
                };
                text(Step::Item { place, label })
            }
        };
        items.iter().map(label).collect()
    }
}

fn text(step: Step<'_>) -> String {
    Path { steps: vec![step] }.text("")
}

/// What a value is, in a word.
fn kind(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Object => "object",
        Kind::Array => "list",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Bool => "boolean",
        Kind::Null => "null",
    }
}
