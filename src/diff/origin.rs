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

/// The renamed items. Of several new items that equal a removed one, only the first is that item.
pub fn renamed_items<'a>(diff: &Diff<'a>) -> Vec<RenamedItem<'a>> {
    let mut renamed: Vec<RenamedItem<'a>> = Vec::new();
    for change in diff.changes() {
        if let Some(Origin::Item { at: from, fields }) = renamed_from(diff, change)
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
pub fn renamed_from<'a>(diff: &Diff<'a>, change: &Change) -> Option<Origin<'a>> {
    if change.op != Op::Add || change.at == NodeId::ROOT || diff.changes().len() > MANY {
        return None;
    }
    let parent = diff.parent(change.at);
    let mut gone = diff.changes().iter().filter(|other| {
        other.op == Op::Remove && diff.parent(other.at) == parent && other.at != change.at
    });
    gone.find_map(|other| origin(diff, other.at, change.at))
}

fn origin<'a>(diff: &Diff<'a>, from: NodeId, to: NodeId) -> Option<Origin<'a>> {
    let (old, new) = (diff.node(from).old?, diff.node(to).new?);
    match (&diff.node(from).step, &diff.node(to).step) {
        (NodeStep::Field(_), NodeStep::Field(_)) => {
            (new.raw().len() > TELLING && same(old, new)).then_some(Origin::Field(from))
        }
        (NodeStep::Item { .. }, NodeStep::Item { .. }) => {
            let mut fields = diff.key_fields(to);
            let alike = !fields.is_empty() && same_but(old, new, &fields);
            fields.retain(|name| match (old.get(name), new.get(name)) {
                (Some(old), Some(new)) => !same(old, new),
                (old, new) => old.is_some() || new.is_some(),
            });
            alike.then_some(Origin::Item { at: from, fields })
        }
        _ => None,
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
