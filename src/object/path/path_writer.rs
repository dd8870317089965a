//! Writes paths step by step to the end of a text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Label, Place, Step};

/// Writes one path.
pub(crate) struct PathWriter<'t> {
    text: &'t mut String,
    /// The offset of the path in the text.
    start: usize,
    /// Separates the two indices of an item that has moved.
    arrow: &'t str,
}

impl<'t> PathWriter<'t> {
    /// Starts a path at the end of `text`.
    pub(crate) fn new(text: &'t mut String, arrow: &'t str) -> PathWriter<'t> {
        PathWriter {
            start: text.len(),
            text,
            arrow,
        }
    }

    /// Continues the path that `text` is.
    pub(crate) fn below(text: &'t mut String) -> PathWriter<'t> {
        PathWriter {
            start: 0,
            text,
            arrow: "",
        }
    }

    /// Appends a step.
    pub(super) fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Field(name) => self.field(name),
            Step::Item { place, label } => match label {
                Label::Member => {}
                Label::Index => self.index(*place),
                Label::Key { parts, nth } => {
                    let parts = parts
                        .iter()
                        .map(|(name, value)| (&**name, Cow::Borrowed(&**value)));
                    self.key(parts, *nth);
                }
            },
        }
    }

    /// Appends a field of an object.
    pub(crate) fn field(&mut self, name: &str) {
        if is_bare_name(name) {
            self.text.push('.');
            self.text.push_str(name);
            return;
        }
        if self.text.len() == self.start {
            self.text.push('.');
        }
        self.text.push('[');
        self.quoted(name);
        self.text.push(']');
    }

    /// Appends an item with its index as its name.
    pub(crate) fn index(&mut self, place: Place) {
        let _ = match (place.old, place.new) {
            (Some(old), Some(new)) if old != new => {
                write!(self.text, "[{old}{}{new}]", self.arrow)
            }
            (_, Some(at)) | (Some(at), None) => write!(self.text, "[{at}]"),
            (None, None) => Ok(()),
        };
    }

    /// Appends an item with key fields as its name: their names and values, and the item's number among equal
    /// keys.
    pub(crate) fn key<'n, 'v>(
        &mut self,
        parts: impl Iterator<Item = (&'n str, Cow<'v, str>)>,
        nth: u32,
    ) {
        self.text.push('[');
        for (index, (name, value)) in parts.enumerate() {
            self.text.push_str(if index == 0 { "" } else { "," });
            self.text.push_str(name);
            self.text.push('=');
            if is_bare_value(&value) {
                self.text.push_str(&value);
            } else {
                self.quoted(&value);
            }
        }
        if nth > 1 {
            let _ = write!(self.text, "#{nth}");
        }
        self.text.push(']');
    }

    /// Ends a path that does not start at the root: no dot precedes its first field.
    pub(crate) fn end_below_root(self) {
        if self.text[self.start..].starts_with('.') {
            self.text.remove(self.start);
        }
    }

    /// Ends the path. The path of the object itself is a dot.
    pub(crate) fn end(self) {
        if self.text.len() == self.start {
            self.text.push('.');
        }
    }

    /// Appends a JSON string (RFC 8259).
    fn quoted(&mut self, value: &str) {
        self.text.push('"');
        for char in value.chars() {
            match char {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                control if u32::from(control) < 0x20 => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(control));
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }
}

/// Whether a field's name needs no quotes in a path.
fn is_bare_name(name: &str) -> bool {
    !name.is_empty() && all(name, is_name_byte)
}

/// Whether a key's value needs no quotes in a path.
fn is_bare_value(value: &str) -> bool {
    !value.is_empty() && all(value, is_value_byte)
}

/// Whether the condition holds for all bytes. It does not stop early: most texts pass, and so the compiler can
/// check many bytes at once.
fn all(text: &str, is_such: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all, byte| all & is_such(byte))
}

pub(super) fn is_name_char(char: char) -> bool {
    u8::try_from(char).is_ok_and(is_name_byte)
}

pub(super) fn is_value_char(char: char) -> bool {
    u8::try_from(char).is_ok_and(is_value_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() | matches!(byte, b'_' | b'-')
}

fn is_value_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        | matches!(
            byte,
            b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'+' | b'*' | b'~' | b'%' | b'$'
        )
}
