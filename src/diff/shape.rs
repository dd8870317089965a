//! The nesting of a diff's values, for views that print an object as a tree.

use crate::object::path::Place;

use super::{Change, Diff, NodeId, NodeLabel, NodeStep};

impl<'a> Diff<'a> {
    /// The fields that identify an item in its list; empty for other values.
    pub fn key_fields(&self, at: NodeId) -> Vec<&'a str> {
        let node = self.node(at);
        match (&node.step, node.new.or(node.old)) {
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

    /// Every changed value and every value that contains one, except the root. Outer values come before inner
    /// ones, siblings in the order of their changes.
    pub fn values(&self) -> impl Iterator<Item = NodeId> + use<> {
        let count = u32::try_from(self.nodes.len()).expect("each node has an id of 32 bits");
        (1..count).map(NodeId)
    }

    /// The indices of an item in its list; `None` for other values.
    pub fn place(&self, at: NodeId) -> Option<Place> {
        match &self.node(at).step {
            NodeStep::Item { place, .. } => Some(*place),
            NodeStep::Root | NodeStep::Field(_) => None,
        }
    }

    /// Drops the changes that are not wanted. The rest no longer turns the old version into the new.
    pub fn retain(&mut self, mut wanted: impl FnMut(&Self, &Change) -> bool) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.retain(|change| wanted(self, change));
        self.changes = changes;
    }
}
