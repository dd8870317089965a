//! Hides Secret values. [`Shown`] is the only way from a value of a diff or an object to an output.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::secret::{self, AnnotationNote, Coding, Guard};
use super::{Diff, walk};
use crate::object::list_keys::ListKeys;
use crate::object::{Doc, Kind, Value};

/// Guards the values of objects on their way to every output. A process has one, so that equal Secret values
/// have equal numbers in all output.
///
/// It stores no value, only two keyed hashes of each value. The hash keys end with the process.
#[derive(Default)]
pub struct Redactor {
    pub(super) reveals: Reveals,
    keys: (RandomState, RandomState),
    seen: Mutex<FxHashMap<(u64, u64), u32>>,
}

/// How Secret values are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reveals {
    #[default]
    Nothing,
    /// As the decoded text.
    Decoded,
    /// As the object stores them.
    Stored,
}

/// A value that outputs may read, with Secret values hidden.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub(super) value: Value<'a>,
    pub(super) guard: Guard,
    pub(super) redactor: &'a Redactor,
}

/// The content of a value, as far as it may be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The digits of a number, as they are written.
    Number(&'a str),
    /// The text of a string.
    Text(Cow<'a, str>),
    /// The placeholder of a Secret value.
    Redacted(Redacted),
    /// An array: see [`Shown::items`].
    Array,
    /// An object: see [`Shown::fields`].
    Object,
}

/// The placeholder of a Secret value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Redacted {
    /// The length of the decoded value.
    pub bytes: usize,
    /// The number of the value. Distinct values are numbered from 1 in the order of their first use.
    pub id: u32,
}

impl Redactor {
    /// A redactor that has seen no Secret yet.
    pub fn new() -> Redactor {
        Redactor::default()
    }

    /// A redactor that shows Secret values decoded, for `--show-secrets`.
    pub fn revealing() -> Redactor {
        Redactor {
            reveals: Reveals::Decoded,
            ..Redactor::default()
        }
    }

    /// A redactor that shows Secret values as the object stores them, for output that can be applied again.
    pub fn unchanged() -> Redactor {
        Redactor {
            reveals: Reveals::Stored,
            ..Redactor::default()
        }
    }

    pub(super) fn reveals(&self) -> bool {
        self.reveals != Reveals::Nothing
    }

    /// A whole object, behind this redactor.
    pub fn shown<'a>(&'a self, object: Value<'a>) -> Shown<'a> {
        self.guarded(object, Guard::Open.enter(Some(object), None))
    }

    pub(super) fn guarded<'a>(&'a self, value: Value<'a>, guard: Guard) -> Shown<'a> {
        Shown {
            value,
            guard,
            redactor: self,
        }
    }

    pub(super) fn redact(&self, value: &[u8]) -> Redacted {
        let key = (self.keys.0.hash_one(value), self.keys.1.hash_one(value));
        // The map stays consistent even if a thread panics while it holds the lock.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(seen.len() + 1).unwrap_or(u32::MAX);
        let recorded = std::str::from_utf8(value)
            .ok()
            .and_then(secret::digest_length);
        Redacted {
            bytes: recorded.unwrap_or(value.len()),
            id: *seen.entry(key).or_insert(next),
        }
    }
}

impl Redacted {
    pub(super) fn json(self) -> String {
        let Redacted { bytes, id } = self;
        format!(r#"{{"redacted":true,"bytes":{bytes},"id":{id}}}"#)
    }
}

/// `<secret 16 B #1>`
impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<secret {} B #{}>", self.bytes, self.id)
    }
}

/// Prints the kind of the value, never the value.
impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shown").field(&self.value.kind()).finish()
    }
}

/// Prints the number of values seen.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("Redactor").field(&seen.len()).finish()
    }
}

