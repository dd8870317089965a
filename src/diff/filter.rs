//! Selects changes by path (`--only` and `--ignore`), and the part of an object that views print.

use std::borrow::Cow;
use std::marker::PhantomData;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Change, Content, Diff, Shown};
use crate::object::list_keys::{Identity, ListKeys, ListPlace};
use crate::object::path::{Label, Match, Path, Pattern, Place, Side, Step};
use crate::object::{Kind, Value};

/// Path patterns to include and to exclude.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Keep only changes at, inside or around one of these. An empty list keeps all changes.
    pub only: Vec<Pattern>,
    /// Drop changes at or inside one of these.
    pub ignore: Vec<Pattern>,
}

/// How much of a value the filter selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterMatch {
    /// No part of it.
    Out,
    /// The whole value.
    In,
    /// Only parts of it, or all but some parts.
    Partly {
        /// Whether the value itself is selected, even without those parts.
        itself: bool,
    },
}

impl Filter {
    /// Whether the filter selects everything.
    pub fn is_everything(&self) -> bool {
        self.only.is_empty() && self.ignore.is_empty()
    }

    /// Returns the filter with the fields that identify an object added: type, namespace and name.
    #[must_use]
    pub fn with_identity(&self) -> Filter {
        let mut filter = self.clone();
        if !filter.only.is_empty() {
            let identity = ["apiVersion", "kind", "metadata.namespace", "metadata.name"];
            filter
                .only
                .extend(identity.iter().filter_map(|path| path.parse().ok()));
        }
        filter
    }

    /// Whether the filter selects a change. An object or list that was added or removed is selected for the
    /// values in it.
    pub fn keeps(&self, diff: &Diff<'_>, change: &Change) -> bool {
        if self.is_everything() {
            return true;
        }
        let node = diff.node(change.at);
        let values = [node.on(Side::Old), node.on(Side::New)];
        self.asks(&diff.path(change.at), diff.keys(), &values)
    }

    /// Whether the filter selects a value, or a value inside it.
    pub fn keeps_value(&self, path: &Path<'_>, value: Shown<'_>) -> bool {
        self.asks(path, ListKeys::builtin(), &[Some(value.value)])
    }

    fn asks<'p>(&self, path: &Path<'p>, keys: &ListKeys, values: &[Option<Value<'p>>]) -> bool {
        match self.part(path) {
            FilterMatch::Out => false,
            FilterMatch::In | FilterMatch::Partly { itself: true } => true,
            FilterMatch::Partly { itself: false } => {
                let mut values = values.iter().flatten();
                let mut sieve = Sieve {
                    filter: self,
                    keys,
                    projection: Projection::default(),
                };
                values.any(|value| sieve.keeps(*value, &mut path.clone()))
            }
        }
    }

    /// Returns how much of the value at `path` the filter selects.
    pub(super) fn part(&self, path: &Path<'_>) -> FilterMatch {
        let all = |patterns: &[Pattern]| {
            let matches = patterns.iter().map(|pattern| pattern.matches(path));
            matches.fold(Match::None, Match::or)
        };
        let ignored = all(&self.ignore);
        let asked = if self.only.is_empty() {
            Match::Inside
        } else {
            all(&self.only)
        };
        match (asked, ignored) {
            (_, Match::Inside) | (Match::None, _) => FilterMatch::Out,
            (Match::Inside, Match::None) => FilterMatch::In,
            (Match::Inside, Match::Above) => FilterMatch::Partly { itself: true },
            (Match::Above, _) => FilterMatch::Partly { itself: false },
        }
    }

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
}

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
