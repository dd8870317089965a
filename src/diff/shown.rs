//! Reads a value as far as it may be shown, with placeholders for Secret values.

use std::borrow::Cow;

use crate::object::{Doc, Kind};

use super::annotation::AnnotationNote;
use super::base64;
use super::redact::{Content, Redacted, Reveals, Shown};
use super::secret::{Coding, Guard};

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

pub(super) fn push_json_string(out: &mut String, text: &str) {
    // Serializing a string cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}
