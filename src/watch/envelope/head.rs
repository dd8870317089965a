//! Reads the head of a line or an item in any spelling: fields in any order, and escapes in names.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use crate::object::Value;

/// The type of a line, the object's exact text, and the object's head.
pub(super) type Read<'a> = (Cow<'a, str>, &'a str, Head<'a>);

/// Reads a line.
pub(super) fn line(text: &str) -> serde_json::Result<Read<'_>> {
    let loose: Loose<'_> = serde_json::from_str(text)?;
    let body = loose.object.get();
    let head = serde_json::from_str(body)?;
    Ok((loose.kind.0, body, head))
}

/// A line with its fields in any order, and possibly further fields.
#[derive(Deserialize)]
struct Loose<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The identity of an object.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(in crate::watch) struct Head<'a> {
    #[serde(rename = "apiVersion", borrow, default, deserialize_with = "non_empty")]
    pub(super) api_version: Text<'a>,
    #[serde(borrow, default, deserialize_with = "non_empty")]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) metadata: Meta<'a>,
}

impl Head<'_> {
    /// Whether it has a type.
    pub(super) fn has_type(&self) -> bool {
        !self.api_version.0.is_empty() && !self.kind.0.is_empty()
    }

    /// Whether the whole object has the type that its head names. Of two types, the last one counts.
    pub(in crate::watch) fn has_type_of(&self, object: Value<'_>) -> bool {
        let says = |field: &str| object.str_at(&[field]).unwrap_or_default();
        says("kind") == self.kind.0 && says("apiVersion") == self.api_version.0
    }

    /// Whether this is a metadata-only object.
    pub(super) fn is_partial(&self) -> bool {
        self.kind.0 == "PartialObjectMetadata" && self.api_version.0.starts_with("meta.k8s.io/")
    }
}

/// Reads a part of the type, which must be absent or not empty. An empty one in the body would override the type
/// that the resource adds. An object without a type would not be recognised as a Secret, and its values would not
/// be hidden.
fn non_empty<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
    let text = Text::deserialize(deserializer)?;
    if text.0.is_empty() {
        return Err(D::Error::custom("an empty kind or apiVersion"));
    }
    Ok(text)
}

/// A `PartialObjectMetadata`.
#[derive(Deserialize)]
pub(super) struct Partial<'a> {
    #[serde(borrow)]
    pub(super) metadata: &'a RawValue,
}

/// The fields of `metadata` that this module needs.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Meta<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) namespace: Text<'a>,
    #[serde(borrow)]
    pub(super) uid: Text<'a>,
    #[serde(borrow)]
    pub(super) resource_version: Text<'a>,
    #[serde(borrow)]
    pub(super) deletion_timestamp: Text<'a>,
}

impl Meta<'_> {
    /// Whether it identifies the object and its version.
    pub(super) fn has_identity(&self) -> bool {
        let all = [&self.name, &self.uid, &self.resource_version];
        all.iter().all(|text| !text.0.is_empty())
    }
}

/// A string, borrowed unless it has escapes. `null` gives the empty string.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Text::default())
            }
        }
        deserializer.deserialize_any(Borrowing)
    }
}
