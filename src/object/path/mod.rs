//! Paths into an object: the one form in which every view, record and flag writes them.
//!
//! `.spec.ports[port=53,protocol=TCP].targetPort`, `.metadata.labels["a/b"]`, `.spec.rules[0]`,
//! `.spec.env[name=A#2]` for the second item of that name. [`Pattern`] reads the same form back, and
//! [`Path::pointer`] gives the same place as a JSON Pointer (RFC 6901).

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
        let mut pen = PathWriter::new(&mut text, arrow);
        for step in &self.steps {
            pen.step(step);
        }
        pen.end();
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
