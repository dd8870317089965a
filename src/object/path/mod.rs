//! Paths into an object, in the one form that all views, records and flags use.
//!
//! `.spec.ports[port=53,protocol=TCP].targetPort`, `.metadata.labels["a/b"]`, `.spec.rules[0]`,
//! `.spec.env[name=A#2]` for the second item with that name. [`Pattern`] parses the same form, and
//! [`Path::pointer`] gives the equivalent JSON Pointer (RFC 6901).

mod parse;
mod path_writer;
mod pattern;
mod piece;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

pub use parse::PatternError;
pub(crate) use path_writer::PathWriter;
pub use pattern::{Match, Pattern};

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

#[cfg(test)]
mod tests;
