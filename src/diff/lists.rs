//! Compares two lists: pairs old items with new ones, then reports each item as kept, edited, moved, added or
//! removed.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::Value;
use crate::object::list_keys::{Identity, ListKey, Order};

use super::matching::{Matching, narrow};
use super::walk::{DiffWalk, ListItem, Pair};
use super::{NodeId, NodeLabel, Place, lis, sequence};

/// Compares two versions of the list at `at`.
pub(super) fn compare<'a>(walk: &mut DiffWalk<'_, 'a>, at: NodeId, old: Value<'a>, new: Value<'a>) {
    let old: Vec<Value<'a>> = old.items().collect();
    let new: Vec<Value<'a>> = new.items().collect();
    let rule = walk.rule(at, &old, &new);
    let (matching, labels) = match rule.identity {
        Identity::Key(key) => match edited_in_place(key, &old, &new) {
            Some(edited) => return emit_edited(walk, at, edited, key),
            None => by_key(key, &old, &new),
        },
        Identity::Value => {
            let matching = pair_up(&scalars(&old), &scalars(&new)).0;
            (matching, ItemLabels::Members)
        }
        Identity::Order => (sequence::align(&old, &new), ItemLabels::Indices),
    };
    let lists = Lists {
        old: &old,
        new: &new,
        labels,
        order: rule.order,
    };
    lists.emit(walk, at, &matching);
}

/// How the items of a list are labelled in a path.
enum ItemLabels<'a> {
    Indices,
    Members,
    Keys {
        key: &'a ListKey,
        old: Vec<u32>,
        new: Vec<u32>,
    },
}

fn by_key<'a>(
    key: &'a ListKey,
    old: &[Value<'a>],
    new: &[Value<'a>],
) -> (Matching, ItemLabels<'a>) {
    let keys = |items: &[Value<'a>]| items.iter().map(|&item| key.of(item)).collect::<Vec<_>>();
    let (matching, (old, new)) = pair_up(&keys(old), &keys(new));
    (matching, ItemLabels::Keys { key, old, new })
}

/// The limit of edited items in [`edited_in_place`].
const FEW: usize = 16;

/// An edited item that kept its index. `nth` counts the items with the same key, up to and including this
/// one.
struct Edited<'a> {
    at: usize,
    nth: u32,
    pair: Pair<'a>,
}

/// The edited items of two lists of equal length, if only a few differ and each keeps its key at its index.
fn edited_in_place<'a>(
    key: &ListKey,
    old: &[Value<'a>],
    new: &[Value<'a>],
) -> Option<Vec<Edited<'a>>> {
    if old.len() != new.len() {
        return None;
    }
    let pairs = old.iter().zip(new).enumerate();
    let mut edited = Vec::new();
    for (at, (&before, &item)) in pairs.filter(|(_, (old, new))| old.raw() != new.raw()) {
        let own = key.of(item);
        if edited.len() == FEW || key.of(before) != own {
            return None;
        }
        // The keys of both lists are the same at each index.
        let like_it = new[..at].iter().filter(|other| key.of(**other) == own);
        edited.push(Edited {
            at,
            nth: 1 + narrow(like_it.count()),
            pair: (Some(before), Some(item)),
        });
    }
    Some(edited)
}

fn emit_edited<'a>(
    walk: &mut DiffWalk<'_, 'a>,
    list: NodeId,
    edited: Vec<Edited<'a>>,
    key: &'a ListKey,
) {
    for Edited { at, nth, pair } in edited {
        let at = Some(narrow(at));
        let item = ListItem {
            place: Place { old: at, new: at },
            label: NodeLabel::Key { key, nth },
            moved: None,
        };
        walk.item(list, item, pair);
    }
}

fn scalars<'a>(items: &[Value<'a>]) -> Vec<Cow<'a, str>> {
    let text = |item: &Value<'a>| match item.as_str() {
        // The quote keeps the string "1" and the number 1 apart.
        Some(text) if item.raw().contains('\\') => Cow::Owned(format!("\"{text}\"")),
        Some(_) | None => Cow::Borrowed(item.raw()),
    };
    items.iter().map(text).collect()
}

/// Pairs the k-th item of a key with the k-th of the same key. Also returns each item's k.
fn pair_up(old: &[Cow<'_, str>], new: &[Cow<'_, str>]) -> (Matching, (Vec<u32>, Vec<u32>)) {
    if let Some(matching) = pair_distinct(old, new) {
        return (matching, (vec![1; old.len()], vec![1; new.len()]));
    }
    let (old_counts, new_counts) = (count(old), count(new));
    let places: FxHashMap<(&str, u32), u32> = old
        .iter()
        .zip(&old_counts)
        .enumerate()
        .map(|(index, (key, nth))| ((&**key, *nth), narrow(index)))
        .collect();
    let matching = new
        .iter()
        .zip(&new_counts)
        .map(|(key, nth)| places.get(&(&**key, *nth)).copied())
        .collect();
    (matching, (old_counts, new_counts))
}

/// As [`pair_up`], for lists without repeated keys. `None` if a key is repeated.
fn pair_distinct(old: &[Cow<'_, str>], new: &[Cow<'_, str>]) -> Option<Matching> {
    let mut places: FxHashMap<&str, u32> = FxHashMap::default();
    places.reserve(old.len());
    for (index, key) in old.iter().enumerate() {
        if places.insert(key, narrow(index)).is_some() {
            return None;
        }
    }
    let mut seen = FxHashSet::default();
    seen.reserve(new.len());
    new.iter()
        .map(|key| seen.insert(&**key).then(|| places.get(&**key).copied()))
        .collect()
}

