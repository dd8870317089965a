//! The tape behind [`Doc`](super::Doc): where each value of a JSON text starts and ends, and
//! nothing decoded.

use std::borrow::Cow;

use super::scan;

/// How deep values may nest. `serde_json` stops at 127; objects in etcd stay far below either.
pub(super) const MAX_DEPTH: usize = 512;

/// What sort of JSON value this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, of any size and spelling.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// One value on the tape, in document order (a parent before its children).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TapeNode {
    /// First byte of the value.
    pub(super) start: u32,
    /// One past its last byte.
    pub(super) end: u32,
    /// First byte of the key inside its quotes; the value's own start for items and the root.
    pub(super) key: u32,
    /// Length of the key in bytes, as written.
    pub(super) key_len: u32,
    /// How many nodes this value takes on the tape, itself included.
    pub(super) size: u32,
    /// What it is.
    pub(super) kind: Kind,
    /// [`ESCAPED`], [`KEY_ESCAPED`], [`SHADOWED`], [`KEY_RESPELT`].
    pub(super) flags: u8,
}

/// The string holds a backslash: its text has to be decoded.
pub(super) const ESCAPED: u8 = 1;
/// The key holds a backslash.
pub(super) const KEY_ESCAPED: u8 = 2;
/// A later field of the same object has the same key: this one does not count.
pub(super) const SHADOWED: u8 = 4;
/// The key holds an escape sequence of a character that has other spellings.
pub(super) const KEY_RESPELT: u8 = 8;

impl TapeNode {
    /// The key as it is written, without its quotes; `text` is what the tape was read from.
    #[inline]
    pub(super) fn key_raw<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.key as usize..(self.key + self.key_len) as usize]
    }

    /// The key, decoded.
    #[inline]
    pub(super) fn key_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let raw = &text[self.key as usize..(self.key + self.key_len) as usize];
        if self.flags & KEY_ESCAPED == 0 {
            Cow::Borrowed(raw)
        } else {
            Cow::Owned(scan::unescape(raw))
        }
    }

    /// Whether the key, decoded, is `key`.
    #[inline]
    pub(super) fn has_key(&self, text: &str, key: &str) -> bool {
        if self.flags & KEY_ESCAPED == 0 {
            self.key_len as usize == key.len() && self.key_raw(text.as_bytes()) == key.as_bytes()
        } else {
            self.key_text(text) == key
        }
    }

    /// Whether both fields have the same key, however it is written.
    pub(super) fn has_key_of(&self, other: &TapeNode, text: &str) -> bool {
        // Keys with quotes in them (`k:{"name":"web"}`) fill the managed fields of every object.
        if (self.flags | other.flags) & KEY_RESPELT == 0 {
            let bytes = text.as_bytes();
            return self.key_len == other.key_len && self.key_raw(bytes) == other.key_raw(bytes);
        }
        self.key_text(text) == other.key_text(text)
    }
}

/// Offsets are u32: longer texts are refused before a tape is made.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the parser refuses texts of 4 GiB and more"
)]
pub(super) fn narrow(offset: usize) -> u32 {
    offset as u32
}
