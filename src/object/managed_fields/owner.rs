//! Finds the owner of a field: follows its path through the sets of fields that entries own.

use std::borrow::Cow;

use super::key;
use crate::object::value::Value;

/// One step of the path to a field.
#[derive(Clone)]
pub enum OwnerStep<'a> {
    /// A field of an object.
    Field(Cow<'a, str>),
    /// An item of a list. Ownership names it by its key fields, its value or its index.
    Item {
        /// The item.
        value: Value<'a>,
        /// Its index in the list.
        index: u32,
    },
}

/// Follows a path through `fieldsV1`: `f:NAME` for fields, `k:{…}` for items by key, `v:…` by value, `i:N` by
/// index. An empty set owns everything below it, even if the path continues.
pub(super) fn names(set: Value<'_>, path: &[OwnerStep<'_>]) -> Option<usize> {
    let Some((step, rest)) = path.split_first() else {
        return Some(0);
    };
    if set.is_empty_object() {
        return Some(0);
    }
    let mut fields = set.written_fields();
    let below = match step {
        OwnerStep::Field(name) => {
            let (_, child) = fields.find(|(key, _)| key::is_field(key, name))?;
            names(child, rest)
        }
        OwnerStep::Item { value, index } => fields.find_map(|(key, child)| {
            let is_named = key::is_item(key, *value, *index);
            is_named.then(|| names(child, rest)).flatten()
        }),
    };
    Some(below? + 1)
}

/// Whether a set of fields names a part of the value at the end of a path.
pub(super) fn names_part(set: Value<'_>, path: &[OwnerStep<'_>]) -> bool {
    let Some((step, rest)) = path.split_first() else {
        return set.written_fields().any(|(key, _)| key != key::WHOLE);
    };
    let mut below = set.written_fields().filter(|(key, _)| is_step(key, step));
    below.any(|(_, child)| names_part(child, rest))
}

/// Whether a key of a set of fields stands for a step.
fn is_step(key: &str, step: &OwnerStep<'_>) -> bool {
    match step {
        OwnerStep::Field(name) => key::is_field(key, name),
        OwnerStep::Item { value, index } => key::is_item(key, *value, *index),
    }
}

/// Whether a set of fields names the value at the end of a path as a whole, without the fields inside it.
pub(super) fn names_whole(set: Value<'_>, path: &[OwnerStep<'_>]) -> bool {
    if set.is_empty_object() {
        return true;
    }
    let Some((step, rest)) = path.split_first() else {
        return false;
    };
    let mut below = set.written_fields().filter(|(key, _)| is_step(key, step));
    below.any(|(_, child)| names_whole(child, rest))
}
