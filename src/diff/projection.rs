//! The part of an object that a filter selects, for views that print the object itself.

use std::borrow::Cow;
use std::marker::PhantomData;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::list_keys::{Identity, ListKeys, ListPlace};
use crate::object::path::{Label, Path, Place, Step};
use crate::object::{Kind, Value};

use super::filter::{Filter, FilterMatch};
use super::{Content, Shown};

/// The selected part of some objects, stored as the set of values that are excluded.
#[derive(Debug, Default)]
pub struct Projection<'a> {
    /// The memory addresses of their raw texts. No two values begin at the same address.
    values: FxHashSet<usize>,
    objects: PhantomData<Value<'a>>,
}

impl<'a> Projection<'a> {
    /// Whether a value is excluded. Values inside an excluded value need no query of their own.
    pub fn excludes(&self, shown: Shown<'_>) -> bool {
        !self.values.is_empty() && self.values.contains(&place(shown.value))
    }

    /// Also excludes these fields of the metadata.
    #[must_use]
    pub fn and_metadata(mut self, object: Shown<'a>, fields: &[&str]) -> Projection<'a> {
        let metadata = object.value.get("metadata");
        let fields = fields.iter().filter_map(|name| metadata?.get(name));
        self.values.extend(fields.map(place));
        self
    }

    /// The selected fields of an object, in document order.
    pub fn fields<'s>(&self, object: Shown<'s>) -> impl Iterator<Item = (Cow<'s, str>, Shown<'s>)> {
        object.fields().filter(|(_, value)| !self.excludes(*value))
    }

    /// The selected items of a list.
    pub fn items<'s>(&self, list: Shown<'s>) -> impl Iterator<Item = Shown<'s>> {
        list.items().filter(|item| !self.excludes(*item))
    }

    /// Whether the selected part contains a hidden Secret value.
    pub fn holds_secret(&self, shown: Shown<'_>) -> bool {
        match shown.content() {
            Content::Object => self
                .fields(shown)
                .any(|(_, value)| self.holds_secret(value)),
            Content::Array => self.items(shown).any(|item| self.holds_secret(item)),
            _ => shown.holds_secret(),
        }
    }
}

impl Filter {
    /// The part of these objects that the filter selects. An object without a selected value is excluded as a
    /// whole.
    pub fn projection<'a>(
        &self,
        objects: impl IntoIterator<Item = Shown<'a>>,
        keys: &ListKeys,
    ) -> Projection<'a> {
        let mut sieve = Sieve {
            filter: self,
            keys,
            projection: Projection::default(),
        };
        if !self.is_everything() {
            for object in objects {
                sieve.keeps(object.value, &mut Path::default());
            }
        }
        sieve.projection
    }

    /// Whether the filter selects the value at this path, or a value inside it.
    pub(super) fn asks_inside<'a>(
        &self,
        value: Value<'a>,
        path: &Path<'a>,
        keys: &ListKeys,
    ) -> bool {
        let mut sieve = Sieve {
            filter: self,
            keys,
            projection: Projection::default(),
        };
        sieve.keeps(value, &mut path.clone())
    }
}

struct Sieve<'s, 'a> {
    filter: &'s Filter,
    keys: &'s ListKeys,
    projection: Projection<'a>,
}

impl<'a> Sieve<'_, 'a> {
    /// Whether the filter selects a value or a part of it. Excludes whatever it does not select.
    fn keeps(&mut self, value: Value<'a>, path: &mut Path<'a>) -> bool {
        let keeps = match self.filter.part(path) {
            FilterMatch::Out => false,
            FilterMatch::In => true,
            FilterMatch::Partly { itself } => self.keeps_inside(value, path) || itself,
        };
        if !keeps {
            self.projection.values.insert(place(value));
        }
        keeps
    }

    fn keeps_inside(&mut self, value: Value<'a>, path: &mut Path<'a>) -> bool {
        let fields = value.fields();
        let mut parts: Vec<(Step<'a>, Value<'a>)> = fields
            .map(|(name, inner)| (Step::Field(name), inner))
            .collect();
        let items: Vec<Value<'a>> = value.items().collect();
        let labels = self.labels(&items, path);
        let items = items.into_iter().zip(labels).zip(0u32..);
        parts.extend(items.map(|((item, label), index)| {
            let place = Place {
                old: Some(index),
                new: Some(index),
            };
            (Step::Item { place, label }, item)
        }));
        let mut found = false;
        for (step, inner) in parts {
            path.steps.push(step);
            found |= self.keeps(inner, path);
            path.steps.pop();
        }
        found
    }

    /// The labels of the items of the list at `path`: the label that a diff gives the item, with every other
    /// key by which a pattern may name it.
    fn labels(&self, items: &[Value<'a>], path: &Path<'a>) -> Vec<Label<'a>> {
        let mut above = path.steps.iter().rev();
        let field = |step: Option<&'_ Step<'a>>| match step {
            Some(Step::Field(name)) => name.clone(),
            Some(Step::Item { .. }) | None => Cow::Borrowed(""),
        };
        let own = field(above.next());
        let parent = field(above.find(|step| matches!(step, Step::Field(_))));
        let place = ListPlace {
            field: &own,
            parent: &parent,
            path: Some(path),
        };
        let rule = self.keys.rule(place, items, &[]);
        let mut seen: FxHashMap<Vec<String>, u32> = FxHashMap::default();
        let label = |&item: &Value<'a>| match rule.identity {
            Identity::Value => Label::Member,
            Identity::Order => any_key(item, Vec::new(), 1),
            Identity::Key(key) => {
                let parts = key.parts(item);
                let parts: Vec<_> = parts
                    .map(|(name, value)| (Cow::Owned(name.to_owned()), value))
                    .collect();
                let values = parts.iter().map(|(_, value)| value.to_string()).collect();
                let nth = seen.entry(values).or_default();
                *nth += 1;
                any_key(item, parts, *nth)
            }
        };
        items.iter().map(label).collect()
    }
}

/// A label that matches every key by which a pattern may name the item, in addition to `parts`.
fn any_key<'a>(item: Value<'a>, mut parts: Vec<KeyPart<'a>>, nth: u32) -> Label<'a> {
    let text = |value: Value<'a>| value.as_str().unwrap_or_else(|| value.raw().into());
    let is_nested = |value: Value<'_>| matches!(value.kind(), Kind::Object | Kind::Array);
    for (name, value) in item.fields() {
        if is_nested(value) {
            let inner = value.fields().filter(|(_, inner)| !is_nested(*inner));
            parts.extend(
                inner.map(|(field, value)| (format!("{name}.{field}").into(), text(value))),
            );
        } else {
            parts.push((name, text(value)));
        }
    }
    Label::Key { parts, nth }
}

/// The name and value of one part of a key.
type KeyPart<'a> = (Cow<'a, str>, Cow<'a, str>);

fn place(value: Value<'_>) -> usize {
    value.raw().as_ptr().addr()
}
