//! Matches equal lines when only a few lines differ: E. Myers, "An O(ND) difference algorithm and its
//! variations" (1986). It passes over equal lines once and needs no index of the lines.

/// The limit of deleted and inserted lines. The cost grows with their square, so beyond it the search ends.
const MOST: usize = 32;

/// The number of diagonals that can be reached, and one more on either side.
const DIAGONALS: usize = 2 * MOST + 3;

/// The diagonal on which both texts begin.
const MIDDLE: usize = MOST + 1;

/// For each diagonal, how many old lines are consumed. A diagonal's number is [`MIDDLE`], plus the deleted
/// lines, minus the inserted ones.
type Reached = [usize; DIAGONALS];

/// The longest list of pairs of equal lines, in order. `None` if more than [`MOST`] lines differ.
pub(super) fn pairs(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    let mut reached: Reached = [0; DIAGONALS];
    let mut before = Vec::new();
    for edits in 0..=MOST {
        before.push(reached);
        for diagonal in (MIDDLE - edits..=MIDDLE + edits).step_by(2) {
            let start = match edits {
                0 => 0,
                _ => step(&reached, diagonal, edits).1,
            };
            let row = start + equal(old, new, start, start + MIDDLE - diagonal);
            reached[diagonal] = row;
            if row >= old.len() && row + MIDDLE - diagonal >= new.len() {
                return Some(way_back(&before, (old.len(), new.len())));
            }
        }
    }
    None
}

/// The diagonal from which one edit leads to this one, and the number of old lines consumed after it.
fn step(reached: &Reached, diagonal: usize, edits: usize) -> (usize, usize) {
    let is_lowest = diagonal == MIDDLE - edits;
    let is_highest = diagonal == MIDDLE + edits;
    if is_lowest || !is_highest && reached[diagonal - 1] < reached[diagonal + 1] {
        (diagonal + 1, reached[diagonal + 1])
    } else {
        (diagonal - 1, reached[diagonal - 1] + 1)
    }
}

fn equal(old: &[&str], new: &[&str], row: usize, column: usize) -> usize {
    let old = old.get(row..).unwrap_or_default();
    let new = new.get(column..).unwrap_or_default();
    old.iter().zip(new).take_while(|(a, b)| a == b).count()
}

/// Collects the pairs of equal lines on the path to the end. `before` holds the state before each edit.
fn way_back(before: &[Reached], end: (usize, usize)) -> Vec<(usize, usize)> {
    let (mut row, mut column) = end;
    let mut pairs = Vec::with_capacity(row.min(column));
    for (edits, reached) in before.iter().enumerate().rev() {
        let diagonal = row + MIDDLE - column;
        let (from, start) = match edits {
            0 => (MIDDLE, 0),
            _ => step(reached, diagonal, edits),
        };
        while row > start {
            row -= 1;
            column -= 1;
            pairs.push((row, column));
        }
        if edits > 0 {
            row = reached[from];
            column = row + MIDDLE - from;
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length of the longest common subsequence, by the textbook algorithm.
    fn longest(old: &[&str], new: &[&str]) -> usize {
        let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
        for (row, a) in old.iter().enumerate() {
            for (column, b) in new.iter().enumerate() {
                table[row + 1][column + 1] = if a == b {
                    table[row][column] + 1
                } else {
                    table[row][column + 1].max(table[row + 1][column])
                };
            }
        }
        table[old.len()][new.len()]
    }

    proptest! {
        #[test]
        fn the_longest_common_subsequence_is_kept(
            old in prop::collection::vec("[a-d]", 0..40),
            new in prop::collection::vec("[a-d]", 0..40),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let longest = longest(&old, &new);
            let edits = old.len() + new.len() - 2 * longest;
            match pairs(&old, &new) {
                None => prop_assert!(edits > MOST),
                Some(pairs) => {
                    prop_assert_eq!(pairs.len(), longest);
                    prop_assert!(pairs.iter().all(|&(row, column)| old[row] == new[column]));
                    prop_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
                }
            }
        }
    }
}