/// For each key, how many times it has occurred so far, itself included.
fn count(keys: &[Cow<'_, str>]) -> Vec<u32> {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    keys.iter()
        .map(|key| {
            let count = seen.entry(key).or_default();
            *count += 1;
            *count
        })
        .collect()
}

struct Lists<'l, 'a> {
    old: &'l [Value<'a>],
    new: &'l [Value<'a>],
    labels: ItemLabels<'a>,
    order: Order,
}

/// For each new item, whether it kept its place among the items that were there before. An added item has not
/// moved.
fn staying(matching: &Matching) -> Vec<bool> {
    let stayed: Vec<u32> = matching.iter().filter_map(|old| *old).collect();
    let mut stays = lis::longest_increasing(&stayed).into_iter();
    matching
        .iter()
        .map(|old| old.is_none() || stays.next() == Some(true))
        .collect()
}

impl<'a> Lists<'_, 'a> {
    fn emit(&self, walk: &mut DiffWalk<'_, 'a>, at: NodeId, matching: &Matching) {
        let stays = staying(matching);
        let mut gone = vec![true; self.old.len()];
        for from in matching.iter().flatten() {
            gone[*from as usize] = false;
        }
        // `until[to]`: removed items with a lower old index are reported before the new item `to`.
        let mut until = vec![self.old.len(); self.new.len() + 1];
        for to in (0..self.new.len()).rev() {
            until[to] = match matching[to] {
                Some(from) if stays[to] => from as usize,
                _ => until[to + 1],
            };
        }
        let mut next = 0;
        for (to, end) in until.into_iter().enumerate() {
            for (from, _) in (next..end)
                .zip(&gone[next.min(end)..end])
                .filter(|(_, gone)| **gone)
            {
                let place = Place {
                    old: Some(narrow(from)),
                    new: None,
                };
                self.compare_item(walk, at, self.item(place, None));
            }
            next = end.max(next);
            if to < self.new.len() {
                let place = Place {
                    old: matching[to],
                    new: Some(narrow(to)),
                };
                let moved = (!stays[to]).then_some(self.order);
                self.compare_item(walk, at, self.item(place, moved));
            }
        }
    }

    fn compare_item(&self, walk: &mut DiffWalk<'_, 'a>, at: NodeId, item: ListItem<'a>) {
        let place = item.place;
        let pair = (
            place.old.map(|from| self.old[from as usize]),
            place.new.map(|to| self.new[to as usize]),
        );
        walk.item(at, item, pair);
    }

    fn item(&self, place: Place, moved: Option<Order>) -> ListItem<'a> {
        ListItem {
            place,
            label: self.label(place),
            moved,
        }
    }

    fn label(&self, place: Place) -> NodeLabel<'a> {
        match &self.labels {
            ItemLabels::Indices => NodeLabel::Index,
            ItemLabels::Members => NodeLabel::Member,
            ItemLabels::Keys { key, old, new } => {
                let nth = match place {
                    Place { new: Some(at), .. } => new[at as usize],
                    Place { old: Some(at), .. } => old[at as usize],
                    Place {
                        old: None,
                        new: None,
                    } => 1,
                };
                NodeLabel::Key { key, nth }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::Doc;
    use crate::object::list_keys::{ListKeys, ListPlace};

    fn list(items: &[(u8, u8)]) -> Doc {
        let item = |(name, n): &(u8, u8)| format!(r#"{{"name":"{name}","n":{n}}}"#);
        let items: Vec<String> = items.iter().map(item).collect();
        Doc::parse(format!("[{}]", items.join(","))).expect("the text is valid JSON")
    }

    proptest! {
        /// The fast path for lists edited in place agrees with the lookup of all keys.
        #[test]
        fn items_edited_in_place_are_paired_as_by_key(
            items in prop::collection::vec((0_u8..6, 0_u8..3), 0..12),
            other in prop::collection::vec((0_u8..6, 0_u8..3), 0..12),
            edits in prop::collection::vec(0_u8..3, 12),
        ) {
            let place = ListPlace { field: "containers", parent: "spec", path: None };
            let rule = ListKeys::builtin().rule(place, &[], &[]);
            let Identity::Key(key) = rule.identity else { unreachable!("containers are keyed by name") };
            let edited = items.iter().zip(&edits).map(|((name, _), n)| (*name, *n)).collect();
            for new in [edited, other] {
                let (old, new) = (list(&items), list(&new));
                let [old, new]: [Vec<_>; 2] = [&old, &new].map(|doc| doc.root().items().collect());
                let Some(edited) = edited_in_place(key, &old, &new) else { continue };
                let (matching, labels) = by_key(key, &old, &new);
                let ItemLabels::Keys { new: counts, .. } = labels else { unreachable!("it has keys") };
                for edited in &edited {
                    prop_assert_eq!(matching[edited.at], Some(narrow(edited.at)));
                    prop_assert_eq!(counts[edited.at], edited.nth);
                }
                let found: Vec<usize> = edited.iter().map(|edited| edited.at).collect();
                let differing = (0..old.len()).filter(|&at| old[at].raw() != new[at].raw());
                prop_assert_eq!(found, differing.collect::<Vec<_>>());
            }
        }
    }
}
