//! What changed between two versions of an object, by path: lists matched by key, every change
//! classed, nothing left out.
//!
//! A [`Diff`] is flat and complete. It holds what a view hides (see [`Noise`]), marked, so that shown and hidden
//! changes add up and [`json_patch`] turns the old version into the new.
//! Values are read through a [`Redactor`] alone, so that no view, record or patch can hold what a
//! Secret holds.

mod annotation;
mod base64;
mod changed_lines;
mod diff_node;
mod embedded;
mod few_edits;
mod filter;
mod guard;
pub mod json_patch;
mod left_out;
mod line_ops;
mod lis;
mod lists;
mod matching;
mod merge_patch;
mod noise;
mod origin;
mod partial;
mod redact;
mod secret;
mod sequence;
mod shape;
mod shown;
mod similarity;
pub mod text;
mod values;
mod walk;
mod who;

use std::fmt;

use crate::object::Value;
use crate::object::list_keys::{ListKey, ListKeys};
use crate::object::path::{self, Path, PathWriter, Place, Side};

pub use annotation::LAST_APPLIED;
pub use diff_node::SegId;
pub use embedded::Embedded;
pub use filter::Filter;
pub use left_out::LeftOut;
pub use merge_patch::{Inexpressible, MergePatch, merge_patch};
pub use noise::Noise;
pub use origin::Origin;
pub use redact::{Content, Redactor, Shown};
pub use values::Fmt;

use diff_node::{DiffNode, NodeLabel, NodeStep};
use secret::Guard;

/// The changes between two versions of one value.
///
/// Fields come in the order of their names, items in that of the new list, each removed item before
/// the items that took its place.
#[derive(Default)]
pub struct Diff<'a> {
    segs: Vec<DiffNode<'a>>,
    changes: Vec<Change>,
    keys: Option<&'a ListKeys>,
}

/// One change: where, what, and of what sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The value that has changed; for an item that was added, removed or moved, the item.
    pub at: SegId,
    /// What has become of it.
    pub op: Op,
    /// Why it is of little interest, if it is.
    pub noise: Option<Noise>,
    /// How its values are to be read.
    pub fmt: Fmt,
}

/// What has become of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// It is new.
    Add,
    /// It is gone.
    Remove,
    /// It has another value.
    Replace,
    /// The item stands at another place among those that stayed. What changed inside it has changes
    /// of its own.
    Move {
        /// Its index in the old list.
        from: u32,
        /// Its index in the new list.
        to: u32,
    },
}

impl<'a> Diff<'a> {
    /// Compares two versions of an object with the built-in list keys; `None` stands for a version that is
    /// not there.
    pub fn of(old: Option<Value<'a>>, new: Option<Value<'a>>) -> Diff<'a> {
        Diff::keyed(old, new, ListKeys::builtin())
    }

    /// Compares two versions of an object with these list keys.
    pub fn keyed(old: Option<Value<'a>>, new: Option<Value<'a>>, keys: &'a ListKeys) -> Diff<'a> {
        walk::run(old, new, keys, Guard::Open)
    }

    /// The list keys it was made with.
    pub fn keys(&self) -> &'a ListKeys {
        self.keys.unwrap_or(ListKeys::builtin())
    }

    /// All changes, hidden ones included.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether nothing has changed at all.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Where a value stands.
    pub fn path(&self, at: SegId) -> Path<'_> {
        let mut steps: Vec<path::Step<'_>> = self
            .chain(at)
            .filter_map(|seg| self.seg(seg).path_step())
            .collect();
        steps.reverse();
        Path { steps }
    }

    /// Appends the path of a value to a text, from below `base` on, which is a value it lies in; with
    /// `arrow` between the two indices of an item that has shifted. See [`Path::text`].
    pub fn push_path(&self, text: &mut String, (base, at): (SegId, SegId), arrow: &str) {
        let start = text.len();
        let mut pen = PathWriter::new(text, arrow);
        self.write_steps(&mut pen, base, at);
        if base == SegId::ROOT {
            pen.end();
        } else if text[start..].starts_with('.') {
            text.remove(start);
        }
    }

    fn write_steps(&self, pen: &mut PathWriter<'_>, base: SegId, at: SegId) {
        if at != base && at != SegId::ROOT {
            self.write_steps(pen, base, self.parent(at));
            self.seg(at).write_step(pen);
        }
    }

    /// The value that this value is a field or an item of; the root is its own parent.
    pub fn parent(&self, at: SegId) -> SegId {
        self.seg(at).parent
    }

    /// The field's name, if the value is a field.
    pub fn field(&self, at: SegId) -> Option<&str> {
        match &self.seg(at).step {
            NodeStep::Field(name) => Some(name),
            NodeStep::Root | NodeStep::Item { .. } => None,
        }
    }

    /// The key that tells an item from its siblings; none for other values.
    pub fn key(&self, at: SegId) -> Option<&'a ListKey> {
        match &self.seg(at).step {
            NodeStep::Item {
                label: NodeLabel::Key { key, .. },
                ..
            } => Some(key),
            NodeStep::Root | NodeStep::Field(_) | NodeStep::Item { .. } => None,
        }
    }

    /// Whether an item is told from its siblings by a key.
    pub fn is_keyed(&self, at: SegId) -> bool {
        self.key(at).is_some()
    }

    /// One version of a value.
    pub fn shown<'s>(&'s self, at: SegId, side: Side, redactor: &'s Redactor) -> Option<Shown<'s>> {
        let seg = self.segs.get(at.0 as usize)?;
        let value = seg.on(side)?;
        Some(redactor.guarded(value, seg.guard))
    }

    /// The value and all it lies in, from the inside out, without the root.
    pub fn chain(&self, at: SegId) -> impl Iterator<Item = SegId> + use<'_, 'a> {
        std::iter::successors(Some(at), |&at| Some(self.seg(at).parent))
            .take_while(|&at| at != SegId::ROOT)
    }

    fn seg(&self, at: SegId) -> &DiffNode<'a> {
        &self.segs[at.0 as usize]
    }
}

/// Paths and sorts of changes, never values: those are behind a [`Redactor`].
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

#[cfg(test)]
pub(crate) mod tests;
