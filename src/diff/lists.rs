//! Lists: which item of the old list is which item of the new one, and what became of each.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::Value;
use crate::object::list_keys::{Identity, ListKey, Order};

use super::walk::{Item, Walk};
use super::{Label, Place, SegId, lis, sequence};

/// Which items are the same: for each new item its old index, if it has one.
pub(super) type Matching = Vec<Option<u32>>;

/// Compares two versions of the list at `at`.
pub(super) fn compare<'a>(walk: &mut Walk<'_, 'a>, at: SegId, old: Value<'a>, new: Value<'a>) {
    let old: Vec<Value<'a>> = old.items().collect();
    let new: Vec<Value<'a>> = new.items().collect();
    let rule = walk.rule(at, &old, &new);
    let (matching, labels) = match rule.identity {
        Identity::Key(key) => by_key(key, &old, &new),
        Identity::Value => {
            let matching = pair_up(&scalars(&old), &scalars(&new)).0;
            (matching, Labels::Members)
        }
        Identity::Order => (sequence::align(&old, &new), Labels::Indices),
    };
    let lists = Lists {
        old: &old,
        new: &new,
        labels,
        order: rule.order,
    };
    lists.emit(walk, at, &matching);
}

/// What names the items of a list.
enum Labels<'a> {
    Indices,
    Members,
    Keys {
        key: &'a ListKey,
        old: Vec<u32>,
        new: Vec<u32>,
    },
}

fn by_key<'a>(key: &'a ListKey, old: &[Value<'a>], new: &[Value<'a>]) -> (Matching, Labels<'a>) {
    if let Some(nth) = in_place(key, old, new) {
        let matching = (0..old.len()).map(|at| Some(narrow(at))).collect();
        let (old, new) = (nth.clone(), nth);
        return (matching, Labels::Keys { key, old, new });
    }
    let keys = |items: &[Value<'a>]| items.iter().map(|&item| key.of(item)).collect::<Vec<_>>();
    let (matching, (old, new)) = pair_up(&keys(old), &keys(new));
    (matching, Labels::Keys { key, old, new })
}

/// So many items of a list are looked at one by one.
const FEW: usize = 16;

/// Of two lists in which a few items differ where they stand, and keep their keys: for each of these, how
/// many of its key stand up to it. Of the others nothing is told.
fn in_place<'a>(key: &ListKey, old: &[Value<'a>], new: &[Value<'a>]) -> Option<Vec<u32>> {
    if old.len() != new.len() {
        return None;
    }
    let pairs = old.iter().zip(new).enumerate();
    let differing = pairs.filter(|(_, (old, new))| old.raw() != new.raw());
    let mut nth = vec![1; old.len()];
    for (count, (at, (before, item))) in differing.enumerate() {
        let own = key.of(*item);
        if count == FEW || key.of(*before) != own {
            return None;
        }
        // The keys of both lists are the same, place by place.
        let like_it = new[..at].iter().filter(|other| key.of(**other) == own);
        nth[at] += narrow(like_it.count());
    }
    Some(nth)
}

fn scalars<'a>(items: &[Value<'a>]) -> Vec<Cow<'a, str>> {
    let text = |item: &Value<'a>| match item.as_str() {
        // The quote keeps "1" and 1 apart.
        Some(text) if item.raw().contains('\\') => Cow::Owned(format!("\"{text}\"")),
        Some(_) | None => Cow::Borrowed(item.raw()),
    };
    items.iter().map(text).collect()
}

/// Pairs items of equal keys, the k-th with the k-th, and counts for each item which k it is.
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

/// The same where no key is there twice; `None` where one is.
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

/// For each key, how many of its like stand up to it.
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

/// An index as it is kept.
pub(super) fn narrow(index: usize) -> u32 {
    // A list has fewer items than its text has bytes, and a Doc's text is shorter than 4 GiB.
    u32::try_from(index).expect("indices of a tape fit")
}

struct Lists<'l, 'a> {
    old: &'l [Value<'a>],
    new: &'l [Value<'a>],
    labels: Labels<'a>,
    order: Order,
}

/// Says for each new item whether it stands where it stood, among those that were there before. An
/// item that is new has moved nowhere.
fn staying(matching: &Matching) -> Vec<bool> {
    let stayed: Vec<u32> = matching.iter().filter_map(|old| *old).collect();
    let mut stays = lis::longest_increasing(&stayed).into_iter();
    matching
        .iter()
        .map(|old| old.is_none() || stays.next() == Some(true))
        .collect()
}

impl<'a> Lists<'_, 'a> {
    fn emit(&self, walk: &mut Walk<'_, 'a>, at: SegId, matching: &Matching) {
        let stays = staying(matching);
        let mut gone = vec![true; self.old.len()];
        for from in matching.iter().flatten() {
            gone[*from as usize] = false;
        }
        // Up to where items are written down as gone before the new item of each index.
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
                self.item(walk, at, (place, None));
            }
            next = end.max(next);
            if to < self.new.len() {
                let place = Place {
                    old: matching[to],
                    new: Some(narrow(to)),
                };
                let moved = (!stays[to]).then_some(self.order);
                self.item(walk, at, (place, moved));
            }
        }
    }

    fn item(&self, walk: &mut Walk<'_, 'a>, at: SegId, (place, moved): (Place, Option<Order>)) {
        let pair = (
            place.old.map(|from| self.old[from as usize]),
            place.new.map(|to| self.new[to as usize]),
        );
        let item = Item {
            place,
            label: self.label(place),
            moved,
        };
        walk.item(at, item, pair);
    }

    fn label(&self, place: Place) -> Label<'a> {
        match &self.labels {
            Labels::Indices => Label::Index,
            Labels::Members => Label::Member,
            Labels::Keys { key, old, new } => {
                let nth = match place {
                    Place { new: Some(at), .. } => new[at as usize],
                    Place { old: Some(at), .. } => old[at as usize],
                    Place {
                        old: None,
                        new: None,
                    } => 1,
                };
                Label::Key { key, nth }
            }
        }
    }
}
