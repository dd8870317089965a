//! Detects renames: an added value that equals a removed sibling.

use crate::object::{Kind, Value};

use super::values::same;
use super::{Change, Diff, NodeId, NodeStep, Op};

/// The length in bytes up to which equal field values are taken for chance.
const TELLING: usize = 8;

/// Renames are not looked for in a version with more changes than this.
const MANY: usize = 1000;

/// The removed value that an added value was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The same value under another field name.
    Field(NodeId),
    /// An item that differs in its key fields only.
    Item(NodeId),
}

impl<'a> Diff<'a> {
    /// The removed sibling that an added value equals, if there is one.
    pub fn renamed_from(&self, change: &Change) -> Option<Origin> {
        if change.op != Op::Add || change.at == NodeId::ROOT || self.changes().len() > MANY {
            return None;
        }
        let new = self.node(change.at).new?;
        let parent = self.parent(change.at);
        let mut gone = self.changes().iter().filter(|other| {
            other.op == Op::Remove && self.parent(other.at) == parent && other.at != change.at
        });
        gone.find_map(|other| self.is_renamed(other.at, change.at, new))
    }

    fn is_renamed(&self, from: NodeId, to: NodeId, new: Value<'a>) -> Option<Origin> {
        let old = self.node(from).old?;
        match (&self.node(from).step, &self.node(to).step) {
            (NodeStep::Field(_), NodeStep::Field(_)) => {
                (new.raw().len() > TELLING && same(old, new)).then_some(Origin::Field(from))
            }
            (NodeStep::Item { .. }, NodeStep::Item { .. }) => {
                let keys = self.key_fields(to);
                let alike = !keys.is_empty() && same_but(old, new, &keys);
                alike.then_some(Origin::Item(from))
            }
            _ => None,
        }
    }
}

/// Whether two objects are equal except for the fields `keys`, and have other fields too.
fn same_but(old: Value<'_>, new: Value<'_>, keys: &[&str]) -> bool {
    let rest = |value: Value<'_>| {
        value
            .fields()
            .filter(|(name, _)| !keys.contains(&&**name))
            .count()
    };
    old.kind() == Kind::Object
        && rest(old) > 0
        && rest(old) == rest(new)
        && old
            .fields()
            .filter(|(name, _)| !keys.contains(&&**name))
            .all(|(name, value)| new.get(&name).is_some_and(|other| same(value, other)))
}
