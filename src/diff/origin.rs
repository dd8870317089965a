//! What was renamed: something new that is the same as something that is gone from beside it.

use crate::object::{Kind, Value};

use super::values::same;
use super::{Change, Diff, NodeStep, Op, SegId};

/// Shorter values are equal by chance too often.
const TELLING: usize = 8;

/// In versions that change more than this, nobody looks for what was renamed.
const MANY: usize = 1000;

/// What something new was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The same value under another field name.
    Field(SegId),
    /// An item that differs by its key alone.
    Item(SegId),
}

impl<'a> Diff<'a> {
    /// What an added value was before, if the same has gone from beside it.
    pub fn renamed_from(&self, change: &Change) -> Option<Origin> {
        if change.op != Op::Add || change.at == SegId::ROOT || self.changes().len() > MANY {
            return None;
        }
        let new = self.seg(change.at).new?;
        let parent = self.parent(change.at);
        let mut gone = self.changes().iter().filter(|other| {
            other.op == Op::Remove && self.parent(other.at) == parent && other.at != change.at
        });
        gone.find_map(|other| self.is_renamed(other.at, change.at, new))
    }

    fn is_renamed(&self, from: SegId, to: SegId, new: Value<'a>) -> Option<Origin> {
        let old = self.seg(from).old?;
        match (&self.seg(from).step, &self.seg(to).step) {
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

/// Whether two objects are the same but for these fields, and have others.
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
