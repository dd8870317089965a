//! The shape of a diff: which values lie in which, for views that show an object as it is nested.

use crate::object::path::Place;

use super::{Change, Diff, NodeLabel, NodeStep, SegId};

impl<'a> Diff<'a> {
    /// The fields by which an item is told from its siblings; none for other values.
    pub fn key_fields(&self, at: SegId) -> Vec<&'a str> {
        let seg = self.seg(at);
        match (&seg.step, seg.new.or(seg.old)) {
            (
                NodeStep::Item {
                    label: NodeLabel::Key { key, .. },
                    ..
                },
                Some(item),
            ) => key.parts(item).map(|part| part.0).collect(),
            _ => Vec::new(),
        }
    }

    /// Every value on the way to a change but the object itself, outer before inner, siblings in the
    /// order of their changes.
    pub fn values(&self) -> impl Iterator<Item = SegId> + use<> {
        let count = u32::try_from(self.segs.len()).expect("ids are 32 bits wide");
        (1..count).map(SegId)
    }

    /// Where an item stands in its list; `None` for other values.
    pub fn place(&self, at: SegId) -> Option<Place> {
        match &self.seg(at).step {
            NodeStep::Item { place, .. } => Some(*place),
            NodeStep::Root | NodeStep::Field(_) => None,
        }
    }

    /// Drops the changes that are not wanted. What is left no longer turns the old version into the new.
    pub fn retain(&mut self, mut wanted: impl FnMut(&Self, &Change) -> bool) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.retain(|change| wanted(self, change));
        self.changes = changes;
    }
}
