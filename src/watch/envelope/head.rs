//! Reads the head of a line or an item. Skimming reads the spelling of API servers and stops behind the head; serde reads
//! any spelling: fields in any order, and escapes in names.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use crate::object::Value;
use crate::object::skim::{Skim, SkimNext};

/// The type of a line, the object's exact text, and the object's head.
pub(super) type Read<'a> = (Cow<'a, str>, &'a str, Head<'a>);

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
    kind: HeadText<'a>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The identity of an object.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(in crate::watch) struct Head<'a> {
    #[serde(rename = "apiVersion", borrow, default, deserialize_with = "non_empty")]
    pub(super) api_version: HeadText<'a>,
    #[serde(borrow, default, deserialize_with = "non_empty")]
    pub(super) kind: HeadText<'a>,
    #[serde(borrow, default)]
    pub(super) metadata: Meta<'a>,
}

impl Head<'_> {
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
fn non_empty<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<HeadText<'a>, D::Error> {
    let text = HeadText::deserialize(deserializer)?;
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
    pub(super) name: HeadText<'a>,
    #[serde(borrow)]
    pub(super) namespace: HeadText<'a>,
    #[serde(borrow)]
    pub(super) uid: HeadText<'a>,
    #[serde(borrow)]
    pub(super) resource_version: HeadText<'a>,
    #[serde(borrow)]
    pub(super) deletion_timestamp: HeadText<'a>,
}

impl Meta<'_> {
    /// Whether it identifies the object and its version.
    fn has_identity(&self) -> bool {
        let all = [&self.name, &self.uid, &self.resource_version];
        all.iter().all(|text| !text.0.is_empty())
    }
}

/// A string, borrowed unless it has escapes. `null` gives the empty string.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HeadText<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for HeadText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = HeadText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(HeadText(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(HeadText(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(HeadText::default())
            }
        }
        deserializer.deserialize_any(Borrowing)
    }
}

/// Reads `{"type":"…","object":{…}}` in kube-apiserver's spelling. It reads from the start until the head is complete, and
/// does not check that the rest is JSON: the parser of the object does that.
///
/// It accepts less than [`line()`]. `None` stands for a line that is not JSON, and for a spelling that it does not read: escapes
/// in a field of the head, repeated fields, `null` for a whole field. A line that both accept gives the same head.
pub(super) fn skim_line(text: &str) -> Option<Read<'_>> {
    let rest = text.strip_prefix("{\"type\":\"")?;
    let (kind, _) = rest.split_once('"')?;
    let object = rest[kind.len()..].strip_prefix("\",\"object\":")?;
    // A type that is not a word is left to `head`.
    if !kind.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let body = trim(object).strip_suffix('}').map(trim)?;
    Some((Cow::Borrowed(kind), body, skim_item(body)?))
}

/// Reads an object, as [`skim_line`] does.
pub(super) fn skim_item(text: &str) -> Option<Head<'_>> {
    let mut head = Head::default();
    let mut has_metadata = false;
    let mut skim = Skim::new(text);
    skim.space();
    let passed = skim.fields(|skim, key| {
        match key {
            "apiVersion" => once(&mut head.api_version, skim)?,
            "kind" => once(&mut head.kind, skim)?,
            "metadata" if has_metadata => return None,
            "metadata" => {
                has_metadata = true;
                let is_last = head.has_type();
                let (meta, further) = metadata(skim, is_last)?;
                head.metadata = meta;
                if further == SkimNext::Enough {
                    return Some(further);
                }
            }
            _ => skim.value()?,
        }
        let all = has_metadata && head.has_type();
        Some(if all { SkimNext::Enough } else { SkimNext::On })
    })?;
    if passed == SkimNext::On {
        skim.end()?;
    }
    trim(text).ends_with('}').then_some(head)
}

/// Trims the white space of JSON, which is less than Rust's.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\n', '\t', '\r'])
}

/// Reads the metadata. If they are the last part of the head, reading stops where nothing of the head can follow.
/// `managedFields` are the longest part, and `deletionTimestamp` comes before them in both of the server's field
/// orders: the order of its types and the alphabetical one.
fn metadata<'a>(skim: &mut Skim<'a>, is_last: bool) -> Option<(Meta<'a>, SkimNext)> {
    let mut meta = Meta::default();
    let further = skim.fields(|skim, key| {
        match key {
            "name" => once(&mut meta.name, skim)?,
            "namespace" => once(&mut meta.namespace, skim)?,
            "uid" => once(&mut meta.uid, skim)?,
            "resourceVersion" => once(&mut meta.resource_version, skim)?,
            "deletionTimestamp" => once(&mut meta.deletion_timestamp, skim)?,
            "managedFields" if is_last && meta.has_identity() => return Some(SkimNext::Enough),
            _ => skim.value()?,
        }
        Some(SkimNext::On)
    })?;
    Some((meta, further))
}

/// Reads a string into a field that is still empty. The string must not be empty.
fn once<'a>(field: &mut HeadText<'a>, skim: &mut Skim<'a>) -> Option<()> {
    let text = skim.plain_string().filter(|text| !text.is_empty())?;
    if !field.0.is_empty() {
        return None;
    }
    field.0 = Cow::Borrowed(text);
    Some(())
}
