//! Compares lists without keys. Equal items are matched first; the items between them are paired by place and
//! by similarity.

use rustc_hash::FxHashMap;

use crate::object::{Kind, Value};

use super::lis;
use super::matching::{Matching, narrow};
use super::similarity::similarity;

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
        let stays = lis::longest_increasing(&matched);
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
        let stays = lis::longest_increasing(&places);
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
