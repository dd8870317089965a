//! Paths into an object: the one form in which every view, record and flag writes them.
//!
//! `.spec.ports[port=53,protocol=TCP].targetPort`, `.metadata.labels["a/b"]`, `.spec.rules[0]`,
//! `.spec.env[name=A#2]` for the second item of that name. [`Pattern`] reads the same form back, and
//! [`Path::pointer`] gives the same place as a JSON Pointer (RFC 6901).

mod parse;
mod pattern;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

pub use parse::PatternError;
pub use pattern::{Match, Pattern};

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A field of an object.
    Field(Cow<'a, str>),
    /// An item of a list.
    Item {
        /// Where it stands.
        place: Place,
        /// How it is named.
        label: Label<'a>,
    },
}

/// Where an item stands in its list: before and after, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its index in the old list; `None` if it was not there.
    pub old: Option<u32>,
    /// Its index in the new list; `None` if it is not there.
    pub new: Option<u32>,
}

/// How an item of a list is named in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label<'a> {
    /// By its index: `[3]`, or `[3→4]` where that differs.
    Index,
    /// Not at all: it is a value of a set, and stands at the path of the set.
    Member,
    /// By the fields that tell it from its siblings: `[port=53,protocol=TCP]`.
    Key {
        /// Names and values, in the order they are written.
        parts: Vec<(Cow<'a, str>, Cow<'a, str>)>,
        /// Counts the items of the same key, from 1.
        nth: u32,
    },
}

/// The way from an object to one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path<'a> {
    /// The steps, from the outside in; none for the object itself.
    pub steps: Vec<Step<'a>>,
}

/// Which of two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one before.
    Old,
    /// The one after.
    New,
}

impl Place {
    /// The index on one side.
    pub fn on(self, side: Side) -> Option<u32> {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }
}

impl Path<'_> {
    /// The same place as a JSON Pointer (RFC 6901) into one of the versions. An item that is not
    /// there on that side is given its index on the other.
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

    /// The path as text, with `arrow` between the two indices of an item that has shifted.
    pub fn text(&self, arrow: &str) -> String {
        let mut text = String::new();
        for step in &self.steps {
            push_step(&mut text, step, arrow);
        }
        if text.is_empty() {
            text.push('.');
        }
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

fn push_step(text: &mut String, step: &Step<'_>, arrow: &str) {
    match step {
        Step::Field(name) if is_bare_name(name) => {
            text.push('.');
            text.push_str(name);
        }
        Step::Field(name) => {
            if text.is_empty() {
                text.push('.');
            }
            text.push('[');
            push_quoted(text, name);
            text.push(']');
        }
        Step::Item { place, label } => push_item(text, *place, label, arrow),
    }
}

fn push_item(text: &mut String, place: Place, label: &Label<'_>, arrow: &str) {
    match label {
        Label::Member => {}
        Label::Index => {
            let _ = match (place.old, place.new) {
                (Some(old), Some(new)) if old != new => write!(text, "[{old}{arrow}{new}]"),
                (_, Some(at)) | (Some(at), None) => write!(text, "[{at}]"),
                (None, None) => Ok(()),
            };
        }
        Label::Key { parts, nth } => {
            text.push('[');
            for (index, (name, value)) in parts.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(name);
                text.push('=');
                if is_bare_value(value) {
                    text.push_str(value);
                } else {
                    push_quoted(text, value);
                }
            }
            if *nth > 1 {
                let _ = write!(text, "#{nth}");
            }
            text.push(']');
        }
    }
}

/// Appends a JSON string (RFC 8259).
fn push_quoted(text: &mut String, value: &str) {
    text.push('"');
    for char in value.chars() {
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// Whether a field's name stands in a path without quotes.
fn is_bare_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| is_name_char(byte.into()))
}

fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}

/// Whether the value of a key stands in a path without quotes.
fn is_bare_value(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| is_value_char(byte.into()))
}

fn is_value_char(char: char) -> bool {
    char.is_ascii_alphanumeric()
        || matches!(
            char,
            '_' | '-' | '.' | '/' | ':' | '@' | '+' | '*' | '~' | '%' | '$'
        )
}

#[cfg(test)]
mod tests;
