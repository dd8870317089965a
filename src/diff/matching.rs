//! Which items of two lists are the same.

/// Which items are the same: for each new item its old index, if it has one.
pub(super) type Matching = Vec<Option<u32>>;

/// An index as it is kept.
pub(super) fn narrow(index: usize) -> u32 {
    // A list has fewer items than its text has bytes, and a Doc's text is shorter than 4 GiB.
    u32::try_from(index).expect("indices of a tape fit")
}
