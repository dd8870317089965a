//! `Doc`: one JSON text and a flat tape of its values. Values are decoded only when they are read.
//!
//! A version of an object arrives far more often than it is read, and successive versions have mostly the same
//! bytes. So `Doc` keeps the text as it came, and [`Doc::parse`] only records where each value starts and ends.
//! [`Doc::parse_after`] takes the previous version as a hint, and copies the tape of every value whose bytes did
//! not change.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;

use super::raw_str::RawStr;
use super::scan::ParseError;
use super::tape::{self, Hint, TapeNode};
use super::{parser, time};

pub use super::tape::Kind;

/// One immutable JSON value with its exact text.
///
/// It accepts the same texts as `serde_json` does for a `RawValue`, up to [`Doc::MAX_DEPTH`] levels of nesting.
/// Numbers keep their digits. If an object repeats a key, the last one counts, as in Go and in `serde_json`.
///
/// A clone shares the text and the tape.
#[derive(Clone)]
pub struct Doc {
    text: Arc<str>,
    nodes: Arc<Vec<TapeNode>>,
}

impl Doc {
    /// The deepest nesting. A deeper text is [`ParseError::TooDeep`].
    pub const MAX_DEPTH: usize = tape::MAX_DEPTH;

    /// Parses one JSON value, with optional white space around it.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Doc, ParseError> {
        Doc::parse_with(text.into(), None)
    }

    /// Parses one JSON value. It is faster the more the value has in common with `previous`. The tape is exactly
    /// that of [`Doc::parse`].
    pub fn parse_after(text: impl Into<Arc<str>>, previous: &Doc) -> Result<Doc, ParseError> {
        Doc::parse_with(text.into(), Some(previous))
    }

    fn parse_with(text: Arc<str>, previous: Option<&Doc>) -> Result<Doc, ParseError> {
        let hint = previous.map_or_else(Hint::default, |doc| Hint {
            text: &doc.text,
            nodes: &doc.nodes,
        });
        let mut nodes = parser::parse(&text, hint)?;
        nodes.shrink_to_fit();
        Ok(Doc {
            text,
            nodes: Arc::new(nodes),
        })
    }

    /// The whole value.
    pub fn root(&self) -> Value<'_> {
        Value::new(self, 0)
    }

    /// The original text, white space included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The original text, shared.
    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// Its size in memory, in bytes.
    pub fn footprint(&self) -> usize {
        self.text.len() + size_of_val(&**self.nodes)
    }

    /// Whether both have the same text and the same tape, as [`Doc::parse_after`] guarantees.
    pub fn is_same_tape(&self, other: &Doc) -> bool {
        self.text == other.text && self.nodes == other.nodes
    }

    /// The tape, for [`Value`].
    pub(super) fn nodes(&self) -> &[TapeNode] {
        &self.nodes
    }
}

/// Leaves out the text, which may be a Secret.
impl std::fmt::Debug for Doc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Doc").field(&self.root()).finish()
    }
}

/// A value inside a [`Doc`]. It is small, `Copy` and total: a look-up of something absent, or of another type,
/// gives `None` and never an error.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    doc: &'a Doc,
    at: usize,
}

impl<'a> Value<'a> {
    pub(super) fn new(doc: &'a Doc, at: usize) -> Self {
        Value { doc, at }
    }

