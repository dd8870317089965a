//! The longest increasing subsequence. It decides which items of a list count as not moved.

/// For distinct `numbers`, marks those of one longest increasing subsequence. O(n log n).
pub(super) fn longest_increasing(numbers: &[u32]) -> Vec<bool> {
    if numbers.is_sorted() {
        return vec![true; numbers.len()];
    }
    // `tails[k]` is the index of the smallest number that ends a subsequence of length k + 1.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (index, number) in numbers.iter().enumerate() {
        let length = tails.partition_point(|&tail| numbers[tail] < *number);
        before.push(length.checked_sub(1).map(|shorter| tails[shorter]));
        if length == tails.len() {
            tails.push(index);
        } else {
            tails[length] = index;
        }
    }
    let mut stays = vec![false; numbers.len()];
    let mut next = tails.last().copied();
    while let Some(index) = next {
        stays[index] = true;
        next = before[index];
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marked_numbers_are_the_longest_increasing_ones() {
        let cases: [(&[u32], usize); 6] = [
            (&[], 0),
            (&[7], 1),
            (&[0, 1, 2, 3], 4),
            (&[3, 2, 1, 0], 1),
            (&[1, 2, 3, 0], 3),
            (&[2, 0, 3, 1, 4], 3),
        ];
        for (numbers, length) in cases {
            let kept: Vec<u32> = numbers
                .iter()
                .zip(longest_increasing(numbers))
                .filter_map(|(number, stays)| stays.then_some(*number))
                .collect();
            assert!(kept.is_sorted(), "{numbers:?}");
            assert_eq!(kept.len(), length, "{numbers:?}");
        }
    }
}
