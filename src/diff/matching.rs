//! The pairing of two lists' items.

/// For each new item, the index of the old item that it is paired with, if any.
pub(super) type Matching = Vec<Option<u32>>;

/// Converts an index to the width in which it is stored.
pub(super) fn narrow(index: usize) -> u32 {
    u32::try_from(index)
        .expect("a list has fewer items than bytes, and a Doc's text is shorter than 4 GiB")
}
