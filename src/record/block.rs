//! A block: many versions in one value of the database, because a row for each would be larger than the version.
//!
//! The head of a block has the fields of all versions, one field after the other. The bytes of the versions follow: each is
//! the difference from a base ([`super::delta`]). All of it is compressed once more, since the differences are much alike.
//! Reading is total: bytes that are no block give `None`.

use std::sync::Arc;

use lz4_flex::block::{compress, decompress};

use crate::source::Why;

/// The most bytes that a block may have when it is unpacked.
const LARGEST: usize = 1 << 28;

/// One version in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockEntry {
    /// The row of the object.
    pub(super) object: i64,
    pub(super) why: RecordedWhy,
    /// When it arrived, in microseconds since the epoch.
    pub(super) seen: i64,
    /// The row of the base.
    pub(super) base: i64,
    /// The length of the text.
    pub(super) length: usize,
    /// The difference of the text from its base.
    pub(super) delta: Arc<[u8]>,
}

/// Why a version was sent, and whether it was read back from the server's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedWhy {
    /// Why it was sent.
    pub why: Why,
    /// Whether it was read back from the server's history.
    pub past: bool,
}

/// The reasons in the order of their codes. A code never changes its meaning.
const CODES: [Why; 7] = [
    Why::Listed,
    Why::Added,
    Why::Modified,
    Why::Deleted,
    Why::LeftSelector,
    Why::Vanished,
    Why::Skipped,
];

/// What a past version adds to its code.
const PAST: u8 = 8;

impl RecordedWhy {
    /// The reason in the word of the column `why`.
    pub fn name(self) -> &'static str {
        match self.why {
            Why::Listed => "Listed",
            Why::Added => "Added",
            Why::Modified => "Modified",
            Why::Deleted => "Deleted",
            Why::LeftSelector => "LeftSelector",
            Why::Vanished => "Vanished",
            Why::Skipped => "Skipped",
        }
    }

    /// The reason with this name; `None` if there is none.
    pub(super) fn named(name: &str, past: bool) -> Option<RecordedWhy> {
        let mut all = CODES.iter().map(|why| RecordedWhy { why: *why, past });
        all.find(|recorded| recorded.name() == name)
    }

    pub(super) fn code(self) -> u8 {
        let code = match self.why {
            Why::Listed => 0,
            Why::Added => 1,
            Why::Modified => 2,
            Why::Deleted => 3,
            Why::LeftSelector => 4,
            Why::Vanished => 5,
            Why::Skipped => 6,
        };
        code + if self.past { PAST } else { 0 }
    }

    pub(super) fn of_code(code: u8) -> Option<RecordedWhy> {
        let why = *CODES.get(usize::from(code % PAST))?;
        let past = code >= PAST;
        (code < 2 * PAST).then_some(RecordedWhy { why, past })
    }
}

/// A packed block, and its length when it is unpacked.
pub(super) struct PackedBlock {
    pub(super) data: Vec<u8>,
    pub(super) length: usize,
}

/// Packs versions.
pub(super) fn pack(entries: &[BlockEntry]) -> PackedBlock {
    let mut plain = Vec::new();
    write_number(&mut plain, entries.len() as u64);
    write_deltas(&mut plain, entries.iter().map(|entry| entry.object));
    plain.extend(entries.iter().map(|entry| entry.why.code()));
    write_deltas(&mut plain, entries.iter().map(|entry| entry.seen));
    write_deltas(&mut plain, entries.iter().map(|entry| entry.base));
    for entry in entries {
        write_number(&mut plain, entry.length as u64);
        write_number(&mut plain, entry.delta.len() as u64);
    }
    for entry in entries {
        plain.extend_from_slice(&entry.delta);
    }
    PackedBlock {
        data: compress(&plain),
        length: plain.len(),
    }
}

