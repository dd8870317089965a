//! Measures how similar two list items are, from 0 to 1.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::object::{Kind, Value};

/// The lowest score of a field that both objects have.
const SAME_NAME: f64 = 0.4;

/// The score of two arguments that set the same flag: `--v=2` and `--v=4`.
const SAME_FLAG: f64 = 0.8;

/// The depth up to which objects are compared.
const DEPTH: usize = 4;

/// The similarity of two values. Equal values score 1, objects the share of their common fields, arrays the
/// share of their common items. Two strings score only if they set the same flag.
pub(super) fn similarity(a: Value<'_>, b: Value<'_>) -> f64 {
    within(a, b, DEPTH)
}

fn within(a: Value<'_>, b: Value<'_>, depth: usize) -> f64 {
    if a.raw() == b.raw() {
        return 1.0;
    }
    match (a.kind(), b.kind()) {
        (Kind::Object, Kind::Object) => objects(a, b, depth),
        (Kind::Array, Kind::Array) => arrays(a, b),
        (Kind::String, Kind::String) => {
            let same = matches!((flag(a), flag(b)), (Some(a), Some(b)) if a == b);
            if same { SAME_FLAG } else { 0.0 }
        }
        _ => 0.0,
    }
}

fn objects(a: Value<'_>, b: Value<'_>, depth: usize) -> f64 {
    let (mut fields, mut score) = (0, 0.0);
    for (name, value) in a.fields() {
        fields += 1;
        if let Some(other) = b.get(&name) {
            let inner = match depth {
                0 => 0.0,
                _ => within(value, other, depth - 1),
            };
            score += SAME_NAME + (1.0 - SAME_NAME) * inner;
        }
    }
    fields += b.fields().filter(|(name, _)| a.get(name).is_none()).count();
    score / ratio(fields)
}

fn arrays(a: Value<'_>, b: Value<'_>) -> f64 {
    let mut spare: FxHashMap<&str, usize> = FxHashMap::default();
    for item in a.items() {
        *spare.entry(item.raw()).or_default() += 1;
    }
    let mut shared = 0;
    for item in b.items() {
        if let Some(left @ 1..) = spare.get_mut(item.raw()) {
            *left -= 1;
            shared += 1;
        }
    }
    ratio(shared) / ratio(a.items().count().max(b.items().count()))
}

/// Converts a count for a division.
fn ratio(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// The name of the flag that an argument sets: the part before the `=` of `--name=value`.
fn flag(argument: Value<'_>) -> Option<Cow<'_, str>> {
    let text = argument.as_str()?;
    let name = text.split_once('=')?.0;
    (!name.is_empty()).then(|| Cow::Owned(name.to_owned()))
}
