//! The tape of a [`Doc`](super::Doc): where each value of a JSON text starts and ends. It contains no decoded
//! values.

use std::borrow::Cow;

use super::scan;

/// The deepest nesting. `serde_json` stops at 127, and objects in etcd are far less deep than both.
pub(super) const MAX_DEPTH: usize = 512;

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number of any size and spelling.
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
    /// The offset of the value's first byte.
    pub(super) start: u32,
    /// The offset after its last byte.
    pub(super) end: u32,
    /// The offset of the key inside its quotes. For items and the root it is the value's own start.
    pub(super) key: u32,
    /// The length of the key's spelling, in bytes.
    pub(super) key_len: u32,
    /// How many nodes of the tape belong to this value, itself included.
    pub(super) size: u32,
    /// The kind of the value.
    pub(super) kind: Kind,
    /// [`ESCAPED`], [`KEY_ESCAPED`], [`SHADOWED`], [`KEY_RESPELT`].
    pub(super) flags: u8,
}

/// The string contains a backslash, so it must be decoded.
pub(super) const ESCAPED: u8 = 1;
/// The key contains a backslash.
pub(super) const KEY_ESCAPED: u8 = 2;
/// A later field of the same object has the same key, so this one does not count.
pub(super) const SHADOWED: u8 = 4;
/// The key contains an escape sequence for a character that has other spellings.
pub(super) const KEY_RESPELT: u8 = 8;

impl TapeNode {
    /// The spelling of the key, without its quotes. `text` is the text of the tape.
    #[inline]
    pub(super) fn key_raw<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.key as usize..(self.key + self.key_len) as usize]
    }

    /// The decoded key.
    #[inline]
    pub(super) fn key_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let raw = &text[self.key as usize..(self.key + self.key_len) as usize];
        if self.flags & KEY_ESCAPED == 0 {
            Cow::Borrowed(raw)
        } else {
            Cow::Owned(scan::unescape(raw))
        }
    }

    /// Whether the decoded key is `key`.
    #[inline]
    pub(super) fn has_key(&self, text: &str, key: &str) -> bool {
        if self.flags & KEY_ESCAPED == 0 {
            self.key_len as usize == key.len() && self.key_raw(text.as_bytes()) == key.as_bytes()
        } else {
            self.key_text(text) == key
        }
    }

    /// Whether both fields have the same decoded key.
    pub(super) fn has_key_of(&self, other: &TapeNode, text: &str) -> bool {
        // Keys with escaped quotes (`k:{"name":"web"}`) are common in managed fields, so this path avoids
        // decoding them.
        if (self.flags | other.flags) & KEY_RESPELT == 0 {
            let bytes = text.as_bytes();
            return self.key_len == other.key_len && self.key_raw(bytes) == other.key_raw(bytes);
        }
        self.key_text(text) == other.key_text(text)
    }
}

/// Converts an offset to u32. The parser refuses longer texts before it makes a tape.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the parser refuses texts of 4 GiB and more"
)]
pub(super) fn narrow(offset: usize) -> u32 {
    offset as u32
}
