//! Causes that siblings share: the first sibling has them, with the number of siblings, and the others have none.

use std::collections::BTreeMap;

use super::item::{OutlineItem, Weight};
use super::tree::parents;

/// Removes the causes that an earlier sibling of the same weight has, and counts them there: `3 × no image`. Items without
/// a parent are no siblings: each of them was asked for.
pub(super) fn merge_repeated(items: &mut [OutlineItem]) {
    let depths: Vec<usize> = items.iter().map(|item| item.depth).collect();
    let mut alike: BTreeMap<(usize, Weight, &[String]), Vec<usize>> = BTreeMap::new();
    for (place, parent) in parents(&depths).into_iter().enumerate() {
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
        let rows = [(0, "a"), (1, "x;y"), (1, "x;y"), (2, "x;y"), (1, "x")];
        assert_eq!(merged(&rows), "a | 2 × x;y |  | x;y | x");
        assert_eq!(merged(&[(0, "a"), (0, "a")]), "a | a", "each was asked for");
        assert_eq!(merged(&[(0, ""), (1, ""), (1, "")]), " |  | ");
    }
}
