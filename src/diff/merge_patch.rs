//! A diff as a JSON Merge Patch (RFC 7396), which turns the old version into the new.
//!
//! Lists are in it as a whole, and `null` means that a field goes: a version that holds a null cannot
//! be written so. What Secrets hold is replaced here too: such a patch cannot be applied.

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use super::json_patch::to_json;
use super::{Diff, Op, Redactor, SegId, Shown, Side};

/// A new value that a merge patch cannot say: a null, which would take the field away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} is null in the new version, which a merge patch cannot say; a JSON Patch can")]
pub struct NullInPatch {
    /// Where it stands.
    pub path: String,
}

/// The patch from the old version to the new, noise included; an empty object if nothing has changed.
pub fn merge_patch(diff: &Diff<'_>, redactor: &Redactor) -> Result<Json, NullInPatch> {
    let mut patch = Json::Object(Map::new());
    let mut told = HashSet::new();
    for change in diff.changes() {
        let at = outermost_list(diff, change.at);
        if !told.insert(at) {
            continue;
        }
        let gone = at == change.at && change.op == Op::Remove && at != SegId::ROOT;
        let value = match diff.shown(at, Side::New, redactor) {
            Some(new) if !gone => value(diff, at, new)?,
            Some(_) | None => Json::Null,
        };
        put(&mut patch, diff, at, value);
    }
    Ok(patch)
}

/// The list that a value is in, with no list around it; else the value itself.
fn outermost_list(diff: &Diff<'_>, at: SegId) -> SegId {
    let items = diff.chain(at).filter(|&at| diff.field(at).is_none());
    items.last().map_or(at, |item| diff.parent(item))
}

fn value(diff: &Diff<'_>, at: SegId, new: Shown<'_>) -> Result<Json, NullInPatch> {
    let value = to_json(new);
    let is_field = at != SegId::ROOT;
    match null(&value, is_field) {
        None => Ok(value),
        Some(inside) => Err(NullInPatch {
            path: format!("{}{inside}", diff.path(at)),
        }),
    }
}

/// Where a value holds a null that a merge would take for a removal. In lists it stays what it is.
fn null(value: &Json, is_field: bool) -> Option<String> {
    match value {
        Json::Null => is_field.then(String::new),
        Json::Object(fields) => fields
            .iter()
            .find_map(|(name, inner)| Some(format!(".{name}{}", null(inner, true)?))),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
    }
}

/// Writes a value where it stands, in objects that are made on the way.
fn put(patch: &mut Json, diff: &Diff<'_>, at: SegId, value: Json) {
    let mut names: Vec<&str> = diff.chain(at).filter_map(|at| diff.field(at)).collect();
    names.reverse();
    let place = names.into_iter().fold(patch, |place, name| {
        if !place.is_object() {
            *place = Json::Object(Map::new());
        }
        &mut place[name]
    });
    *place = value;
}