    #[inline]
    fn node(self) -> &'a TapeNode {
        &self.doc.nodes()[self.at]
    }

    /// The kind of the value.
    #[inline]
    pub fn kind(self) -> Kind {
        self.node().kind
    }

    /// The value's exact text, quotes and inner white space included.
    #[inline]
    pub fn raw(self) -> &'a str {
        let node = self.node();
        &self.doc.text()[node.start as usize..node.end as usize]
    }

    /// The field `key` of an object.
    #[inline]
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let text = self.doc.text();
        self.counting_fields()
            .find(|field| field.node().has_key(text, key))
    }

    /// The value at a path of object fields: `at(&["status", "phase"])`.
    pub fn at(self, path: &[&str]) -> Option<Value<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The string at a path of object fields.
    pub fn str_at(self, path: &[&str]) -> Option<Cow<'a, str>> {
        self.at(path)?.as_str()
    }

    /// The string at a path of object fields, to keep; `None` if it is empty.
    pub fn text_at(self, path: &[&str]) -> Option<Arc<str>> {
        let text = self.str_at(path)?;
        (!text.is_empty()).then(|| Arc::from(&*text))
    }

    /// The time at a path of object fields.
    pub fn time_at(self, path: &[&str]) -> Option<Timestamp> {
        time(&self.str_at(path)?)
    }

    /// The whole number at a path of object fields.
    pub fn i64_at(self, path: &[&str]) -> Option<i64> {
        self.at(path)?.as_i64()
    }

    /// The truth value at a path of object fields.
    pub fn bool_at(self, path: &[&str]) -> Option<bool> {
        self.at(path)?.as_bool()
    }

    /// The items of the array at a path of object fields; none if there is no array.
    pub fn items_at(self, path: &[&str]) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.at(path).into_iter().flat_map(Value::items)
    }

    /// The items of an array; none for anything else.
    pub fn items(self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.children(Kind::Array)
    }

    /// The fields of an object in document order, each key once. Other values have none.
    pub fn fields(self) -> impl Iterator<Item = (Cow<'a, str>, Value<'a>)> + use<'a> {
        self.counting_fields().map(|field| (field.name(), field))
    }

    /// The key of a field; empty for other values.
    pub(crate) fn name(self) -> Cow<'a, str> {
        self.node().key_text(self.doc.text())
    }

    /// Whether the keys of two fields have the same spelling. The fields may belong to different objects.
    #[inline]
    pub(crate) fn is_named_alike(self, other: Value<'_>) -> bool {
        let (own, others) = (self.node(), other.node());
        own.key_len == others.key_len
            && own.key_raw(self.doc.text().as_bytes())
                == others.key_raw(other.doc.text().as_bytes())
    }

    /// The fields of an object, with the spelling of their keys.
    pub(super) fn written_fields(self) -> impl Iterator<Item = (&'a str, Value<'a>)> + use<'a> {
        self.counting_fields().map(|field| {
            let node = field.node();
            let key = node.key as usize..(node.key + node.key_len) as usize;
            (&field.doc.text()[key], field)
        })
    }

    /// The fields that no later field with the same key replaces.
    pub(crate) fn counting_fields(self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        self.children(Kind::Object)
            .filter(|field| field.node().flags & tape::SHADOWED == 0)
    }

    /// Whether this is `{}`.
    pub(super) fn is_empty_object(self) -> bool {
        let node = self.node();
        node.kind == Kind::Object && node.size == 1
    }

    fn children(self, of: Kind) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let node = self.node();
        let end = if node.kind == of {
            self.at + node.size as usize
        } else {
            0
        };
        let mut next = self.at + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then(|| Value::new(self.doc, next))?;
            next += child.node().size as usize;
            Some(child)
        })
    }

    /// The decoded text of a string.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        self.raw_str().map(RawStr::decoded)
    }

    /// A string in its JSON spelling, for callers that need not decode it.
    pub(crate) fn raw_str(self) -> Option<RawStr<'a>> {
        if self.kind() != Kind::String {
            return None;
        }
        let raw = self.raw();
        Some(RawStr {
            inner: &raw[1..raw.len() - 1],
            is_escaped: self.node().flags & tape::ESCAPED != 0,
        })
    }

    /// A number in integer notation, if it fits.
    pub fn as_i64(self) -> Option<i64> {
        (self.kind() == Kind::Number).then(|| self.raw().parse().ok())?
    }

    /// A number, rounded to the nearest double.
    pub fn as_f64(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| self.raw().parse().ok())?
    }

    /// A boolean.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }
}

/// Shows the kind and the length only, because the text may be a Secret.
impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} bytes", self.kind(), self.raw().len())
    }
}
