//! The fields that tell the items of a list apart, and what they read in an item.

use std::borrow::Cow;

use crate::object::tape::Kind;
use crate::object::value::Value;

/// The fields that tell the items of a list apart.
#[derive(Clone, Debug)]
pub struct ListKey {
    parts: Parts,
}

#[derive(Clone, Debug)]
enum Parts {
    Builtin(&'static [KeyPart<'static>]),
    Read(Box<[ReadPart]>),
}

/// One field of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyPart<'k> {
    /// The field, with dots for fields of fields. Of a list, its first item counts.
    pub(super) field: &'k str,
    pub(super) need: KeyNeed<'k>,
}

/// What becomes of an item without the field.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyNeed<'k> {
    /// The key is not usable for its list.
    Required,
    /// The part is left out.
    Optional,
    /// This value is meant.
    Default(&'k str),
    /// The key is not usable for its list. What the field holds is not part of the name.
    Present,
}

/// A [`KeyPart`] that was read from somewhere.
#[derive(Clone, Debug)]
struct ReadPart {
    field: Box<str>,
    need: ReadNeed,
}

#[derive(Clone, Debug)]
enum ReadNeed {
    Required,
    Optional,
    Default(Box<str>),
}

impl ListKey {
    pub(super) const fn builtin(parts: &'static [KeyPart<'static>]) -> ListKey {
        ListKey {
            parts: Parts::Builtin(parts),
        }
    }

    /// A key of these fields, of which each item must have at least one. A field without a default is
    /// left out of the names of the items that do not have it.
    pub(super) fn read<'f>(fields: impl Iterator<Item = (&'f str, Option<String>)>) -> ListKey {
        let parts: Box<[ReadPart]> = fields
            .map(|(field, default)| ReadPart {
                field: field.into(),
                need: default.map_or(ReadNeed::Optional, |value| ReadNeed::Default(value.into())),
            })
            .collect();
        ListKey {
            parts: Parts::Read(parts),
        }
    }

    /// A key of these fields, all of which every item must have.
    pub(super) fn required<'f>(fields: impl Iterator<Item = &'f str>) -> ListKey {
        let parts: Box<[ReadPart]> = fields
            .map(|field| ReadPart {
                field: field.into(),
                need: ReadNeed::Required,
            })
            .collect();
        ListKey {
            parts: Parts::Read(parts),
        }
    }

    fn each(&self) -> impl Iterator<Item = KeyPart<'_>> {
        let (builtin, read): (&[KeyPart<'static>], &[ReadPart]) = match &self.parts {
            Parts::Builtin(parts) => (parts, &[]),
            Parts::Read(parts) => (&[], parts),
        };
        let read = read.iter().map(|part| KeyPart {
            field: &part.field,
            need: match &part.need {
                ReadNeed::Required => KeyNeed::Required,
                ReadNeed::Optional => KeyNeed::Optional,
                ReadNeed::Default(value) => KeyNeed::Default(value),
            },
        });
        builtin.iter().copied().chain(read)
    }

    /// The names of its fields.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let names = |part: &KeyPart<'_>| !matches!(part.need, KeyNeed::Present);
        self.each().filter(names).map(|part| part.field)
    }

    /// What the key reads in an item: names and values. The text of a string, the digits of a number.
    pub fn parts<'k, 'a>(
        &'k self,
        item: Value<'a>,
    ) -> impl Iterator<Item = (&'k str, Cow<'a, str>)> + use<'k, 'a> {
        self.each()
            .filter_map(move |part| Some((part.field, part.read(item)?)))
    }

    /// The same as one text, which is equal for equal keys and no others.
    pub fn of<'a>(&self, item: Value<'a>) -> Cow<'a, str> {
        let mut parts = self.each();
        if let (Some(part), None) = (parts.next(), parts.next()) {
            return part.read(item).unwrap_or_default();
        }
        let mut text = String::new();
        for part in self.each() {
            if let Some(value) = part.read(item) {
                text.push('\u{1}');
                text.push_str(&value);
            }
            text.push('\0');
        }
        Cow::Owned(text)
    }

    /// Whether the item has all the key needs, and at least one of its parts.
    pub(super) fn fits(&self, item: Value<'_>) -> bool {
        let mut any = false;
        for part in self.each() {
            match (part.found(item), part.need) {
                (KeyValue::Scalar(_), _) | (KeyValue::Absent, KeyNeed::Default(_)) => any = true,
                (KeyValue::Absent, KeyNeed::Optional) | (KeyValue::Composite, KeyNeed::Present) => {
                }
                (KeyValue::Absent, KeyNeed::Required | KeyNeed::Present)
                | (KeyValue::Composite, _) => {
                    return false;
                }
            }
        }
        any && item.kind() == Kind::Object
    }
}

pub(super) fn is_scalar(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => true,
        Kind::Array | Kind::Object => false,
    }
}

enum KeyValue<'a> {
    Absent,
    Scalar(Value<'a>),
    Composite,
}

impl KeyPart<'_> {
    fn found<'a>(&self, item: Value<'a>) -> KeyValue<'a> {
        let field = match item.get(self.field) {
            None if self.field.contains('.') => self.field.split('.').try_fold(item, Value::get),
            found => found,
        };
        let value = match field {
            Some(list) if list.kind() == Kind::Array => list.items().next(),
            other => other,
        };
        match value {
            None => KeyValue::Absent,
            Some(value) if value.is_null() => KeyValue::Absent,
            Some(value) if is_scalar(value) => KeyValue::Scalar(value),
            Some(_) => KeyValue::Composite,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Option<Cow<'a, str>> {
        match (self.found(item), self.need) {
            (_, KeyNeed::Present) => None,
            (KeyValue::Scalar(value), _) => {
                Some(value.as_str().unwrap_or_else(|| Cow::Borrowed(value.raw())))
            }
            (_, KeyNeed::Default(value)) => Some(Cow::Owned(value.to_owned())),
            (_, KeyNeed::Required | KeyNeed::Optional) => None,
        }
    }
}
