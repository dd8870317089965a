//! `Packing`: how a text is stored as its difference from a base.
//!
//! LZ4 is the fastest, and looks back 64 KiB. In a text of a megabyte it does not find the place of the base that is the same.
//! zstd does, with the base as its prefix (`zstd --patch-from`).

use std::sync::Arc;

use lz4_flex::block::{compress_with_dict, decompress_with_dict};
use zstd::zstd_safe::{CParameter, DCtx};

/// The longest text, and the longest base, that LZ4 packs. With some space to 64 KiB, since a place moves when the text before
/// it becomes longer.
const LZ4_LONGEST: usize = 48 << 10;

/// The binary logarithm of how far zstd looks back, at most: the longest line of a watch, which has 16 MiB, and its base.
const ZSTD_WINDOW: u32 = 25;

/// How hard zstd tries. A higher level takes more than twice as long for a text of a megabyte, and saves a few per cent.
const ZSTD_LEVEL: i32 = 3;

/// How a text is stored as its difference from a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    /// One block of LZ4, with the base as its dictionary.
    Lz4,
    /// One frame of zstd, with the base as its prefix.
    Zstd,
}

impl Packing {
    /// The packing for a text of this length.
    pub(crate) fn of(length: usize, base: &str) -> Packing {
        if length.max(base.len()) > LZ4_LONGEST {
            Packing::Zstd
        } else {
            Packing::Lz4
        }
    }

    /// Packs a text.
    pub(crate) fn pack(self, text: &str, base: &str) -> Vec<u8> {
        let (text, base) = (text.as_bytes(), base.as_bytes());
        match self {
            Packing::Lz4 => compress_with_dict(text, base),
            Packing::Zstd => {
                // zstd uses no prefix that is the text itself in the same place of the memory.
                let copy = std::ptr::eq(text, base).then(|| base.to_vec());
                let base = copy.as_deref().unwrap_or(base);
                let packed = zstd::bulk::Compressor::new(ZSTD_LEVEL).and_then(|mut packer| {
                    packer.set_parameter(CParameter::WindowLog(ZSTD_WINDOW))?;
                    // The tables of the level alone do not hold all places of a long base.
                    packer.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
                    let context = packer.context_mut();
                    let set = context.ref_prefix(base);
                    set.map_err(|_| std::io::ErrorKind::OutOfMemory)?;
                    packer.compress(text)
                });
                packed.expect("zstd fails only without memory")
            }
        }
    }

    /// Unpacks a text; `None` if the bytes are no difference of this length from the base. So many bytes are reserved.
    pub(crate) fn unpack(self, bytes: &[u8], length: usize, base: &str) -> Option<Arc<str>> {
        let base = base.as_bytes();
        let text = match self {
            Packing::Lz4 => decompress_with_dict(bytes, length, base).ok()?,
            Packing::Zstd => {
                let mut text = Vec::with_capacity(length);
                let mut unpacker = DCtx::try_create()?;
                unpacker.ref_prefix(base).ok()?;
                unpacker.decompress(&mut text, bytes).ok()?;
                text
            }
        };
        let text = String::from_utf8(text).ok()?;
        (text.len() == length).then(|| text.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: [Packing; 2] = [Packing::Lz4, Packing::Zstd];

    /// A text that does not become smaller by itself.
    fn random(seed: u64, length: usize) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        let letters = std::iter::repeat_with(|| random.alphanumeric());
        letters.take(length).collect()
    }

    proptest! {
        #[test]
        fn a_text_is_read_as_it_was_packed(base in "[ab]{0,900}|\\PC{0,80}", text in "[ab]{0,900}|\\PC{0,80}") {
            for packing in BOTH {
                let packed = packing.pack(&text, &base);
                let read = packing.unpack(&packed, text.len(), &base);
                prop_assert_eq!(read.as_deref(), Some(&*text), "{:?}", packing);
            }
        }

        #[test]
        fn any_bytes_are_a_text_or_none(bytes in prop::collection::vec(any::<u8>(), 0..100), length in 0_usize..200) {
            for packing in BOTH {
                let _any = packing.unpack(&bytes, length, "abcabcabc");
            }
        }

        #[test]
        fn a_changed_byte_is_a_text_or_none(at in any::<prop::sample::Index>(), change in 1_u8..) {
            let (base, text) = (random(1, 300), random(1, 200) + &random(2, 100));
            for packing in BOTH {
                let mut packed = packing.pack(&text, &base);
                let at = at.index(packed.len());
                packed[at] ^= change;
                let _any = packing.unpack(&packed, text.len(), &base);
            }
        }
    }

    #[test]
    fn a_long_text_is_as_small_as_its_changes() {
        for length in [40 << 10, LZ4_LONGEST, 60 << 10, 64 << 10, 1 << 20, 5 << 20] {
            let base = random(1, length);
            // What most writes change: something near the start, in the middle and at the end, and places move.
            let (first, second) = base.split_at(length / 2);
            let changed = format!(
                "{{\"version\":7}}{first},more: {},{second}.",
                random(2, 400)
            );
            let packing = Packing::of(changed.len(), &base);
            let packed = packing.pack(&changed, &base);
            assert!(
                packed.len() < 1000,
                "{length}: {} bytes, {packing:?}",
                packed.len()
            );
            let read = packing.unpack(&packed, changed.len(), &base);
            assert_eq!(read.as_deref(), Some(&*changed));
            let same = packing.pack(&base, &base);
            assert!(
                same.len() < 1000,
                "{length}: {} bytes for nothing",
                same.len()
            );
        }
    }

    #[test]
    fn a_text_of_another_length_is_none() {
        let base = random(1, 100);
        for packing in BOTH {
            let packed = packing.pack(&base, &base);
            for length in [0, 99, 101] {
                assert_eq!(packing.unpack(&packed, length, &base), None, "{length}");
            }
        }
    }
}
