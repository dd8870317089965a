//! Finds repeated keys of an object.

use super::tape::{KEY_RESPELT, SHADOWED, TapeNode};

/// Checks, at almost no cost, that an object has no repeated keys. It may report a repetition where there is
/// none.
#[derive(Default)]
pub(super) struct SeenKeys {
    /// One bit per key, chosen by the last bytes and the length of the key.
    bits: [u64; 4],
    may_repeat: bool,
}

impl SeenKeys {
    /// Whether a key may be repeated.
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
