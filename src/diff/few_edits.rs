//! Lines matched with lines where few have gone or come: E. Myers, "An O(ND) difference algorithm and its
//! variations" (1986), which passes over what is equal once and needs no index of the lines.

/// If more lines have gone and come, it is given up: what it costs grows with their square.
const MOST: usize = 32;

/// The diagonals that can be reached, and one more on either side.
const DIAGONALS: usize = 2 * MOST + 3;

/// The one that both texts begin on.
const MIDDLE: usize = MOST + 1;

/// How far into the old lines each diagonal is reached, by its number: that is [`MIDDLE`] and as many more as
/// lines have gone, less those that have come.
type Reached = [usize; DIAGONALS];

/// The pairs of equal lines that stay, as many as there can be; `None` if more than a few do not.
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

/// From which diagonal another is reached by one edit, and how far into the old lines.
fn step(reached: &Reached, diagonal: usize, edits: usize) -> (usize, usize) {
    let is_lowest = diagonal == MIDDLE - edits;
    let is_highest = diagonal == MIDDLE + edits;
    if is_lowest || !is_highest && reached[diagonal - 1] < reached[diagonal + 1] {
        (diagonal + 1, reached[diagonal + 1])
    } else {
        (diagonal - 1, reached[diagonal - 1] + 1)
    }
}

/// How many lines are equal from a place on.
fn equal(old: &[&str], new: &[&str], row: usize, column: usize) -> usize {
    let old = old.get(row..).unwrap_or_default();
    let new = new.get(column..).unwrap_or_default();
    old.iter().zip(new).take_while(|(a, b)| a == b).count()
}

/// The pairs of equal lines on the way to the end; `before` is what was reached before each edit.
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

    /// The length of the longest common subsequence, by the textbook.
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
        fn as_many_lines_stay_as_can(
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