impl<'a> Shown<'a> {
    /// The content. For a string that contains a copy of a Secret, the JSON with placeholders.
    pub fn content(self) -> Content<'a> {
        if self.is_hidden() {
            return Content::Redacted(self.redacted());
        }
        if self.redactor.reveals == Reveals::Decoded
            && let Some(text) = self.decoded()
        {
            return Content::Text(text);
        }
        match self.value.kind() {
            Kind::Null => Content::Null,
            Kind::Bool => Content::Bool(self.value.as_bool() == Some(true)),
            Kind::Number => Content::Number(self.value.raw()),
            Kind::String => self.text(),
            Kind::Array => Content::Array,
            Kind::Object => Content::Object,
        }
    }

    /// The fields of an object, in document order.
    pub fn fields(self) -> impl Iterator<Item = (Cow<'a, str>, Shown<'a>)> {
        self.value
            .fields()
            .filter(move |_| !self.is_hidden())
            .map(move |(name, value)| {
                let guard = self.guard.field(&name).enter(Some(value), None);
                (name, self.redactor.guarded(value, guard))
            })
    }

    /// The items of an array.
    pub fn items(self) -> impl Iterator<Item = Shown<'a>> {
        self.value
            .items()
            .filter(move |_| !self.is_hidden())
            .map(move |value| {
                let guard = self.guard.item().enter(Some(value), None);
                self.redactor.guarded(value, guard)
            })
    }

    /// The number of fields or items.
    pub fn len(self) -> usize {
        match self.value.kind() {
            _ if self.is_hidden() => 0,
            Kind::Array => self.value.items().count(),
            Kind::Object => self.value.fields().count(),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => 0,
        }
    }

    /// Whether it has neither fields nor items.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The field of an object.
    pub fn get(self, name: &str) -> Option<Shown<'a>> {
        let value = self.value.get(name).filter(|_| !self.is_hidden())?;
        let guard = self.guard.field(name).enter(Some(value), None);
        Some(self.redactor.guarded(value, guard))
    }

    /// The text of a field, if that is a string.
    pub fn str(self, name: &str) -> Option<Cow<'a, str>> {
        match self.get(name)?.content() {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as JSON text. Numbers keep their digits, and a Secret value becomes
    /// `{"redacted":true,"bytes":16,"id":1}`.
    pub fn json(self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// The length of the raw text, which is close to that of [`Shown::json`].
    pub fn size(self) -> usize {
        self.value.raw().len()
    }

    /// Whether the value may have a field of this name, at any depth. It is faster than to look for the field. A name with
    /// escape sequences is not found.
    pub fn may_have(self, name: &str) -> bool {
        self.value.raw().contains(name)
    }

    fn write_json(self, out: &mut String) {
        let nested = matches!(self.value.kind(), Kind::Array | Kind::Object);
        if self.redactor.reveals() && !nested {
            return out.push_str(self.value.raw());
        }
        match self.content() {
            Content::Null => out.push_str("null"),
            Content::Bool(bool) => out.push_str(if bool { "true" } else { "false" }),
            Content::Number(digits) => out.push_str(digits),
            Content::Text(text) => push_json_string(out, &text),
            Content::Redacted(redacted) => out.push_str(&redacted.json()),
            Content::Array => {
                out.push('[');
                for (index, item) in self.items().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write_json(out);
                }
                out.push(']');
            }
            Content::Object => {
                out.push('{');
                for (index, (name, value)) in self.fields().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    push_json_string(out, &name);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    fn text(self) -> Content<'a> {
        let text = self.value.as_str().unwrap_or_default();
        let annotation = match self.guard {
            Guard::Annotation(annotation) if !self.redactor.reveals() => annotation,
            _ => return Content::Text(text),
        };
        match annotation.note(&text) {
            AnnotationNote::Text => Content::Text(text),
            AnnotationNote::Hidden => Content::Redacted(self.redactor.redact(text.as_bytes())),
            AnnotationNote::Json(guard) => Content::Text(match self.redacted_json(&text, guard) {
                Some(redacted) => Cow::Owned(redacted),
                None => text,
            }),
        }
    }

    /// The JSON text with placeholders; `None` if it contains no Secret value.
    fn redacted_json(self, text: &str, guard: Guard) -> Option<String> {
        let doc = Doc::parse(text).ok()?;
        let guard = guard.enter(Some(doc.root()), None);
        let inner = self.redactor.guarded(doc.root(), guard);
        inner.holds_secret().then(|| inner.json())
    }

    /// Whether it contains a hidden Secret value. Then the output differs from the object.
    pub fn holds_secret(self) -> bool {
        if self.redactor.reveals() {
            return false;
        }
        if self.is_hidden() {
            return true;
        }
        match (self.value.kind(), self.guard) {
            (Kind::Object, _) => self.fields().any(|(_, value)| value.holds_secret()),
            (Kind::Array, _) => self.items().any(Shown::holds_secret),
            (Kind::String, Guard::Annotation(annotation)) => {
                let text = self.value.as_str().unwrap_or_default();
                match annotation.note(&text) {
                    AnnotationNote::Text => false,
                    AnnotationNote::Hidden => true,
                    AnnotationNote::Json(guard) => self.redacted_json(&text, guard).is_some(),
                }
            }
            _ => false,
        }
    }

    /// Whether the whole value is hidden.
    pub fn is_hidden(self) -> bool {
        !self.redactor.reveals() && self.guard.hides(self.value)
    }

    /// The decoded text of a Secret value; `None` if the bytes are not text.
    fn decoded(self) -> Option<Cow<'a, str>> {
        let coded = matches!(
            self.guard,
            Guard::Map(Coding::Base64) | Guard::Value(Coding::Base64)
        );
        let bytes = secret::decode_base64(&self.value.as_str().filter(|_| coded)?)?;
        String::from_utf8(bytes).ok().map(Cow::Owned)
    }

    fn redacted(self) -> Redacted {
        self.redactor.redact(&self.plain())
    }

    /// The bytes of a hidden value: decoded, if they are in base64.
    pub(super) fn plain(self) -> Cow<'a, [u8]> {
        let plain = match self.guard {
            Guard::Map(Coding::Base64) | Guard::Value(Coding::Base64) => self
                .value
                .as_str()
                .and_then(|text| secret::decode_base64(&text))
                .map(Cow::Owned),
            _ => None,
        };
        let text = self
            .value
            .as_str()
            .unwrap_or_else(|| Cow::Borrowed(self.value.raw()));
        plain.unwrap_or_else(|| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })
    }

    /// Parses both strings as JSON. `None` if one of them is not JSON or is hidden.
    pub fn embedded(self, new: Shown<'_>) -> Option<Embedded> {
        let (a, b) = (self.readable()?, new.readable()?);
        let guard = match (self.guard_inside(&a), new.guard_inside(&b)) {
            (Guard::Secret, _) | (_, Guard::Secret) => Guard::Secret,
            (other, _) => other,
        };
        Some(Embedded {
            old: Doc::parse(&*a).ok()?,
            new: Doc::parse(&*b).ok()?,
            guard,
        })
    }

    fn guard_inside(self, text: &str) -> Guard {
        match self.guard {
            Guard::Annotation(annotation) => match annotation.note(text) {
                AnnotationNote::Text => Guard::Open,
                AnnotationNote::Json(guard) => guard,
                // A hidden annotation is readable only if the redactor reveals all Secrets.
                AnnotationNote::Hidden => Guard::Secret,
            },
            _ => Guard::Open,
        }
    }

    fn readable(self) -> Option<Cow<'a, str>> {
        (!self.is_hidden()).then(|| self.value.as_str())?
    }
}

pub(super) fn push_json_string(out: &mut String, text: &str) {
    // Serializing a string cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Begins a field. `open` is the offset after the `{` of its object.
pub(super) fn push_field(out: &mut String, name: &str, open: usize) {
    if out.len() > open {
        out.push(',');
    }
    push_json_string(out, name);
    out.push(':');
}

/// The two versions of a JSON text that a string contains.
pub struct Embedded {
    old: Doc,
    new: Doc,
    guard: Guard,
}

impl Embedded {
    /// The changes between the two texts. The JSON may be a copy of the object, so it uses the object's list
    /// keys.
    pub fn diff<'e>(&'e self, keys: &'e ListKeys) -> Diff<'e> {
        let (old, new) = (self.old.root(), self.new.root());
        walk::run(Some(old), Some(new), keys, self.guard)
    }
}
