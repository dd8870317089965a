//! Causes that several items share: of the Pods of one owner the first one has them, with the number of Pods, and an item
//! does not repeat those of an item above it.

use std::collections::{BTreeMap, HashMap};

use super::item::{OutlineItem, Weight, parents};
use crate::object::Uid;
use crate::render::text::Text;

/// Removes the causes that an earlier Pod of the same owner and weight has, and counts them there: `3 × no image`. Objects
/// of another kind are no replicas: equal words may have different reasons. Items without a parent keep their causes: each of
/// them was asked for. So does an item that has changed itself.
pub(super) fn merge_siblings(items: &mut [OutlineItem]) {
    let mut alike: BTreeMap<(usize, &Uid, Weight, Vec<&str>), Vec<usize>> = BTreeMap::new();
    for (place, parent) in parents_of(items).into_iter().enumerate() {
        let item = &items[place];
        let is_alone = item.causes.is_empty() || !item.changes.is_empty();
        if let (Some(parent), Some(owner), false) = (parent, &item.pod_owner, is_alone) {
            let causes = item.causes.iter().map(Text::as_str).collect();
            let key = (parent, owner, item.weight, causes);
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
            items[place].weight = Weight::Repeating;
            // What one of them printed, the others have printed, too, as a rule.
            let quotes = std::mem::take(&mut items[place].quotes);
            let first = &mut items[places[0]].quotes;
            if first.is_empty() {
                *first = quotes;
            }
        }
        let first = &mut items[places[0]].causes[0];
        *first = Text::from(format!("{} × ", places.len())) + first.clone();
    }
}

/// The number of causes that an item above has, too.
pub(super) fn count_repeated_below(items: &[OutlineItem]) -> usize {
    let repeated = repeated_below(items).into_iter().flatten();
    repeated.filter(|is_repeated| *is_repeated).count()
}

/// Removes the causes that an item above has, too.
pub(super) fn remove_repeated_below(items: &mut [OutlineItem]) {
    let repeated = repeated_below(items);
    for (item, repeated) in items.iter_mut().zip(repeated) {
        let mut repeated = repeated.into_iter();
        let mut is_new = |_: &Text| repeated.next() == Some(false);
        item.causes.retain(&mut is_new);
        item.quotes.retain(&mut is_new);
        item.changes.retain(&mut is_new);
    }
}

/// Whether an item above has them, too, for the causes and changes of each item.
fn repeated_below(items: &[OutlineItem]) -> Vec<Vec<bool>> {
    // The items above the current one, and how many of them have a cause.
    let mut path: Vec<usize> = Vec::new();
    let mut above: HashMap<&str, usize> = HashMap::new();
    let mut repeated = Vec::with_capacity(items.len());
    for (place, parent) in parents_of(items).into_iter().enumerate() {
        while let Some(last) = path.pop_if(|last| Some(*last) != parent) {
            for cause in items[last].reasons().flat_map(|cause| ends(cause.as_str())) {
                if let Some(count) = above.get_mut(cause) {
                    *count -= 1;
                }
            }
        }
        let is_above = |cause: &Text| above.get(cause.as_str()).is_some_and(|count| *count > 0);
        repeated.push(items[place].reasons().map(is_above).collect());
        for cause in items[place]
            .reasons()
            .flat_map(|cause| ends(cause.as_str()))
        {
            *above.entry(cause).or_default() += 1;
        }
        path.push(place);
    }
    repeated
}

/// A cause, and what follows each of its colons: `backend service/web: 0/2 ready` also says `0/2 ready`.
fn ends(cause: &str) -> impl Iterator<Item = &str> {
    let colons = cause.match_indices(": ");
    let ends = colons.map(|(at, colon)| &cause[at + colon.len()..]);
    std::iter::once(cause).chain(ends)
}

