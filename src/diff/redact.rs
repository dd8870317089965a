//! The one way to a value of a diff or an object that goes to the outside: [`Shown`], which has no
//! access to what a Secret holds.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::object::Value;

use super::secret::Guard;

/// Stands between the values of objects and every output. There is one in a process, so that equal
/// values of Secrets have equal numbers wherever they are met.
///
/// It keeps no value, only two keyed hashes of each, whose keys die with the process.
#[derive(Default)]
pub struct Redactor {
    pub(super) reveals: Reveals,
    keys: (RandomState, RandomState),
    seen: Mutex<FxHashMap<(u64, u64), u32>>,
}

/// What is let through of what Secrets hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reveals {
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
    pub(super) redactor: &'a Redactor,
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

    pub(super) fn reveals(&self) -> bool {
        self.reveals != Reveals::Nothing
    }

    /// A whole object, as it may be shown.
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
        // The map is whole even if a thread has panicked between two uses of it.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(seen.len() + 1).unwrap_or(u32::MAX);
        Redacted {
            bytes: value.len(),
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
