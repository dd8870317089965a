//! The old version with some of the changes alone: what a patch of these leads to.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::path::Side;
use crate::object::{Doc, Kind, Value};

use super::secret::Guard;
use super::shown::push_json_string;
use super::{Change, Diff, Op, SegId};

impl Diff<'_> {
    /// The old version with those changes that are left in the diff and are wanted. With all of them it is
    /// the new version, with none the old. An item that is wanted stands behind the one that it is behind in
    /// the new list, as far as that is there.
    pub fn partly(&self, wanted: impl Fn(&Change) -> bool) -> Doc {
        let mut writer = PartialWriter {
            diff: self,
            children: FxHashMap::default(),
            edited: FxHashSet::default(),
            moved: FxHashSet::default(),
            out: String::new(),
        };
        for at in self.values() {
            let parent = self.parent(at);
            writer.children.entry(parent).or_default().push(at);
            let says_so = matches!(self.field(at), Some("kind" | "apiVersion"));
            if says_so && self.seg(parent).guard != Guard::Open {
                writer.edited.insert(parent);
            }
        }
        for change in self.changes().iter().filter(|change| wanted(change)) {
            match change.op {
                Op::Move { .. } => writer.moved.insert(change.at),
                Op::Add | Op::Remove | Op::Replace => writer.edited.insert(change.at),
            };
        }
        writer.value(SegId::ROOT);
        Doc::parse(writer.out).expect("it is put together from the parts of two documents")
    }
}

struct PartialWriter<'w, 'a> {
    diff: &'w Diff<'a>,
    children: FxHashMap<SegId, Vec<SegId>>,
    /// What is new, gone or another.
    edited: FxHashSet<SegId>,
    moved: FxHashSet<SegId>,
    out: String,
}

/// An item of the list that is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PartialItem {
    /// One that the diff has noted.
    At(SegId),
    /// One that is the same in both versions, by its old index.
    Same(u32),
}

impl PartialWriter<'_, '_> {
    fn value(&mut self, at: SegId) {
        let seg = self.diff.seg(at);
        let (value, noted) = match (seg.old, seg.new) {
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

    /// Whether a value is there once the wanted changes are made.
    fn is_there(&self, at: SegId) -> bool {
        let seg = self.diff.seg(at);
        match (seg.old, seg.new) {
            (Some(_), Some(_)) => true,
            (None, Some(_)) => self.edited.contains(&at),
            (Some(_), None) => !self.edited.contains(&at),
            (None, None) => false,
        }
    }

    fn children(&self, at: SegId) -> Vec<SegId> {
        self.children.get(&at).cloned().unwrap_or_default()
    }

    fn object(&mut self, at: SegId, old: Value<'_>) {
        let children = self.children(at);
        let diff = self.diff;
        let noted: FxHashMap<&str, SegId> = children
            .iter()
            .filter_map(|&child| Some((diff.field(child)?, child)))
            .collect();
        self.out.push('{');
        let open = self.out.len();
        for (name, value) in old.fields() {
            match noted.get(&*name) {
                Some(&child) if self.is_there(child) => {
                    self.name(&name, open);
                    self.value(child);
                }
                Some(_) => {}
                None => {
                    self.name(&name, open);
                    self.out.push_str(value.raw());
                }
            }
        }
        for child in children {
            let is_new = diff.seg(child).old.is_none() && self.is_there(child);
            if let Some(name) = diff.field(child).filter(|_| is_new) {
                self.name(name, open);
                self.value(child);
            }
        }
        self.out.push('}');
    }

    /// Begins a field of the object whose fields begin at `open`.
    fn name(&mut self, name: &str, open: usize) {
        self.out
            .push_str(if self.out.len() > open { "," } else { "" });
        push_json_string(&mut self.out, name);
        self.out.push(':');
    }

    fn list(&mut self, at: SegId, old: Value<'_>) {
        let items: Vec<Value<'_>> = old.items().collect();
        let new = self.diff.seg(at).new;
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

    /// The items in their order: those that stay in that of the old list, of these lengths, and behind each
    /// the new and moved ones that follow it in the new list.
    fn slots(&self, at: SegId, old: usize, new: usize) -> Vec<PartialItem> {
        let before = self.side(at, old, Side::Old);
        let mut same = before.iter().copied();
        let mut same = same
            .by_ref()
            .filter(|slot| matches!(slot, PartialItem::Same(_)));
        let mut follower: FxHashMap<Option<PartialItem>, PartialItem> = FxHashMap::default();
        let mut last = None;
        for slot in self.side(at, new, Side::New) {
            let slot = match slot {
                // What the diff has not noted is in the same order in both.
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

    /// Whether an item that is there comes from elsewhere.
    fn arrives(&self, child: SegId) -> bool {
        self.moved.contains(&child) || self.diff.seg(child).old.is_none()
    }

    /// The items of one side of a list of this length.
    fn side(&self, at: SegId, length: usize, side: Side) -> Vec<PartialItem> {
        let children = self.children(at).into_iter();
        let noted: FxHashMap<u32, SegId> = children
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
