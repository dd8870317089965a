//! Paths into an object, in the one form that all views, records and flags use.
//!
//! `.spec.ports[port=53,protocol=TCP].targetPort`, `.metadata.labels["a/b"]`, `.spec.rules[0]`,
//! `.spec.env[name=A#2]` for the second item with that name. [`Pattern`] parses the same form, and
//! [`Path::pointer`] gives the equivalent JSON Pointer (RFC 6901).

mod pattern;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

pub use pattern::{Match, Pattern, PatternError};

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A field of an object.
    Field(Cow<'a, str>),
    /// An item of a list.
    Item {
        /// The item's indices.
        place: Place,
        /// The item's name.
        label: Label<'a>,
    },
}

/// The index of an item in its list, before and after the change, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index in the old list; `None` if the old list does not have the item.
    pub old: Option<u32>,
    /// The index in the new list; `None` if the new list does not have the item.
    pub new: Option<u32>,
}

/// The name of a list's item in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// The index: `[3]`, or `[3→4]` if it has changed.
    Index,
    /// No name: the item is a value of a set, and has the path of the set.
    Member,
    /// The key fields: `[port=53,protocol=TCP]`.
    Key {
        /// Names and values, in the order of the path.
        parts: Vec<(Cow<'a, str>, Cow<'a, str>)>,
        /// The number of this item among the items with the same key, from 1.
        nth: u32,
    },
}

/// The path from an object to one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path<'a> {
    /// The steps, from the outermost to the innermost; none for the object itself.
    pub steps: Vec<Step<'a>>,
}

/// One of two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The earlier version.
    Old,
    /// The later version.
    New,
}

impl Place {
    /// The index in one version.
    pub fn on(self, side: Side) -> Option<u32> {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }
}

impl Path<'_> {
    /// The JSON Pointer (RFC 6901) to the same value in one of the versions. An item that this version lacks has
    /// its index in the other one.
    pub fn pointer(&self, side: Side) -> String {
        let mut pointer = String::new();
        for step in &self.steps {
            pointer.push('/');
            match step {
                Step::Field(name) => push_pointer_token(&mut pointer, name),
                Step::Item { place, .. } => {
                    let index = place.on(side).or(place.new).or(place.old);
                    let _ = write!(pointer, "{}", index.unwrap_or_default());
                }
            }
        }
        pointer
    }

    /// The path as text. `arrow` separates the two indices of an item that has moved.
    pub fn text(&self, arrow: &str) -> String {
        let mut text = String::new();
        let mut writer = PathWriter::new(&mut text, arrow);
        for step in &self.steps {
            writer.step(step);
        }
        writer.end();
        text
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text("→"))
    }
}

/// Appends one token of a JSON Pointer, escaped (RFC 6901 §3).
pub fn push_pointer_token(pointer: &mut String, token: &str) {
    for char in token.chars() {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

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
    fn step(&mut self, step: &Step<'_>) {
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
        if !name.is_empty() && all(name, is_name_byte) {
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
            if !value.is_empty() && all(&value, is_value_byte) {
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

/// Whether the condition holds for all bytes. It does not stop early: most texts pass, and so the compiler can
/// check many bytes at once.
fn all(text: &str, is_such: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all, byte| all & is_such(byte))
}

fn is_name_char(char: char) -> bool {
    u8::try_from(char).is_ok_and(is_name_byte)
}

fn is_value_char(char: char) -> bool {
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
