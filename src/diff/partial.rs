//! Applies a selection of the changes to the old version.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::path::Side;
use crate::object::{Doc, Kind, Value};

use super::redact::push_field;
use super::secret::Guard;
use super::{Change, Diff, NodeId, Op};

/// The old version of a diff with the wanted changes applied. All changes give the new version, none the old.
/// Changes dropped from the diff are not applied. A new or moved item follows the item that precedes it
/// in the new list, as far as that item is present.
pub fn partly(diff: &Diff<'_>, wanted: impl Fn(&Change) -> bool) -> Doc {
    let mut writer = PartialWriter {
        diff,
        children: FxHashMap::default(),
        edited: FxHashSet::default(),
        moved: FxHashSet::default(),
        out: String::new(),
    };
    for at in diff.values() {
        let parent = diff.parent(at);
        writer.children.entry(parent).or_default().push(at);
        let says_so = matches!(diff.field(at), Some("kind" | "apiVersion"));
        if says_so && diff.node(parent).guard != Guard::Open {
            writer.edited.insert(parent);
        }
    }
    for change in diff.changes().iter().filter(|change| wanted(change)) {
        match change.op {
            Op::Move { .. } => writer.moved.insert(change.at),
            Op::Add | Op::Remove | Op::Replace => writer.edited.insert(change.at),
        };
    }
    writer.value(NodeId::ROOT);
    Doc::parse(writer.out).expect("it is composed of parts of two valid documents")
}

struct PartialWriter<'w, 'a> {
    diff: &'w Diff<'a>,
    children: FxHashMap<NodeId, Vec<NodeId>>,
    /// The values whose addition, removal or replacement is wanted.
    edited: FxHashSet<NodeId>,
    moved: FxHashSet<NodeId>,
    out: String,
}

/// An item of the list being written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PartialItem {
    /// An item that has a node in the diff.
    At(NodeId),
    /// An item that is equal in both versions, by its old index.
    Same(u32),
}

impl PartialWriter<'_, '_> {
    fn value(&mut self, at: NodeId) {
        let node = self.diff.node(at);
        let (value, noted) = match (node.old, node.new) {
            (Some(_), Some(new)) if self.edited.contains(&at) => (new, false),
            (Some(old), Some(_)) => (old, self.children.contains_key(&at)),
            (Some(value), None) | (None, Some(value)) => (value, false),
            (None, None) => return self.out.push_str("null"),
        };
        match value.kind() {
            Kind::Object if noted => self.object(at, value),
            Kind::Array if noted => self.list(at, value),
            _ => self.out.push_str(value.raw()),
        }
    }

    /// Whether a value exists after the wanted changes.
    fn is_there(&self, at: NodeId) -> bool {
        let node = self.diff.node(at);
        match (node.old, node.new) {
            (Some(_), Some(_)) => true,
            (None, Some(_)) => self.edited.contains(&at),
            (Some(_), None) => !self.edited.contains(&at),
            (None, None) => false,
        }
    }

    fn children(&self, at: NodeId) -> Vec<NodeId> {
        self.children.get(&at).cloned().unwrap_or_default()
    }

    fn object(&mut self, at: NodeId, old: Value<'_>) {
        let children = self.children(at);
        let diff = self.diff;
        let noted: FxHashMap<&str, NodeId> = children
            .iter()
            .filter_map(|&child| Some((diff.field(child)?, child)))
            .collect();
        self.out.push('{');
        let open = self.out.len();
        for (name, value) in old.fields() {
            match noted.get(&*name) {
                Some(&child) if self.is_there(child) => {
                    push_field(&mut self.out, &name, open);
                    self.value(child);
                }
                Some(_) => {}
                None => {
                    push_field(&mut self.out, &name, open);
                    self.out.push_str(value.raw());
                }
            }
        }
        for child in children {
            let is_new = diff.node(child).old.is_none() && self.is_there(child);
            if let Some(name) = diff.field(child).filter(|_| is_new) {
                push_field(&mut self.out, name, open);
                self.value(child);
            }
        }
        self.out.push('}');
    }

    fn list(&mut self, at: NodeId, old: Value<'_>) {
        let items: Vec<Value<'_>> = old.items().collect();
        let new = self.diff.node(at).new;
        let new = new.map_or(0, |list| list.items().count());
        self.out.push('[');
        for (index, slot) in self.slots(at, items.len(), new).into_iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { "," });
            match slot {
                PartialItem::At(child) => self.value(child),
                PartialItem::Same(index) => self.out.push_str(items[index as usize].raw()),
            }
        }
        self.out.push(']');
    }

    /// The items in their order. `old` and `new` are the lengths of the list. Items that stay keep the old
    /// order; each is followed by the added and moved items that follow it in the new list.
    fn slots(&self, at: NodeId, old: usize, new: usize) -> Vec<PartialItem> {
        let before = self.side(at, old, Side::Old);
        let mut same = before.iter().copied();
        let mut same = same
            .by_ref()
            .filter(|slot| matches!(slot, PartialItem::Same(_)));
        let mut follower: FxHashMap<Option<PartialItem>, PartialItem> = FxHashMap::default();
        let mut last = None;
        for slot in self.side(at, new, Side::New) {
            let slot = match slot {
                // Items without a node have the same order in both lists.
                PartialItem::Same(_) => same.next().unwrap_or(slot),
                PartialItem::At(_) => slot,
            };
            let PartialItem::At(child) = slot else {
                last = Some(slot);
                continue;
            };
            if !self.is_there(child) {
                continue;
            }
            if self.arrives(child) {
                follower.insert(last, slot);
            }
            last = Some(slot);
        }
        let stay = before.into_iter().filter(|slot| match slot {
            PartialItem::At(child) => self.is_there(*child) && !self.arrives(*child),
            PartialItem::Same(_) => true,
        });
        let mut slots = Vec::with_capacity(old.max(new));
        for start in std::iter::once(None).chain(stay.map(Some)) {
            slots.extend(start);
            let mut next = follower.get(&start);
            while let Some(slot) = next {
                slots.push(*slot);
                next = follower.get(&Some(*slot));
            }
        }
        slots
    }

    /// Whether an item of the result was added or moved.
    fn arrives(&self, child: NodeId) -> bool {
        self.moved.contains(&child) || self.diff.node(child).old.is_none()
    }

    fn side(&self, at: NodeId, length: usize, side: Side) -> Vec<PartialItem> {
        let children = self.children(at).into_iter();
        let noted: FxHashMap<u32, NodeId> = children
            .filter_map(|child| Some((self.diff.place(child)?.on(side)?, child)))
            .collect();
        let slot = |index| {
            noted
                .get(&index)
                .map_or(PartialItem::Same(index), |&at| PartialItem::At(at))
        };
        (0u32..).take(length).map(slot).collect()
    }
}
