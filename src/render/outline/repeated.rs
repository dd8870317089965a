//! Causes that several items share: those of an item above are not repeated below it, and of siblings the first one has them,
//! with the number of siblings.

use std::collections::BTreeMap;

use super::item::{OutlineItem, Weight};
use super::tree::parents;

/// Removes the causes that an item above has, and those that an earlier sibling of the same weight has. It counts the
/// latter there: `3 × no image`. Items without a parent are no siblings: each of them was asked for.
pub(super) fn merge_repeated(items: &mut [OutlineItem]) {
    let depths: Vec<usize> = items.iter().map(|item| item.depth).collect();
    let parents = parents(&depths);
    remove_repeated_below(items, &parents);
    let mut alike: BTreeMap<(usize, Weight, &[String]), Vec<usize>> = BTreeMap::new();
    for (place, parent) in parents.into_iter().enumerate() {
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

/// Removes the causes of an item that an item above it has.
fn remove_repeated_below(items: &mut [OutlineItem], parents: &[Option<usize>]) {
    // An item comes after those above it, so the causes of these must stay until it is done.
    for place in (0..items.len()).rev() {
        let mut causes = std::mem::take(&mut items[place].causes);
        if !causes.is_empty() {
            let above = std::iter::successors(parents[place], |&at| parents[at]);
            let above: Vec<&String> = above.flat_map(|at| &items[at].causes).collect();
            causes.retain(|cause| !above.contains(&cause));
        }
        items[place].causes = causes;
    }
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
        merge_repeated(&mut items);
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
        assert_eq!(merged(&rows), "a;b |  | 2 × c |  | b");
    }
}
