//! The one way to a value of a diff or an object that goes to the outside: [`Shown`], which has no
//! access to what a Secret holds.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::object::{Doc, Kind, Value};

use super::base64;
use super::secret::{self, Coding, Guard, Note};

/// Stands between the values of objects and every output. There is one in a process, so that equal
/// values of Secrets have equal numbers wherever they are met.
///
/// It keeps no value, only two keyed hashes of each, whose keys die with the process.
#[derive(Default)]
pub struct Redactor {
    reveals: Reveals,
    keys: (RandomState, RandomState),
    seen: Mutex<FxHashMap<(u64, u64), u32>>,
}

/// What is let through of what Secrets hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reveals {
    #[default]
    Nothing,
    /// The text it stands for.
    Decoded,
    /// What the object has.
    Stored,
}

/// A value as it may be shown.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub(super) value: Value<'a>,
    pub(super) guard: Guard,
    redactor: &'a Redactor,
}

/// What a value is, as far as it may be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Number(&'a str),
    /// The text of a string.
    Text(Cow<'a, str>),
    /// What a Secret holds.
    Redacted(Redacted),
    /// An array: see [`Shown::items`].
    Array,
    /// An object: see [`Shown::fields`].
    Object,
}

/// What is said of a Secret's value in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Redacted {
    /// How long the decoded value is.
    pub bytes: usize,
    /// Counts the different values from 1, in the order they were first met.
    pub id: u32,
}

impl Redactor {
    /// A new one, which has seen no Secret yet.
    pub fn new() -> Redactor {
        Redactor::default()
    }

    /// One that lets everything through, for those who ask to see it: what Secrets hold, decoded.
    pub fn revealing() -> Redactor {
        Redactor {
            reveals: Reveals::Decoded,
            ..Redactor::default()
        }
    }

    /// One that lets everything through as the object has it, for what is to be applied again.
    pub fn unchanged() -> Redactor {
        Redactor {
            reveals: Reveals::Stored,
            ..Redactor::default()
        }
    }

    fn reveals(&self) -> bool {
        self.reveals != Reveals::Nothing
    }

    /// A whole object, as it may be shown.
    pub fn shown<'a>(&'a self, object: Value<'a>) -> Shown<'a> {
        self.guarded(object, Guard::Open.enter(Some(object), None))
    }

    /// A whole object as JSON text, with what Secrets hold replaced.
    pub fn json(&self, object: Value<'_>) -> String {
        self.shown(object).json()
    }

    pub(super) fn guarded<'a>(&'a self, value: Value<'a>, guard: Guard) -> Shown<'a> {
        Shown {
            value,
            guard,
            redactor: self,
        }
    }

    fn redact(&self, value: &[u8]) -> Redacted {
        let key = (self.keys.0.hash_one(value), self.keys.1.hash_one(value));
        // The map is whole even if a thread has panicked between two uses of it.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(seen.len() + 1).unwrap_or(u32::MAX);
        Redacted {
            bytes: value.len(),
            id: *seen.entry(key).or_insert(next),
        }
    }
}

impl<'a> Shown<'a> {
    /// What it is. Of strings that hold a copy of a Secret, the JSON with its values replaced.
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

    /// The field of an object.
    pub fn get(self, name: &str) -> Option<Shown<'a>> {
        let value = self.value.get(name).filter(|_| !self.is_hidden())?;
        let guard = self.guard.field(name).enter(Some(value), None);
        Some(self.redactor.guarded(value, guard))
    }

    /// The text of a field that is a string.
    pub fn str(self, name: &str) -> Option<Cow<'a, str>> {
        match self.get(name)?.content() {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as JSON text: numbers digit by digit, what Secrets hold as
    /// `{"redacted":true,"bytes":16,"id":1}`.
    pub fn json(self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// The length of [`Shown::json`], or something near it.
    pub fn size(self) -> usize {
        self.value.raw().len()
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
        let owner = match self.guard {
            Guard::Annotation(owner) if !self.redactor.reveals() => owner,
            _ => return Content::Text(text),
        };
        match secret::note(&text, owner, || Doc::parse(&*text).is_ok()) {
            Note::Text => Content::Text(text),
            Note::Hidden => Content::Redacted(self.redactor.redact(text.as_bytes())),
            Note::Json(guard) => Content::Text(match self.redacted_json(&text, guard) {
                Some(redacted) => Cow::Owned(redacted),
                None => text,
            }),
        }
    }

    /// A JSON text without what Secrets hold, if it has any of it.
    fn redacted_json(self, text: &str, guard: Guard) -> Option<String> {
        let doc = Doc::parse(text).ok()?;
        let guard = guard.enter(Some(doc.root()), None);
        let inner = self.redactor.guarded(doc.root(), guard);
        inner.holds_secret().then(|| inner.json())
    }

    /// Whether something in it is held back: then it is not the value that the object has.
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
            (Kind::String, Guard::Annotation(owner)) => {
                let text = self.value.as_str().unwrap_or_default();
                match secret::note(&text, owner, || Doc::parse(&*text).is_ok()) {
                    Note::Text => false,
                    Note::Hidden => true,
                    Note::Json(guard) => self.redacted_json(&text, guard).is_some(),
                }
            }
            _ => false,
        }
    }

    /// Whether the value may not be read.
    pub(super) fn is_hidden(self) -> bool {
        !self.redactor.reveals() && self.guard.hides(self.value)
    }

    /// The text that a Secret holds, for those who may see it; none if it is not text.
    fn decoded(self) -> Option<Cow<'a, str>> {
        let coded = matches!(
            self.guard,
            Guard::Map(Coding::Base64) | Guard::Value(Coding::Base64)
        );
        let bytes = base64::decode(&self.value.as_str().filter(|_| coded)?)?;
        String::from_utf8(bytes).ok().map(Cow::Owned)
    }

    fn redacted(self) -> Redacted {
        let plain = match self.guard {
            Guard::Map(Coding::Base64) | Guard::Value(Coding::Base64) => self
                .value
                .as_str()
                .and_then(|text| base64::decode(&text))
                .map(Cow::Owned),
            _ => None,
        };
        let text = self
            .value
            .as_str()
            .unwrap_or_else(|| Cow::Borrowed(self.value.raw()));
        let plain = plain.unwrap_or_else(|| Cow::Borrowed(text.as_bytes()));
        self.redactor.redact(&plain)
    }
}

impl Redacted {
    fn json(self) -> String {
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

/// What kind of value it is, not the value.
impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shown").field(&self.value.kind()).finish()
    }
}

/// How many values it has seen.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("Redactor").field(&seen.len()).finish()
    }
}

pub(super) fn push_json_string(out: &mut String, text: &str) {
    // Strings are always serialisable.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}
