//! Walks down both versions. Equal parts are skipped, fields are matched by name, and the items of lists are paired:
//! an item is kept, edited, moved, added or removed.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::noise::{self, Noise};
use super::secret::Guard;
use super::sequence::{self, Matching, narrow};
use super::values::{self, Fmt};
use super::{Change, Diff, DiffNode, NodeId, NodeLabel, NodeStep, Op, Place};
use crate::object::list_keys::{Identity, ListKey, ListKeys, ListPlace, ListRule, Order};
use crate::object::{Kind, Value};

/// The changes from `old` to `new`. `guard` protects the Secret values in them.
pub(super) fn run<'a>(
    old: Option<Value<'a>>,
    new: Option<Value<'a>>,
    keys: &'a ListKeys,
    guard: Guard,
) -> Diff<'a> {
    // Room for the changes of one version of a Pod, so that the vectors need not grow step by step.
    let mut out = Diff {
        nodes: Vec::with_capacity(32),
        changes: Vec::with_capacity(16),
        keys: Some(keys),
    };
    let root = DiffNode {
        parent: NodeId::ROOT,
        step: NodeStep::Root,
        old,
        new,
        guard: guard.enter(old, new),
    };
    let mut walk = DiffWalk {
        keys,
        out: &mut out,
    };
    walk.inside(root, DiffWalk::compare);
    out
}

/// The old and the new value, of which one may be missing.
pub(super) type Pair<'a> = (Option<Value<'a>>, Option<Value<'a>>);

/// A list item: its indices and its label.
#[derive(Clone, Copy)]
pub(super) struct ListItem<'a> {
    pub(super) place: Place,
    pub(super) label: NodeLabel<'a>,
    /// The list's order rule, if the item has another place among the items that stayed.
    pub(super) moved: Option<Order>,
}

/// The walk, which writes its findings to a [`Diff`].
pub(super) struct DiffWalk<'o, 'a> {
    pub(super) keys: &'a ListKeys,
    pub(super) out: &'o mut Diff<'a>,
}

impl<'a> DiffWalk<'_, 'a> {
    pub(super) fn item(&mut self, parent: NodeId, item: ListItem<'a>, pair: Pair<'a>) {
        let ListItem {
            place,
            label,
            moved,
        } = item;
        if let (Some(old), Some(new), None) = (pair.0, pair.1, moved)
            && old.raw() == new.raw()
        {
            return;
        }
        let guard = self.out.node(parent).guard.item();
        let node = DiffNode {
            parent,
            step: NodeStep::Item { place, label },
            old: pair.0,
            new: pair.1,
            guard: guard.enter(pair.0, pair.1),
        };
        self.inside(node, |walk, at| {
            if let (Some(order), (Some(from), Some(to))) = (moved, (place.old, place.new)) {
                walk.push(Change {
                    at,
                    op: Op::Move { from, to },
                    noise: (order == Order::Free).then_some(Noise::Order),
                    fmt: Fmt::Plain,
                });
            }
            walk.compare(at);
        });
    }

    /// Adds a node while `visit` looks for its changes, and drops it again if there are none.
    fn inside(&mut self, node: DiffNode<'a>, visit: impl FnOnce(&mut Self, NodeId)) {
        let (nodes, changes) = (self.out.nodes.len(), self.out.changes.len());
        let at = NodeId(
            u32::try_from(nodes)
                .expect("a tape has fewer than 2^32 nodes, and a value is added once"),
        );
        self.out.nodes.push(node);
        visit(self, at);
        if self.out.changes.len() == changes && at != NodeId::ROOT {
            self.out.nodes.truncate(nodes);
        }
    }

    /// Compares the two versions of a value that has a node.
    fn compare(&mut self, at: NodeId) {
        let node = self.out.node(at);
        let (old, new) = match (node.old, node.new) {
            (Some(old), Some(new)) if old.raw() != new.raw() => (old, new),
            (Some(_), Some(_)) | (None, None) => return,
            (Some(_), None) => return self.change(at, Op::Remove, self.fmt_alone(at)),
            (None, Some(_)) => return self.change(at, Op::Add, self.fmt_alone(at)),
        };
        let hidden = node.guard.hides(old) || node.guard.hides(new);
        match (old.kind(), new.kind()) {
            _ if hidden => self.leaf(at, old, new),
            // No reader needs to know which entry of the managed fields moved.
            _ if noise::of(self.out, at) == Some(Noise::ManagedFields) => {
                self.change(at, Op::Replace, Fmt::Plain);
            }
            (Kind::Object, Kind::Object) => self.object(at, old, new),
            (Kind::Array, Kind::Array) => compare_lists(self, at, old, new),
            _ => self.leaf(at, old, new),
        }
    }

    fn object(&mut self, at: NodeId, old: Value<'a>, new: Value<'a>) {
        for (name, (old, new)) in differing(old, new) {
            let guard = self.out.node(at).guard.field(&name);
            let node = DiffNode {
                parent: at,
                step: NodeStep::Field(name),
                old,
                new,
                guard: guard.enter(old, new),
            };
            self.inside(node, DiffWalk::compare);
        }
    }

    fn leaf(&mut self, at: NodeId, old: Value<'a>, new: Value<'a>) {
        let guard = self.out.node(at).guard;
        let secret = guard.is_secret();
        match values::compare(old, new, || values::is_quantity(self.out, at)) {
            values::Equality::Same => {}
            // Another encoding of the same bytes is not shown as a spelling, but it is a change of the
            // Secret.
            _ if secret => self.change(at, Op::Replace, Fmt::Secret),
            values::Equality::Equivalent(_) if guard.hides(old) || guard.hides(new) => {
                self.change(at, Op::Replace, Fmt::Secret);
            }
            values::Equality::Equivalent(fmt) => self.push(Change {
                at,
                op: Op::Replace,
                noise: Some(Noise::Equivalent),
                fmt,
            }),
            values::Equality::Different(fmt) => self.change(at, Op::Replace, fmt),
        }
    }

    /// The format of a value that is only in one version.
    fn fmt_alone(&self, at: NodeId) -> Fmt {
        let node = self.out.node(at);
        match node.new.or(node.old) {
            Some(value) if node.guard.hides(value) => Fmt::Secret,
            Some(value) => values::fmt(value),
            None => Fmt::Plain,
        }
    }

    fn change(&mut self, at: NodeId, op: Op, fmt: Fmt) {
        let noise = noise::of(self.out, at);
        self.push(Change { at, op, noise, fmt });
    }

    fn push(&mut self, change: Change) {
        self.out.changes.push(change);
    }

    pub(super) fn rule(&self, at: NodeId, old: &[Value<'a>], new: &[Value<'a>]) -> ListRule<'a> {
        let parent = self.out.parent(at);
        let above = self.out.chain(parent).find_map(|at| self.out.field(at));
        let path = self.keys.reads_paths().then(|| self.out.path(at));
        let place = ListPlace {
            field: self.out.field(at).unwrap_or_default(),
            parent: above.unwrap_or_default(),
            path: path.as_ref(),
        };
        self.keys.rule(place, old, new)
    }
}

