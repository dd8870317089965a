//! Hides Secret values. [`Shown`] is the only way from a value of a diff or an object to an output.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::object::Value;

use super::secret::Guard;

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