fn parents_of(items: &[OutlineItem]) -> Vec<Option<usize>> {
    let depths: Vec<usize> = items.iter().map(|item| item.depth).collect();
    parents(&depths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    fn joined(lines: &[Text]) -> String {
        let lines: Vec<&str> = lines.iter().map(Text::as_str).collect();
        lines.join(";")
    }

    /// A row, as of a Pod of this owner.
    fn row(depth: usize, owner: Option<&str>) -> OutlineItem {
        let mut row = OutlineItem::row(depth, Status::Failed, Vec::new());
        row.pod_owner = owner.map(Uid::new);
        row
    }

    /// Items as depth and cause, of Pods of one owner; the result has the causes.
    fn merged(rows: &[(usize, &str)]) -> String {
        let item = |&(depth, cause): &(usize, &str)| {
            let causes = cause.split(';').filter(|cause| !cause.is_empty());
            row(depth, Some("web")).because(causes)
        };
        let mut items: Vec<OutlineItem> = rows.iter().map(item).collect();
        merge_siblings(&mut items);
        let lines =
            |items: &[OutlineItem]| items.iter().map(OutlineItem::count_below).sum::<usize>();
        let (before, repeated) = (lines(&items), count_repeated_below(&items));
        remove_repeated_below(&mut items);
        assert_eq!(lines(&items), before - repeated);
        let causes = items.iter().map(|item| joined(&item.causes));
        causes.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn siblings_share_their_causes() {
        let rows = [(0, "a"), (1, "x;y"), (1, "x;y"), (2, "z"), (1, "x")];
        assert_eq!(merged(&rows), "a | 2 × x;y |  | z | x");
        assert_eq!(merged(&[(0, "a"), (0, "a")]), "a | a", "each was asked for");
        assert_eq!(merged(&[(0, ""), (1, ""), (1, "")]), " |  | ");
    }

    /// Below a namespace or a node are the objects of unrelated workloads.
    #[test]
    fn only_pods_of_one_owner_share_their_causes() {
        let owners = [None, Some("a"), Some("b"), Some("a"), None, None];
        let items = owners.map(|owner| row(1, owner).because(["x"]));
        let mut items: Vec<OutlineItem> = std::iter::once(row(0, None)).chain(items).collect();
        merge_siblings(&mut items);
        let causes: Vec<String> = items[1..].iter().map(|item| joined(&item.causes)).collect();
        assert_eq!(causes, ["x", "2 × x", "x", "", "x", "x"]);
    }

    #[test]
    fn the_first_sibling_has_what_one_of_them_printed() {
        let item = |depth, cause: &str, quotes: &[&str]| {
            row(depth, Some("web")).because([cause]).quoting(quotes)
        };
        let quotes = |items: &[OutlineItem]| {
            let quotes = items.iter().map(|item| joined(&item.quotes));
            quotes.collect::<Vec<_>>().join(" | ")
        };
        let mut items = [
            item(0, "a", &[]),
            item(1, "x", &[]),
            item(1, "x", &["q", "r"]),
            item(1, "x", &["s"]),
            item(1, "y", &["q"]),
        ];
        merge_siblings(&mut items);
        assert_eq!(quotes(&items), " | q;r |  |  | q");
        // A line that is the end of a cause above says nothing new.
        let mut items = [item(0, "job/a failed: q", &[]), item(1, "x", &["q", "r"])];
        remove_repeated_below(&mut items);
        assert_eq!(quotes(&items), " | r");
    }

    #[test]
    fn an_item_does_not_repeat_the_causes_above_it() {
        let rows = [(0, "a;b"), (1, "b"), (2, "a;c;b"), (2, "c"), (0, "b")];
        assert_eq!(merged(&rows), "a;b |  | c | c | b");
        let rows = [
            (0, "job/a failed: b: c"),
            (1, "b: c;c;b"),
            (1, "a failed: b: c"),
        ];
        assert_eq!(merged(&rows), "job/a failed: b: c | b | a failed: b: c");
    }
}
