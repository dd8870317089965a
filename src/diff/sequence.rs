//! Compares lists without keys. Equal items are matched first; the items between them are paired by place and
//! by similarity.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::object::{Kind, Value};

/// The lowest similarity at which two objects count as one that was edited.
const ALIKE: f64 = 0.4;

/// A gap with more pairs than this is paired by place alone.
const MANY: usize = 1024;

/// Returns for each new item the old item that it was.
pub(super) fn align(old: &[Value<'_>], new: &[Value<'_>]) -> Matching {
    let mut matching = vec![None; new.len()];
    let front = common(old.iter(), new.iter());
    let back = common(old[front..].iter().rev(), new[front..].iter().rev());
    for (at, matched) in matching.iter_mut().take(front).enumerate() {
        *matched = Some(narrow(at));
    }
    for (at, matched) in matching.iter_mut().rev().take(back).enumerate() {
        *matched = Some(narrow(old.len() - 1 - at));
    }
    let middle = Middle {
        old,
        new,
        rows: front..old.len() - back,
        columns: front..new.len() - back,
    };
    middle.match_equal(&mut matching);
    if middle.is_edited_in_place(&matching) {
        for at in middle.columns.clone() {
            matching[at] = Some(narrow(at));
        }
    } else {
        middle.pair_gaps(&mut matching);
    }
    matching
}

fn common<'v, 'a: 'v>(
    old: impl Iterator<Item = &'v Value<'a>>,
    new: impl Iterator<Item = &'v Value<'a>>,
) -> usize {
    old.zip(new).take_while(|(a, b)| a.raw() == b.raw()).count()
}

/// The items between the equal ends of two lists.
struct Middle<'l, 'a> {
    old: &'l [Value<'a>],
    new: &'l [Value<'a>],
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
}

impl Middle<'_, '_> {
    /// Pairs equal items, the k-th with the k-th.
    fn match_equal(&self, matching: &mut Matching) {
        let mut places: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for at in self.rows.clone().rev() {
            places.entry(self.old[at].raw()).or_default().push(at);
        }
        for at in self.columns.clone() {
            let found = places.get_mut(self.new[at].raw()).and_then(Vec::pop);
            matching[at] = found.map(narrow);
        }
    }

    /// Whether edits in place describe the change of these scalars in no more changes than moves, additions
    /// and removals do.
    fn is_edited_in_place(&self, matching: &Matching) -> bool {
        let scalar = |value: &Value<'_>| !matches!(value.kind(), Kind::Array | Kind::Object);
        let (old, new) = (
            &self.old[self.rows.clone()],
            &self.new[self.columns.clone()],
        );
        if old.len() != new.len() || !old.iter().chain(new).all(scalar) {
            return false;
        }
        let edits = old.iter().zip(new).filter(|(a, b)| a.raw() != b.raw());
        let matched: Vec<u32> = matching[self.columns.clone()]
            .iter()
            .filter_map(|at| *at)
            .collect();
        // The same values in another order have moved, even if edits would take no more changes.
        if matched.len() == new.len() {
            return false;
        }
        let stays = longest_increasing(&matched);
        let moves = stays.iter().filter(|stays| !**stays).count();
        edits.count() <= moves + 2 * (new.len() - matched.len())
    }

    /// Pairs the items left between those that stayed.
    fn pair_gaps(&self, matching: &mut Matching) {
        let mut taken = vec![false; self.old.len()];
        let mut matched = Vec::new();
        for at in self.columns.clone() {
            if let Some(from) = matching[at] {
                taken[from as usize] = true;
                matched.push((from, at));
            }
        }
        let places: Vec<u32> = matched.iter().map(|pair| pair.0).collect();
        let stays = longest_increasing(&places);
        let anchors = matched
            .iter()
            .zip(stays)
            .filter_map(|(&(from, to), stays)| stays.then_some((from as usize, to)))
            .chain([(self.rows.end, self.columns.end)]);
        let (mut row, mut column) = (self.rows.start, self.columns.start);
        for (from, to) in anchors {
            let rows: Vec<usize> = (row..from).filter(|&at| !taken[at]).collect();
            let columns: Vec<usize> = (column..to).filter(|&at| matching[at].is_none()).collect();
            self.pair_gap(&rows, &columns, matching);
            (row, column) = (from + 1, to + 1);
        }
    }

    fn pair_gap(&self, rows: &[usize], columns: &[usize], matching: &mut Matching) {
        let mut pair = |row: usize, column: usize| matching[column] = Some(narrow(row));
        if let ([row], [column]) = (rows, columns) {
            if self.may_be_one(*row, *column) {
                pair(*row, *column);
            }
            return;
        }
        if rows.len() * columns.len() > MANY {
            for (&row, &column) in rows.iter().zip(columns) {
                if self.may_be_one(row, column) {
                    pair(row, column);
                }
            }
            return;
        }
        let pairs = self.most_alike(rows, columns);
        let ends = pairs.iter().copied().chain([(rows.len(), columns.len())]);
        let (mut i, mut j) = (0, 0);
        for (row, column) in ends {
            // Equal numbers of items between two pairs: the items were edited in place.
            if row - i == column - j {
                for offset in 0..row - i {
                    if self.may_be_one(rows[i + offset], columns[j + offset]) {
                        pair(rows[i + offset], columns[j + offset]);
                    }
                }
            }
            (i, j) = (row + 1, column + 1);
        }
        for (row, column) in pairs {
            pair(rows[row], columns[column]);
        }
    }

