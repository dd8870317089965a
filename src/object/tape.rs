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

impl Kind {
    /// Its name with the article, for messages: "a list".
    pub const fn with_article(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "a list",
            Kind::Object => "an object",
        }
    }
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

    #[inline]
    pub(super) fn key_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let raw = &text[self.key as usize..(self.key + self.key_len) as usize];
        if self.flags & KEY_ESCAPED == 0 {
            Cow::Borrowed(raw)
        } else {
            Cow::Owned(scan::unescape(raw))
        }
    }

    #[inline]
    pub(super) fn has_key(&self, text: &str, key: &str) -> bool {
        if self.flags & KEY_ESCAPED == 0 {
            self.key_len as usize == key.len() && self.key_raw(text.as_bytes()) == key.as_bytes()
        } else {
            self.key_text(text) == key
        }
    }

    /// Whether both fields have the same decoded key.
    fn has_key_of(&self, other: &TapeNode, text: &str) -> bool {
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

/// An earlier text and its tape. Both are empty if there is none. A value whose bytes did not change needs no parsing.
///
/// The counterpart of a value is found by position only: the same key, or the same index. So the search costs
/// almost nothing. If the guess is wrong, the value is parsed normally.
#[derive(Clone, Copy, Default)]
pub(super) struct Hint<'a> {
    pub(super) text: &'a str,
    pub(super) nodes: &'a [TapeNode],
}

impl<'a> Hint<'a> {
    /// The counterpart of the whole text.
    pub(super) fn root(self) -> Option<usize> {
        (!self.nodes.is_empty()).then_some(0)
    }

    /// The tape of the value at `old`, if `rest` starts with exactly that value.
    pub(super) fn standing(self, old: usize, rest: &[u8]) -> Option<&'a [TapeNode]> {
        let node = &self.nodes[old];
        let raw = &self.text.as_bytes()[node.start as usize..node.end as usize];
        let after = rest.strip_prefix(raw)?;
        // `12` is also a prefix of `123`. The other kinds of values have an end of their own.
        let goes_on = matches!(after.first(), Some(b'0'..=b'9' | b'.' | b'e' | b'E'));
        if node.kind == Kind::Number && goes_on {
            return None;
        }
        Some(&self.nodes[old..old + node.size as usize])
    }

    pub(super) fn children(self, parent: Option<usize>, kind: Kind) -> Siblings<'a> {
        match parent {
            Some(at) if self.nodes[at].kind == kind => Siblings {
                hint: self,
                next: at + 1,
                end: at + self.nodes[at].size as usize,
            },
            _ => Siblings {
                hint: self,
                next: 0,
                end: 0,
            },
        }
    }
}

/// Iterates over the children of a counterpart, in step with the children that are being parsed.
pub(super) struct Siblings<'a> {
    hint: Hint<'a>,
    next: usize,
    end: usize,
}

impl Siblings<'_> {
    /// How many fields ahead to search. Fields are added and removed, but rarely many at once.
    const REACH: usize = 8;

    pub(super) fn item(&mut self) -> Option<usize> {
        let at = (self.next < self.end).then_some(self.next)?;
        self.next = at + self.hint.nodes[at].size as usize;
        Some(at)
    }

    /// The field whose key is spelled `key`. The fields before it are skipped for good.
    #[inline]
    pub(super) fn field(&mut self, key: &[u8]) -> Option<usize> {
        if self.next >= self.end {
            return None;
        }
        self.find(key)
    }

    fn find(&mut self, key: &[u8]) -> Option<usize> {
        let mut at = self.next;
        for _ in 0..Self::REACH {
            if at >= self.end {
                return None;
            }
            let node = &self.hint.nodes[at];
            let after = at + node.size as usize;
            if node.key_raw(self.hint.text.as_bytes()) == key {
                self.next = after;
                return Some(at);
            }
            at = after;
        }
        None
    }
}

/// Checks, at almost no cost, that an object has no repeated keys. It may report a repetition where there is
/// none.
#[derive(Default)]
pub(super) struct SeenKeys {
    /// One bit per key, chosen by the last bytes and the length of the key.
    bits: [u64; 4],
    may_repeat: bool,
}

impl SeenKeys {
    pub(super) fn may_repeat(&self) -> bool {
        self.may_repeat
    }

