//! What tells the items of a list apart, for viewing.
//!
//! The API's own list types say how lists merge, and call most of them atomic
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy>); a reader
//! still wants to see *which* container has changed. So well-known lists have a key here, by the
//! field they stand in and by what their items look like, and others get one by a rule of thumb.

mod table;

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::tape::Kind;
use super::value::Value;

/// The fields that tell the items of a list apart.
#[derive(Debug)]
pub struct ListKey {
    parts: &'static [KeyPart],
}

/// One field of a key.
#[derive(Clone, Debug)]
struct KeyPart {
    /// The field, with dots for fields of fields. Of a list, its first item counts.
    field: &'static str,
    need: Need,
}

/// What becomes of an item without the field.
#[derive(Clone, Copy, Debug)]
enum Need {
    /// The key is not usable for its list.
    Required,
    /// The part is left out.
    Optional,
    /// This value is meant.
    Default(&'static str),
    /// The key is not usable for its list. What the field holds is not part of the name.
    Present,
}

/// How the items of a list are told apart.
#[derive(Clone, Copy, Debug)]
pub enum Identity<'k> {
    /// By these fields.
    Key(&'k ListKey),
    /// By their values, which are scalars: a set.
    Value,
    /// By their order alone.
    Order,
}

/// Whether the order of a list's items means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It does, or nobody knows.
    Matters,
    /// It does not: the server or a controller may write it in any.
    Free,
}

/// How a list is to be read.
#[derive(Clone, Copy, Debug)]
pub struct ListRule<'k> {
    /// How its items are told apart.
    pub identity: Identity<'k>,
    /// Whether their order means anything.
    pub order: Order,
}

/// Where a list stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPlace<'a> {
    /// The field that holds it; empty for a list in a list.
    pub field: &'a str,
    /// The next field above it; empty at the root of the object.
    pub parent: &'a str,
}

/// The keys of lists: those that are built in.
#[derive(Debug, Default)]
pub struct ListKeys {
    _private: (),
}

impl ListKeys {
    /// The built-in keys alone.
    pub fn builtin() -> &'static ListKeys {
        static BUILTIN: ListKeys = ListKeys { _private: () };
        &BUILTIN
    }

    /// How to read the list at `place`, by all the items of both of its versions: what an edit
    /// leaves alone must not change the names of the others.
    pub fn rule(&self, place: ListPlace<'_>, old: &[Value<'_>], new: &[Value<'_>]) -> ListRule<'_> {
        // An item that stands unchanged where it stood says nothing new.
        let changed = new
            .iter()
            .enumerate()
            .filter(|(at, item)| old.get(*at).is_none_or(|old| old.raw() != item.raw()))
            .map(|(_, item)| *item);
        let items = || old.iter().copied().chain(changed.clone());
        for entry in table::entries(place) {
            let rule = |identity| ListRule {
                identity,
                order: entry.order,
            };
            match &entry.identity {
                table::By::Value if items().all(is_scalar) => return rule(Identity::Value),
                table::By::Key(key) if items().all(|item| key.fits(item)) => {
                    return rule(Identity::Key(key));
                }
                table::By::Value | table::By::Key(_) => {}
            }
        }
        let identity = table::GUESSES
            .iter()
            .find(|key| items().all(|item| key.fits(item)) && key.tells_apart(old, new))
            .map_or(Identity::Order, Identity::Key);
        ListRule {
            identity,
            order: Order::Matters,
        }
    }
}

impl ListKey {
    /// What the key reads in an item: names and values. The text of a string, the digits of a number.
    pub fn parts<'a>(&self, item: Value<'a>) -> Vec<(&'static str, Cow<'a, str>)> {
        self.parts
            .iter()
            .filter_map(|part| Some((part.field, part.read(item)?)))
            .collect()
    }

    /// The same as one text, which is equal for equal keys and no others.
    pub fn of<'a>(&self, item: Value<'a>) -> Cow<'a, str> {
        if let [part] = self.parts {
            return part.read(item).unwrap_or_default();
        }
        let mut text = String::new();
        for part in self.parts {
            if let Some(value) = part.read(item) {
                text.push('\u{1}');
                text.push_str(&value);
            }
            text.push('\0');
        }
        Cow::Owned(text)
    }

    /// Whether the item has all the key needs, and at least one of its parts.
    fn fits(&self, item: Value<'_>) -> bool {
        let mut any = false;
        for part in self.parts {
            match (part.found(item), part.need) {
                (Found::Scalar(_), _) | (Found::Absent, Need::Default(_)) => any = true,
                (Found::Absent, Need::Optional) | (Found::Composite, Need::Present) => {}
                (Found::Absent, Need::Required | Need::Present) | (Found::Composite, _) => {
                    return false;
                }
            }
        }
        any && item.kind() == Kind::Object
    }

    /// Whether no two items of one version have the same key.
    fn tells_apart(&self, old: &[Value<'_>], new: &[Value<'_>]) -> bool {
        [old, new].iter().all(|items| {
            let mut seen = FxHashSet::default();
            items.iter().all(|&item| seen.insert(self.of(item)))
        })
    }
}

enum Found<'a> {
    Absent,
    Scalar(Value<'a>),
    Composite,
}

impl KeyPart {
    fn found<'a>(&self, item: Value<'a>) -> Found<'a> {
        let field = self.field.split('.').try_fold(item, Value::get);
        let value = match field {
            Some(list) if list.kind() == Kind::Array => list.items().next(),
            other => other,
        };
        match value {
            None => Found::Absent,
            Some(value) if value.is_null() => Found::Absent,
            Some(value) if is_scalar(value) => Found::Scalar(value),
            Some(_) => Found::Composite,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Option<Cow<'a, str>> {
        match (self.found(item), self.need) {
            (_, Need::Present) => None,
            (Found::Scalar(value), _) => {
                Some(value.as_str().unwrap_or_else(|| Cow::Borrowed(value.raw())))
            }
            (_, Need::Default(value)) => Some(Cow::Borrowed(value)),
            (_, Need::Required | Need::Optional) => None,
        }
    }
}

fn is_scalar(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => true,
        Kind::Array | Kind::Object => false,
    }
}

#[cfg(test)]
mod tests;
