//! Compares two versions of an object by path. Lists are matched by key, and no change is left out.
//!
//! A [`Diff`] is flat and complete. Changes that a view hides are in it too, marked with their [`Noise`]. So
//! shown and hidden changes add up, and [`json_patch`] turns the old version into the new. All values are
//! read through a [`Redactor`], so that no view, record or patch can contain a Secret's values.

mod diff_node;
mod few_edits;
mod filter;
pub mod json_patch;
mod line_ops;
mod merge_patch;
mod noise;
mod origin;
mod partial;
mod redact;
mod sealed;
mod sealed_paths;
mod secret;
mod sequence;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;
mod values;
mod walk;
mod who;
mod writer;

use std::fmt;

use crate::object::Value;
use crate::object::list_keys::{ListKey, ListKeys};
use crate::object::path::{self, Path, PathWriter, Place, Side};
use diff_node::{DiffNode, NodeLabel, NodeStep};
use secret::Guard;

pub use diff_node::NodeId;
pub use filter::{Filter, Projection};
pub use line_ops::line_ops;
pub use merge_patch::{Inexpressible, MergePatch, merge_patch};
pub use noise::Noise;
pub use origin::{Origin, RenamedItem, renamed_from, renamed_items};
pub use partial::partly;
pub use redact::{Content, Embedded, Redactor, Shown};
pub use sealed::{SecretDigest, sealed};
pub use sealed_paths::sealed_at;
pub use secret::{LAST_APPLIED, may_name_secret};
pub use values::Fmt;
pub use writer::{
    VersionWriter, former_owner, is_same_manager, manager_name, probable_owner, writer, writer_of,
};

/// The changes between two versions of a value.
///
/// Fields are in the order of their names and items in the order of the new list. A removed item comes before
/// the items that took its place.
#[derive(Default)]
pub struct Diff<'a> {
    nodes: Vec<DiffNode<'a>>,
    changes: Vec<Change>,
    keys: Option<&'a ListKeys>,
}

/// One change: its place, its operation, and whether it is noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The changed value. For an item that was added, removed or moved, the item.
    pub at: NodeId,
    /// The operation.
    pub op: Op,
    /// The reason to hide it from text views, if there is one.
    pub noise: Option<Noise>,
    /// The format of its values.
    pub fmt: Fmt,
}

/// What happened to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// The value was added.
    Add,
    /// The value was removed.
    Remove,
    /// The value was replaced by another.
    Replace,
    /// The item has another place among the items that stayed. Edits inside it are changes of their own.
    Move {
        /// Its index in the old list.
        from: u32,
        /// Its index in the new list.
        to: u32,
    },
}

impl<'a> Diff<'a> {
    /// Compares two versions of an object with the built-in list keys. `None` stands for a missing version.
    pub fn of(old: Option<Value<'a>>, new: Option<Value<'a>>) -> Diff<'a> {
        Diff::keyed(old, new, ListKeys::builtin())
    }

    /// Compares two versions of an object with these list keys.
    pub fn keyed(old: Option<Value<'a>>, new: Option<Value<'a>>, keys: &'a ListKeys) -> Diff<'a> {
        walk::run(old, new, keys, Guard::Open)
    }

    /// The list keys that the diff was made with.
    pub fn keys(&self) -> &'a ListKeys {
        self.keys.unwrap_or(ListKeys::builtin())
    }

    /// All changes, including those that views hide.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The path of a value.
    pub fn path(&self, at: NodeId) -> Path<'_> {
        let mut steps: Vec<path::Step<'_>> = self
            .chain(at)
            .filter_map(|node| self.node(node).path_step())
            .collect();
        steps.reverse();
        Path { steps }
    }

    /// Writes the path of a value, starting below its ancestor `base`. See [`Path::text`].
    pub(crate) fn write_path(&self, mut writer: PathWriter<'_>, base: NodeId, at: NodeId) {
        self.write_steps(&mut writer, base, at);
        if base == NodeId::ROOT {
            writer.end();
        } else {
            writer.end_below_root();
        }
    }

    fn write_steps(&self, writer: &mut PathWriter<'_>, base: NodeId, at: NodeId) {
        if at != base && at != NodeId::ROOT {
            self.write_steps(writer, base, self.parent(at));
            self.node(at).write_step(writer);
        }
    }

    /// The object or list that contains this value. The root is its own parent.
    pub fn parent(&self, at: NodeId) -> NodeId {
        self.node(at).parent
    }

    /// The field's name, if the value is a field.
    pub fn field(&self, at: NodeId) -> Option<&str> {
        match &self.node(at).step {
            NodeStep::Field(name) => Some(name),
            NodeStep::Root | NodeStep::Item { .. } => None,
        }
    }

    /// The key that identifies an item in its list; `None` for other values.
    pub fn key(&self, at: NodeId) -> Option<&'a ListKey> {
        match &self.node(at).step {
            NodeStep::Item {
                label: NodeLabel::Key { key, .. },
                ..
            } => Some(key),
            NodeStep::Root | NodeStep::Field(_) | NodeStep::Item { .. } => None,
        }
    }

    /// Whether an item is identified by a key.
    pub fn is_keyed(&self, at: NodeId) -> bool {
        self.key(at).is_some()
    }

    /// One version of a value, behind the redactor.
    pub fn shown<'s>(
        &'s self,
        at: NodeId,
        side: Side,
        redactor: &'s Redactor,
    ) -> Option<Shown<'s>> {
        let node = self.nodes.get(at.0 as usize)?;
        let value = node.on(side)?;
        Some(redactor.guarded(value, node.guard))
    }

    /// The value and its ancestors, from the inside out, without the root.
    pub fn chain(&self, at: NodeId) -> impl Iterator<Item = NodeId> + use<'_, 'a> {
        std::iter::successors(Some(at), |&at| Some(self.node(at).parent))
            .take_while(|&at| at != NodeId::ROOT)
    }

    fn node(&self, at: NodeId) -> &DiffNode<'a> {
        &self.nodes[at.0 as usize]
    }

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

/// Prints paths and operations, never values; only a [`Redactor`] gives access to those.
impl fmt::Debug for Diff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.changes
                    .iter()
                    .map(|change| (self.path(change.at).to_string(), change.op)),
            )
            .finish()
    }
}
