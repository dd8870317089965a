//! Writes the lists of a tree: items in their new order, removed items at their old places.

use std::collections::HashMap;

use crate::diff::{NodeId, Shown};
use crate::object::path::Side;

use super::build::{PartSource, Spot, TreeBuilder, TreePart};
use super::row::Marking;

/// An item of the new list.
struct Placed<'b> {
    entry: PartSource<'b>,
    value: Shown<'b>,
    /// Its old index, if it kept its place among the others.
    stays: Option<u32>,
}

impl<'b> TreeBuilder<'b> {
    /// Writes the rest of a list that both versions have, or whose old version does not count, up to its closing bracket.
    pub(super) fn list(&mut self, at: NodeId, new: Shown<'b>, closing: &Spot) {
        let parts = self.items(at, new);
        self.parts(parts, closing.indent + 2, Marking::NONE);
        self.close("]", Marking::NONE, closing);
    }

    fn items(&self, at: NodeId, new: Shown<'b>) -> Vec<TreePart<'b>> {
        let placed = self.placed(at, new);
        let mut gone = self
            .children(at)
            .iter()
            .filter(|child| self.is_gone(**child))
            .filter_map(|&child| Some((self.painter.diff.place(child)?.old?, child)))
            .peekable();
        // For each item, the old index up to which removed items are written before it.
        let mut until = vec![u32::MAX; placed.len()];
        let mut next = u32::MAX;
        for (end, item) in until.iter_mut().zip(&placed).rev() {
            next = item.stays.unwrap_or(next);
            *end = next;
        }
        let mut parts = Vec::new();
        for (item, end) in placed.into_iter().zip(until) {
            while let Some((_, child)) = gone.next_if(|(old, _)| *old < end) {
                parts.push(TreePart::of(PartSource::At(child)));
            }
            if !self.is_excluded(&item.entry, item.value) {
                parts.push(TreePart::of(item.entry));
            }
        }
        parts.extend(gone.map(|(_, child)| TreePart::of(PartSource::At(child))));
        parts
    }

    /// The items of the new list. Items without a node in the diff are equal and in the same order in both
    /// versions. So the k-th of them is the k-th of the old list.
    fn placed(&self, at: NodeId, new: Shown<'b>) -> Vec<Placed<'b>> {
        let places = self
            .children(at)
            .iter()
            .filter_map(|&child| Some((child, self.painter.diff.place(child)?)));
        let (mut by_new, mut by_old) = (HashMap::new(), HashMap::new());
        for (child, place) in places {
            place.new.map(|index| by_new.insert(index, (child, place)));
            place.old.map(|index| by_old.insert(index, child));
        }
        let old = self.painter.shown(at, Side::Old);
        let length = old.map_or(0, |old| old.items().count());
        let mut same = (0u32..)
            .take(length)
            .filter(|index| !by_old.contains_key(index));
        let items = new.items().zip(0u32..);
        items
            .map(|(item, index)| match by_new.get(&index) {
                Some(&(child, place)) => Placed {
                    entry: PartSource::At(child),
                    value: item,
                    stays: place.old.filter(|_| !self.has_moved(child)),
                },
                None => Placed {
                    entry: PartSource::Plain(item),
                    value: item,
                    stays: same.next(),
                },
            })
            .collect()
    }
}
