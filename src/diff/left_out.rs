//! The parts of an object that are not asked for, where the object itself is written.

use std::borrow::Cow;
use std::marker::PhantomData;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::list_keys::{Identity, ListKeys, ListPlace};
use crate::object::path::{Label, Path, Place, Step};
use crate::object::{Kind, Value};

use super::filter::{Filter, FilterMatch};
use super::{Content, Shown};

/// Values that are not written, of the objects that it was made for.
#[derive(Debug, Default)]
pub struct LeftOut<'a> {
    /// Where in memory their texts begin: no two values begin at the same place.
    values: FxHashSet<usize>,
    objects: PhantomData<Value<'a>>,
}

impl<'a> LeftOut<'a> {
    /// Whether a value is left out. What is inside one that is need not be asked for.
    pub fn has(&self, shown: Shown<'_>) -> bool {
        !self.values.is_empty() && self.values.contains(&place(shown.value))
    }

    /// Leaves these fields of the metadata out as well.
    #[must_use]
    pub fn and_metadata(mut self, object: Shown<'a>, fields: &[&str]) -> LeftOut<'a> {
        let metadata = object.value.get("metadata");
        let fields = fields.iter().filter_map(|name| metadata?.get(name));
        self.values.extend(fields.map(place));
        self
    }

    /// The fields of an object that are written, in document order.
    pub fn fields<'s>(&self, object: Shown<'s>) -> impl Iterator<Item = (Cow<'s, str>, Shown<'s>)> {
        object.fields().filter(|(_, value)| !self.has(*value))
    }

    /// The items of a list that are written.
    pub fn items<'s>(&self, list: Shown<'s>) -> impl Iterator<Item = Shown<'s>> {
        list.items().filter(|item| !self.has(*item))
    }

    /// Whether something of what is written is held back.
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
    /// What of these objects is not asked for; the whole of one if nothing of it is.
    pub fn left_out<'a>(
        &self,
        objects: impl IntoIterator<Item = Shown<'a>>,
        keys: &ListKeys,
    ) -> LeftOut<'a> {
        let mut sieve = Sieve {
            filter: self,
            keys,
            left_out: LeftOut::default(),
        };
        if !self.is_everything() {
            for object in objects {
                sieve.keeps(object.value, &mut Path::default());
            }
        }
        sieve.left_out
    }

    /// Whether something of a value at this path is asked for: then not all of it is left out.
    pub(super) fn asks_inside<'a>(
        &self,
        value: Value<'a>,
        path: &Path<'a>,
        keys: &ListKeys,
    ) -> bool {
        let mut sieve = Sieve {
            filter: self,
            keys,
            left_out: LeftOut::default(),
        };
        sieve.keeps(value, &mut path.clone())
    }
}

struct Sieve<'s, 'a> {
    filter: &'s Filter,
    keys: &'s ListKeys,
    left_out: LeftOut<'a>,
}

impl<'a> Sieve<'_, 'a> {
    /// Whether something of a value is asked for; leaves out what is not.
    fn keeps(&mut self, value: Value<'a>, path: &mut Path<'a>) -> bool {
        let keeps = match self.filter.part(path) {
            FilterMatch::Out => false,
            FilterMatch::In => true,
            FilterMatch::Partly { itself } => self.keeps_inside(value, path) || itself,
        };
        if !keeps {
            self.left_out.values.insert(place(value));
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

    /// The names of the items of the list at `path`: those that a diff gives them, and every other by which
    /// they could be called.
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

/// A label that fits every key by which the item could be named, besides those that are known.
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