    /// Records a key of the object. `text` ends with the key, whose source has `len` bytes.
    #[inline]
    pub(super) fn note(&mut self, text: &[u8], len: u32, flags: u8) {
        let length = len as usize;
        if flags & KEY_RESPELT != 0 {
            self.may_repeat = true;
            return;
        }
        // The last eight bytes of the text, without those before the key.
        let Some(last) = text.last_chunk::<8>() else {
            self.may_repeat = true;
            return;
        };
        let others = 8_usize.saturating_sub(length) * 8;
        let word = u64::from_le_bytes(*last)
            .checked_shr(u32::try_from(others).unwrap_or(u32::MAX))
            .unwrap_or(0);
        let [mixed, ..] = (word ^ u64::from(len)).wrapping_mul(SPREAD).to_be_bytes();
        let (row, bit) = (usize::from(mixed / 64), 1 << (mixed % 64));
        self.may_repeat |= self.bits[row] & bit != 0;
        self.bits[row] |= bit;
    }
}

/// 2⁶⁴ divided by the golden ratio. It spreads similar numbers over the highest bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Marks every field that a later field with the same key replaces. `fields` is the tape of their object, without
/// the object itself.
pub(super) fn shadow_repeated(fields: &mut [TapeNode], text: &str) {
    if has_many(fields) {
        return shadow_repeated_of_many(fields, text);
    }
    let mut at = 0;
    while let Some(field) = fields.get(at) {
        let after = at + field.size as usize;
        if is_repeated_later(field, &fields[after..], text) {
            fields[at].flags |= SHADOWED;
        }
        at = after;
    }
}

fn is_repeated_later(field: &TapeNode, rest: &[TapeNode], text: &str) -> bool {
    let mut at = 0;
    while let Some(later) = rest.get(at) {
        if field.has_key_of(later, text) {
            return true;
        }
        at += later.size as usize;
    }
    false
}

/// Whether there are too many fields to compare each with each.
fn has_many(fields: &[TapeNode]) -> bool {
    let next = |at: &usize| Some(at + fields.get(*at)?.size as usize);
    std::iter::successors(Some(0), next).nth(FEW + 1).is_some()
}

fn shadow_repeated_of_many(fields: &mut [TapeNode], text: &str) {
    let mut keys = Vec::new();
    let mut at = 0;
    while let Some(field) = fields.get(at) {
        keys.push((field.key_text(text), at));
        at += field.size as usize;
    }
    // Equal keys are sorted by their position. All but the last of them are replaced.
    keys.sort_unstable();
    for pair in keys.windows(2) {
        if pair[0].0 == pair[1].0 {
            fields[pair[0].1].flags |= SHADOWED;
        }
    }
}

/// Up to this many fields, comparing each with each is faster than sorting.
const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::object::scan;

    const PIECES: [&str; 8] = [
        "a",
        "b",
        "f:spec",
        "é",
        "\\n",
        "\\u0061",
        "\\\"",
        "0123456789",
    ];

    proptest! {
        /// The check may report too much, but never too little.
        #[test]
        fn a_repeated_key_is_noticed(
            keys in prop::collection::vec(prop::collection::vec(prop::sample::select(&PIECES[..]), 0..4), 0..12),
        ) {
            let (mut seen, mut text) = (SeenKeys::default(), String::from("{"));
            let mut met = HashSet::new();
            let mut repeats = false;
            for key in keys.iter().map(|pieces| pieces.concat()) {
                text.push('"');
                text.push_str(&key);
                let flags = if key.contains("\\u") { KEY_RESPELT } else { 0 };
                seen.note(text.as_bytes(), u32::try_from(key.len()).expect("short"), flags);
                text.push('"');
                repeats |= !met.insert(scan::unescape(&key));
            }
            prop_assert!(!repeats || seen.may_repeat(), "{}", text);
        }
    }

    #[test]
    fn different_keys_rarely_collide() {
        let mut seen = SeenKeys::default();
        for key in ["name", "namespace", "uid", "labels"] {
            let text = format!(r#"{{"metadata":{{"{key}"#);
            seen.note(text.as_bytes(), u32::try_from(key.len()).expect("short"), 0);
        }
        assert!(!seen.may_repeat());
    }
}
