//! Detects renames: an added value that equals a removed sibling.

use crate::object::{Kind, Value};

use super::values::same;
use super::{Change, Diff, NodeId, NodeStep, Op};

/// The length in bytes up to which equal field values are taken for chance.
const TELLING: usize = 8;

/// Renames are not looked for in a version with more changes than this.
const MANY: usize = 1000;

/// The removed value that an added value was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// The same value under another field name.
    Field(NodeId),
    /// An item that differs in some of its key fields only.
    Item {
        /// The removed item.
        at: NodeId,
        /// The names of the key fields that differ.
        fields: Vec<&'a str>,
    },
}

/// An item of a list that got another value in one of its key fields, and is otherwise the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenamedItem<'a> {
    /// The item as it was removed.
    pub from: NodeId,
    /// The item as it was added.
    pub to: NodeId,
    /// The name of the key field.
    pub field: &'a str,
}

impl<'a> Diff<'a> {
    /// The renamed items. Of several new items that equal a removed one, only the first is that item.
    pub fn renamed_items(&self) -> Vec<RenamedItem<'a>> {
        let mut renamed: Vec<RenamedItem<'a>> = Vec::new();
        for change in self.changes() {
            if let Some(Origin::Item { at: from, fields }) = self.renamed_from(change)
                && let [field] = fields[..]
                && renamed.iter().all(|item| item.from != from)
            {
                let to = change.at;
                renamed.push(RenamedItem { from, to, field });
            }
        }
        renamed
    }

    /// The removed sibling that an added value equals, if there is one.
    pub fn renamed_from(&self, change: &Change) -> Option<Origin<'a>> {
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

    fn is_renamed(&self, from: NodeId, to: NodeId, new: Value<'a>) -> Option<Origin<'a>> {
        let old = self.node(from).old?;
        match (&self.node(from).step, &self.node(to).step) {
            (NodeStep::Field(_), NodeStep::Field(_)) => {
                (new.raw().len() > TELLING && same(old, new)).then_some(Origin::Field(from))
            }
            (NodeStep::Item { .. }, NodeStep::Item { .. }) => {
                let mut fields = self.key_fields(to);
                let alike = !fields.is_empty() && same_but(old, new, &fields);
                fields.retain(|name| !same_field(old, new, name));
                alike.then_some(Origin::Item { at: from, fields })
            }
            _ => None,
        }
    }
}

fn same_field(old: Value<'_>, new: Value<'_>, name: &str) -> bool {
    match (old.get(name), new.get(name)) {
        (Some(old), Some(new)) => same(old, new),
        (old, new) => old.is_none() && new.is_none(),
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