/// Unpacks versions; `None` if the bytes are no block of this length.
pub(super) fn unpack(data: &[u8], length: usize) -> Option<Vec<BlockEntry>> {
    if length > LARGEST {
        return None;
    }
    let plain = decompress(data, length).ok()?;
    if plain.len() != length {
        return None;
    }
    let mut rest = &plain[..];
    let count = usize::try_from(read_number(&mut rest)?).ok()?;
    // Each version takes some bytes of the head.
    if count > rest.len() {
        return None;
    }
    let objects = read_deltas(&mut rest, count)?;
    let whys = take(&mut rest, count)?;
    let seen = read_deltas(&mut rest, count)?;
    let bases = read_deltas(&mut rest, count)?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        let text = usize::try_from(read_number(&mut rest)?).ok()?;
        let delta = usize::try_from(read_number(&mut rest)?).ok()?;
        lengths.push((text, delta));
    }
    let mut entries = Vec::with_capacity(count);
    for at in 0..count {
        let (length, delta) = lengths[at];
        entries.push(BlockEntry {
            object: objects[at],
            why: RecordedWhy::of_code(whys[at])?,
            seen: seen[at],
            base: bases[at],
            length,
            delta: take(&mut rest, delta)?.into(),
        });
    }
    rest.is_empty().then_some(entries)
}

/// Writes each number as its difference from the one before.
fn write_deltas(out: &mut Vec<u8>, numbers: impl Iterator<Item = i64>) {
    let mut before = 0_i64;
    for number in numbers {
        let delta = number.wrapping_sub(before);
        // Zigzag: small numbers of both signs take few bytes.
        write_number(out, ((delta << 1) ^ (delta >> 63)).cast_unsigned());
        before = number;
    }
}

fn read_deltas(rest: &mut &[u8], count: usize) -> Option<Vec<i64>> {
    let mut before = 0_i64;
    let mut numbers = Vec::with_capacity(count);
    for _ in 0..count {
        let coded = read_number(rest)?;
        let delta = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
        before = before.wrapping_add(delta);
        numbers.push(before);
    }
    Some(numbers)
}

/// Writes a number in base 128, the lowest digit first (LEB128).
fn write_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let digit = u8::try_from(number & 0x7f).unwrap_or(0x7f);
        number >>= 7;
        if number == 0 {
            return out.push(digit);
        }
        out.push(digit | 0x80);
    }
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        let digit = u64::from(byte & 0x7f);
        let placed = digit << shift;
        if placed >> shift != digit {
            return None;
        }
        number |= placed;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry() -> impl Strategy<Value = BlockEntry> {
        let numbers = (any::<i64>(), any::<i64>(), any::<i64>());
        let rest = (
            0_u8..14,
            any::<u32>(),
            prop::collection::vec(0_u8..4, 0..40),
        );
        (numbers, rest).prop_filter_map(
            "a code",
            |((object, seen, base), (code, length, delta))| {
                Some(BlockEntry {
                    object,
                    why: RecordedWhy::of_code(code)?,
                    seen,
                    base,
                    length: length as usize,
                    delta: delta.into(),
                })
            },
        )
    }

    proptest! {
        #[test]
        fn a_block_is_read_as_it_was_written(entries in prop::collection::vec(entry(), 0..40)) {
            let packed = pack(&entries);
            prop_assert_eq!(unpack(&packed.data, packed.length), Some(entries));
        }

        #[test]
        fn any_bytes_are_a_block_or_none(data in prop::collection::vec(any::<u8>(), 0..200), length in 0_usize..400) {
            let _any = unpack(&data, length);
        }
    }

    #[test]
    fn each_reason_has_a_code_of_its_own() {
        for (why, past) in CODES.iter().flat_map(|why| [(*why, false), (*why, true)]) {
            let recorded = RecordedWhy { why, past };
            assert_eq!(RecordedWhy::of_code(recorded.code()), Some(recorded));
        }
        for code in [7, 15, 16, 255] {
            assert_eq!(RecordedWhy::of_code(code), None, "{code}");
        }
    }
}