    /// Whether an item may have become the other one, if no better pair exists.
    fn may_be_one(&self, row: usize, column: usize) -> bool {
        let (old, new) = (self.old[row], self.new[column]);
        let objects = old.kind() == Kind::Object && new.kind() == Kind::Object;
        !objects || similarity(old, new) >= ALIKE
    }

    /// The pairs of similar items, in order, with the highest total similarity.
    fn most_alike(&self, rows: &[usize], columns: &[usize]) -> Vec<(usize, usize)> {
        let (height, width) = (rows.len(), columns.len());
        let mut alike = vec![0.0; height * width];
        let mut best = vec![0.0_f64; (height + 1) * (width + 1)];
        let at = |i: usize, j: usize| i * (width + 1) + j;
        for i in (0..height).rev() {
            for j in (0..width).rev() {
                let score = similarity(self.old[rows[i]], self.new[columns[j]]);
                let score = if score >= ALIKE { score } else { 0.0 };
                alike[i * width + j] = score;
                let skip = best[at(i + 1, j)].max(best[at(i, j + 1)]);
                best[at(i, j)] = skip.max(score + best[at(i + 1, j + 1)]);
            }
        }
        let mut pairs = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < height && j < width {
            let score = alike[i * width + j];
            let here = best[at(i, j)];
            if score > 0.0 && here <= score + best[at(i + 1, j + 1)] {
                pairs.push((i, j));
                (i, j) = (i + 1, j + 1);
            } else if here <= best[at(i + 1, j)] {
                i += 1;
            } else {
                j += 1;
            }
        }
        pairs
    }
}

/// The lowest score of a field that both objects have.
const SAME_NAME: f64 = 0.4;

/// The score of two arguments that set the same flag: `--v=2` and `--v=4`.
const SAME_FLAG: f64 = 0.8;

/// The depth up to which objects are compared.
const DEPTH: usize = 4;

/// The similarity of two values. Equal values score 1, objects the share of their common fields, arrays the
/// share of their common items. Two strings score only if they set the same flag.
fn similarity(a: Value<'_>, b: Value<'_>) -> f64 {
    within(a, b, DEPTH)
}

fn within(a: Value<'_>, b: Value<'_>, depth: usize) -> f64 {
    if a.raw() == b.raw() {
        return 1.0;
    }
    match (a.kind(), b.kind()) {
        (Kind::Object, Kind::Object) => objects(a, b, depth),
        (Kind::Array, Kind::Array) => arrays(a, b),
        (Kind::String, Kind::String) => {
            let same = matches!((flag(a), flag(b)), (Some(a), Some(b)) if a == b);
            if same { SAME_FLAG } else { 0.0 }
        }
        _ => 0.0,
    }
}

fn objects(a: Value<'_>, b: Value<'_>, depth: usize) -> f64 {
    let (mut fields, mut score) = (0, 0.0);
    for (name, value) in a.fields() {
        fields += 1;
        if let Some(other) = b.get(&name) {
            let inner = match depth {
                0 => 0.0,
                _ => within(value, other, depth - 1),
            };
            score += SAME_NAME + (1.0 - SAME_NAME) * inner;
        }
    }
    fields += b.fields().filter(|(name, _)| a.get(name).is_none()).count();
    score / ratio(fields)
}

fn arrays(a: Value<'_>, b: Value<'_>) -> f64 {
    let mut spare: FxHashMap<&str, usize> = FxHashMap::default();
    for item in a.items() {
        *spare.entry(item.raw()).or_default() += 1;
    }
    let mut shared = 0;
    for item in b.items() {
        if let Some(left @ 1..) = spare.get_mut(item.raw()) {
            *left -= 1;
            shared += 1;
        }
    }
    ratio(shared) / ratio(a.items().count().max(b.items().count()))
}

/// Converts a count for a division.
fn ratio(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// The name of the flag that an argument sets: the part before the `=` of `--name=value`.
fn flag(argument: Value<'_>) -> Option<Cow<'_, str>> {
    let text = argument.as_str()?;
    let name = text.split_once('=')?.0;
    (!name.is_empty()).then(|| Cow::Owned(name.to_owned()))
}

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

/// For each new item, the index of the old item that it is paired with, if any.
pub(super) type Matching = Vec<Option<u32>>;

/// Converts an index to the width in which it is stored.
pub(super) fn narrow(index: usize) -> u32 {
    u32::try_from(index)
        .expect("a list has fewer items than bytes, and a Doc's text is shorter than 4 GiB")
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
