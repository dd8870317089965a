//! Causes that several items share: of siblings the first one has them, with the number of siblings, and an item does not
//! repeat those of an item above it.

use std::collections::BTreeMap;

use super::item::{OutlineItem, Weight};
use super::tree::parents;

/// Removes the causes that an earlier sibling of the same weight has, and counts them there: `3 × no image`. Items without
/// a parent are no siblings: each of them was asked for.
pub(super) fn merge_siblings(items: &mut [OutlineItem]) {
    let mut alike: BTreeMap<(usize, Weight, &[String]), Vec<usize>> = BTreeMap::new();
    for (place, parent) in parents_of(items).into_iter().enumerate() {
        let item = &items[place];
        if let (Some(parent), false) = (parent, item.causes.is_empty()) {
            let key = (parent, item.weight, &*item.causes);
            alike.entry(key).or_default().push(place);
        }
    }
    let repeated: Vec<Vec<usize>> = alike
        .into_values()
        .filter(|places| places.len() > 1)
        .collect();
    for places in repeated {
        for &place in &places[1..] {
            items[place].causes.clear();
        }
        let first = &mut items[places[0]].causes[0];
        *first = format!("{} × {first}", places.len());
    }
}

/// The number of causes that an item above has, too.
pub(super) fn count_repeated_below(items: &[OutlineItem]) -> usize {
    let parents = parents_of(items);
    let repeated = |place: usize| {
        let causes = items[place].causes.iter();
        causes
            .filter(|cause| is_above(items, &parents, place, cause))
            .count()
    };
    (0..items.len()).map(repeated).sum()
}

/// Removes the causes that an item above has, too.
pub(super) fn remove_repeated_below(items: &mut [OutlineItem]) {
    let parents = parents_of(items);
    // The causes of an item must stay until all items below it are done.
    for place in (0..items.len()).rev() {
        let mut causes = std::mem::take(&mut items[place].causes);
        causes.retain(|cause| !is_above(items, &parents, place, cause));
        items[place].causes = causes;
    }
}

/// Whether an item above has a cause.
fn is_above(
    items: &[OutlineItem],
    parents: &[Option<usize>],
    place: usize,
    cause: &String,
) -> bool {
    let mut above = std::iter::successors(parents[place], |&at| parents[at]);
    above.any(|at| items[at].causes.contains(cause))
}

fn parents_of(items: &[OutlineItem]) -> Vec<Option<usize>> {
    let depths: Vec<usize> = items.iter().map(|item| item.depth).collect();
    parents(&depths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    /// Items as depth and cause; the result has the causes.
    fn merged(rows: &[(usize, &str)]) -> String {
        let item = |&(depth, cause): &(usize, &str)| {
            let causes = cause.split(';').filter(|cause| !cause.is_empty());
            OutlineItem::row(depth, Status::Failed, Vec::new()).because(causes)
        };
        let mut items: Vec<OutlineItem> = rows.iter().map(item).collect();
        merge_siblings(&mut items);
        let lines =
            |items: &[OutlineItem]| items.iter().map(OutlineItem::count_below).sum::<usize>();
        let (before, repeated) = (lines(&items), count_repeated_below(&items));
        remove_repeated_below(&mut items);
        assert_eq!(lines(&items), before - repeated);
        let causes = items.iter().map(|item| item.causes.join(";"));
        causes.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn siblings_share_their_causes() {
        let rows = [(0, "a"), (1, "x;y"), (1, "x;y"), (2, "z"), (1, "x")];
        assert_eq!(merged(&rows), "a | 2 × x;y |  | z | x");
        assert_eq!(merged(&[(0, "a"), (0, "a")]), "a | a", "each was asked for");
        assert_eq!(merged(&[(0, ""), (1, ""), (1, "")]), " |  | ");
    }

    #[test]
    fn an_item_does_not_repeat_the_causes_above_it() {
        let rows = [(0, "a;b"), (1, "b"), (2, "a;c;b"), (2, "c"), (0, "b")];
        assert_eq!(merged(&rows), "a;b |  | c | c | b");
    }
}
