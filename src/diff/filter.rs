//! Which changes are asked for: `--only` and `--ignore`.

use std::borrow::Cow;

use crate::object::Value;
use crate::object::path::{Label, Match, Path, Pattern, Place, Side, Step};

use super::{Change, Diff};

/// Patterns of paths to look at, and of paths to pass over.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only changes at, inside or around one of these; all if there are none.
    pub only: Vec<Pattern>,
    /// No changes at or inside one of these.
    pub ignore: Vec<Pattern>,
}

impl Filter {
    /// Whether a change is asked for. A composite that was added or removed counts for what is in it.
    pub fn keeps(&self, diff: &Diff<'_>, change: &Change) -> bool {
        if self.only.is_empty() && self.ignore.is_empty() {
            return true;
        }
        let path = diff.path(change.at);
        let ignored = |pattern: &Pattern| pattern.matches(&path) == Match::Inside;
        if self.ignore.iter().any(ignored) {
            return false;
        }
        let seg = diff.seg(change.at);
        let values = [seg.on(Side::Old), seg.on(Side::New)];
        self.only.is_empty()
            || self
                .only
                .iter()
                .any(|pattern| match pattern.matches(&path) {
                    Match::None => false,
                    Match::Inside => true,
                    Match::Above => values
                        .into_iter()
                        .flatten()
                        .any(|value| holds(value, pattern, &mut path.clone())),
                })
    }
}

/// Whether a value at `path`, which lies above the pattern, has something that the pattern names.
fn holds<'p>(value: Value<'p>, pattern: &Pattern, path: &mut Path<'p>) -> bool {
    let fields = value
        .fields()
        .map(|(name, inner)| (Step::Field(name), inner));
    let items = value.items().zip(0..).map(|(item, index)| {
        let place = Place {
            old: Some(index),
            new: Some(index),
        };
        (
            Step::Item {
                place,
                label: any_key(item),
            },
            item,
        )
    });
    for (step, inner) in fields.chain(items) {
        path.steps.push(step);
        let found = match pattern.matches(path) {
            Match::None => false,
            Match::Inside => true,
            Match::Above => holds(inner, pattern, path),
        };
        path.steps.pop();
        if found {
            return true;
        }
    }
    false
}

/// A label that fits every key by which the item could be named.
fn any_key(item: Value<'_>) -> Label<'_> {
    let text = |value: Value<'_>| match value.as_str() {
        Some(text) => Cow::Owned(text.into_owned()),
        None => Cow::Owned(value.raw().to_owned()),
    };
    Label::Key {
        parts: item
            .fields()
            .map(|(name, value)| (name, text(value)))
            .collect(),
        nth: 1,
    }
}