/// Up to this number of fields, looking a name up is cheaper than sorting.
const FEW_FIELDS: usize = 32;

/// The fields whose raw texts differ between the objects, sorted by name, because their order in the text
/// means nothing.
fn differing<'a>(old: Value<'a>, new: Value<'a>) -> Vec<(Cow<'a, str>, Pair<'a>)> {
    let has_many = || old.counting_fields().count() > FEW_FIELDS;
    let mut found = Vec::new();
    let mut before = old.counting_fields().peekable();
    let mut met = 0;
    for value in new.counting_fields() {
        // Usually the fields of both objects are in the same order.
        let counterpart = match before.next_if(|other| other.is_named_alike(value)) {
            Some(beside) => Some(beside),
            None if has_many() => return differing_of_many(old, new),
            None => old.get(&value.name()),
        };
        met += usize::from(counterpart.is_some());
        if counterpart.is_none_or(|old| old.raw() != value.raw()) {
            found.push((value.name(), (counterpart, Some(value))));
        }
    }
    if met < old.counting_fields().count() {
        if has_many() {
            return differing_of_many(old, new);
        }
        let gone = old.fields().filter(|(name, _)| new.get(name).is_none());
        found.extend(gone.map(|(name, value)| (name, (Some(value), None))));
    }
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    found
}

fn differing_of_many<'a>(old: Value<'a>, new: Value<'a>) -> Vec<(Cow<'a, str>, Pair<'a>)> {
    let sides = old
        .fields()
        .map(|(name, value)| (name, (Some(value), None)));
    let sides = sides.chain(
        new.fields()
            .map(|(name, value)| (name, (None, Some(value)))),
    );
    let mut all: Vec<(Cow<'a, str>, Pair<'a>)> = sides.collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|new, old| {
        let same = new.0 == old.0;
        if same {
            old.1.1 = new.1.1;
        }
        same
    });
    let raw = |value: Option<Value<'a>>| value.map(Value::raw);
    all.retain(|(_, (old, new))| raw(*old) != raw(*new));
    all
}

fn compare_lists<'a>(walk: &mut DiffWalk<'_, 'a>, at: NodeId, old: Value<'a>, new: Value<'a>) {
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
            (matching, ListLabels::Members)
        }
        Identity::Order => (sequence::align(&old, &new), ListLabels::Indices),
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
enum ListLabels<'a> {
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
) -> (Matching, ListLabels<'a>) {
    let keys = |items: &[Value<'a>]| items.iter().map(|&item| key.of(item)).collect::<Vec<_>>();
    let (matching, (old, new)) = pair_up(&keys(old), &keys(new));
    (matching, ListLabels::Keys { key, old, new })
}

/// The limit of edited items in [`edited_in_place`].
const FEW_EDITED: usize = 16;

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
        if edited.len() == FEW_EDITED || key.of(before) != own {
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
    labels: ListLabels<'a>,
    order: Order,
}

/// For each new item, whether it kept its place among the items that were there before. An added item has not
/// moved.
fn staying(matching: &Matching) -> Vec<bool> {
    let stayed: Vec<u32> = matching.iter().filter_map(|old| *old).collect();
    let mut stays = sequence::longest_increasing(&stayed).into_iter();
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
            ListLabels::Indices => NodeLabel::Index,
            ListLabels::Members => NodeLabel::Member,
            ListLabels::Keys { key, old, new } => {
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
                let ListLabels::Keys { new: counts, .. } = labels else { unreachable!("it has keys") };
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
