//! The nodes of a diff: the changed values and the values that contain them.

use std::borrow::Cow;

use crate::object::Value;
use crate::object::list_keys::ListKey;
use crate::object::path::{self, PathWriter, Place, Side};

use super::secret::Guard;

/// Identifies a node of one [`Diff`](super::Diff): a changed value, or a value that contains one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The whole object.
    pub const ROOT: NodeId = NodeId(0);
}

/// A value in both versions, or in one of them.
pub(super) struct DiffNode<'a> {
    pub(super) parent: NodeId,
    pub(super) step: NodeStep<'a>,
    pub(super) old: Option<Value<'a>>,
    pub(super) new: Option<Value<'a>>,
    pub(super) guard: Guard,
}

/// The step from a node's parent to the node.
pub(super) enum NodeStep<'a> {
    Root,
    Field(Cow<'a, str>),
    Item { place: Place, label: NodeLabel<'a> },
}

#[derive(Clone, Copy)]
pub(super) enum NodeLabel<'a> {
    Index,
    Member,
    Key { key: &'a ListKey, nth: u32 },
}

impl<'a> DiffNode<'a> {
    pub(super) fn on(&self, side: Side) -> Option<Value<'a>> {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }

    pub(super) fn path_step(&self) -> Option<path::Step<'_>> {
        match &self.step {
            NodeStep::Root => None,
            NodeStep::Field(name) => Some(path::Step::Field(Cow::Borrowed(name))),
            NodeStep::Item { place, label } => Some(path::Step::Item {
                place: *place,
                label: match label {
                    NodeLabel::Index => path::Label::Index,
                    NodeLabel::Member => path::Label::Member,
                    NodeLabel::Key { key, nth } => path::Label::Key {
                        parts: self
                            .key_parts(key)
                            .map(|(name, value)| (Cow::Borrowed(name), value))
                            .collect(),
                        nth: *nth,
                    },
                },
            }),
        }
    }

    /// Writes the step that [`DiffNode::path_step`] returns, without building it.
    pub(super) fn write_step(&self, writer: &mut PathWriter<'_>) {
        match &self.step {
            NodeStep::Root => {}
            NodeStep::Field(name) => writer.field(name),
            NodeStep::Item { place, label } => match label {
                NodeLabel::Index => writer.index(*place),
                NodeLabel::Member => {}
                NodeLabel::Key { key, nth } => writer.key(self.key_parts(key), *nth),
            },
        }
    }

    fn key_parts<'k>(
        &self,
        key: &'k ListKey,
    ) -> impl Iterator<Item = (&'k str, Cow<'a, str>)> + use<'k, 'a> {
        let item = self.new.or(self.old);
        item.into_iter().flat_map(|item| key.parts(item))
    }
}
