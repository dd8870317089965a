//! One change in a few words, for a line about something else.

use crate::diff::{Change, Diff, Op, Redactor};
use crate::object::path::Side;

use super::value::fitting;

/// The most columns of a value.
const COLUMNS: usize = 48;

/// The parts of a path that say little about it.
const PREFIXES: [&str; 5] = [
    ".spec.template.spec.",
    ".spec.template.",
    ".spec.",
    ".data.",
    ".",
];

/// A change as display text, before and after the arrow from the old value to the new one: `containers[web].image: web:1`
/// and `web:2`. A value that was added or removed has an empty side.
pub fn change_in_line(diff: &Diff<'_>, change: &Change, redactor: &Redactor) -> [String; 2] {
    let path = short_path(&diff.path(change.at).to_string());
    let value = |side| {
        let shown = diff.shown(change.at, side, redactor)?;
        fitting(shown, Some(COLUMNS), &[]).map(|text| cut(&text))
    };
    let old = value(Side::Old).unwrap_or_default();
    let new = value(Side::New).unwrap_or_default();
    match change.op {
        Op::Replace => {
            let same = common_path(&old, &new);
            [format!("{path}: {}", &old[same..]), new[same..].to_owned()]
        }
        Op::Add => [format!("{path}: (none)"), new],
        Op::Remove => [format!("{path}: {old}"), "(none)".to_owned()],
        Op::Move { from, to } => [format!("{path}: item {from}"), format!("item {to}")],
    }
}

/// `.spec.template.spec.containers[name=web].image` as `containers[web].image`.
fn short_path(path: &str) -> String {
    let mut prefixes = PREFIXES.into_iter();
    let short = prefixes.find_map(|prefix| path.strip_prefix(prefix));
    short.unwrap_or(path).replace("[name=", "[")
}

/// The length of the path that both values begin with, such as the registry of an image. It says nothing about the
/// change.
fn common_path(old: &str, new: &str) -> usize {
    let pairs = old.char_indices().zip(new.chars());
    let same = pairs.take_while(|((_, old), new)| old == new);
    let slashes = same.filter(|((_, old), _)| *old == '/');
    slashes.last().map_or(0, |((at, _), _)| at + 1)
}

/// The first columns of a long text.
fn cut(text: &str) -> String {
    crate::render::text::cut_line(text, COLUMNS, "…").into_owned()
}
