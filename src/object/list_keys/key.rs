//! The fields that identify the items of a list, and their values in an item.

use std::borrow::Cow;
use std::str::FromStr;

use crate::object::doc::Value;
use crate::object::path::{Path, Pattern, PatternError};
use crate::object::tape::Kind;

/// The fields that identify the items of a list.
#[derive(Clone, Debug)]
pub struct ListKey {
    parts: KeyParts,
}

#[derive(Clone, Debug)]
enum KeyParts {
    Builtin(&'static [KeyPart<&'static str>]),
    /// From a schema or from the command line.
    Read(Box<[KeyPart<Box<str>>]>),
}

/// One field of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyPart<T> {
    /// The field, with dots for nested fields. If its value is a list, the first item counts.
    pub(super) field: T,
    pub(super) need: KeyNeed<T>,
}

/// The treatment of an item without the field.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyNeed<T> {
    /// The key does not fit the list.
    Required,
    /// The item's name does not include the field.
    Optional,
    /// The item counts as having this value.
    Default(T),
    /// The key does not fit the list. Names never include the field's value.
    Present,
}

impl ListKey {
    pub(super) const fn builtin(parts: &'static [KeyPart<&'static str>]) -> ListKey {
        ListKey {
            parts: KeyParts::Builtin(parts),
        }
    }

    /// A key of these fields. Each item must have at least one of them. An item without a field leaves it out of
    /// its name, unless the field has a default.
    pub(super) fn read<'f>(fields: impl Iterator<Item = (&'f str, Option<String>)>) -> ListKey {
        let parts: Box<[KeyPart<_>]> = fields
            .map(|(field, default)| KeyPart {
                field: field.into(),
                need: default.map_or(KeyNeed::Optional, |value| KeyNeed::Default(value.into())),
            })
            .collect();
        ListKey {
            parts: KeyParts::Read(parts),
        }
    }

    /// A key of these fields. Every item must have all of them.
    pub(super) fn required<'f>(fields: impl Iterator<Item = &'f str>) -> ListKey {
        let parts: Box<[KeyPart<_>]> = fields
            .map(|field| KeyPart {
                field: field.into(),
                need: KeyNeed::Required,
            })
            .collect();
        ListKey {
            parts: KeyParts::Read(parts),
        }
    }

    fn each(&self) -> impl Iterator<Item = KeyPart<&str>> {
        let (builtin, read): (&[KeyPart<&str>], &[KeyPart<Box<str>>]) = match &self.parts {
            KeyParts::Builtin(parts) => (parts, &[]),
            KeyParts::Read(parts) => (&[], parts),
        };
        let read = read.iter().map(|part| KeyPart {
            field: &*part.field,
            need: match &part.need {
                KeyNeed::Required => KeyNeed::Required,
                KeyNeed::Optional => KeyNeed::Optional,
                KeyNeed::Default(value) => KeyNeed::Default(&**value),
                KeyNeed::Present => KeyNeed::Present,
            },
        });
        builtin.iter().copied().chain(read)
    }

    /// The fields that names include.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let names = |part: &KeyPart<&str>| !matches!(part.need, KeyNeed::Present);
        self.each().filter(names).map(|part| part.field)
    }

    /// The fields and their values in an item: the text of a string, or the digits of a number.
    pub fn parts<'k, 'a>(
        &'k self,
        item: Value<'a>,
    ) -> impl Iterator<Item = (&'k str, Cow<'a, str>)> + use<'k, 'a> {
        self.each()
            .filter_map(move |part| Some((part.field, part.read(item)?)))
    }

    /// The values as one text. Two texts are equal only if the values are equal.
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

    /// Whether the item has all required fields, and at least one field of the key.
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

impl KeyPart<&str> {
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

/// `PATH=KEY[,KEY]`: these fields identify the items of the lists at this path.
#[derive(Clone, Debug)]
pub struct Chosen {
    at: Pattern,
    pub(super) key: ListKey,
}

/// Why a text is not a list's path and its key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChosenError {
    /// There is no `=`, or no key after it.
    #[error("expected PATH=KEY[,KEY], as in .spec.servers=host,port")]
    NoKey,
    /// The text before the `=` is not a path.
    #[error(transparent)]
    Path(#[from] PatternError),
}

impl Chosen {
    /// Whether this applies to the list at `path`.
    pub(super) fn names(&self, path: &Path<'_>) -> bool {
        self.at.names(path)
    }
}

impl FromStr for Chosen {
    type Err = ChosenError;

    fn from_str(text: &str) -> Result<Chosen, ChosenError> {
        let (path, key) = text.rsplit_once('=').ok_or(ChosenError::NoKey)?;
        let is_name = |field: &str| !field.is_empty() && !field.contains(['[', ']', '"']);
        if !key.split(',').all(is_name) {
            return Err(ChosenError::NoKey);
        }
        Ok(Chosen {
            at: path.parse()?,
            key: ListKey::required(key.split(',')),
        })
    }
}
