//! Which changes are asked for: `--only` and `--ignore`.

use std::borrow::Cow;

use crate::object::path::{Label, Match, Path, Pattern, Place, Side, Step};
use crate::object::{Kind, Value};

use super::{Change, Diff, Shown};

/// Patterns of paths to look at, and of paths to pass over.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only changes at, inside or around one of these; all if there are none.
    pub only: Vec<Pattern>,
    /// No changes at or inside one of these.
    pub ignore: Vec<Pattern>,
}

/// What of a value is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing.
    Out,
    /// All of it.
    In,
    /// Some of what is in it, or all but some.
    Partly {
        /// Whether the value counts without them.
        itself: bool,
    },
}

impl Filter {
    /// Whether everything is asked for.
    pub fn is_everything(&self) -> bool {
        self.only.is_empty() && self.ignore.is_empty()
    }

    /// The same, and with it what says whose it is: type, namespace and name.
    #[must_use]
    pub fn with_identity(&self) -> Filter {
        let mut filter = self.clone();
        if !filter.only.is_empty() {
            let identity = ["apiVersion", "kind", "metadata.namespace", "metadata.name"];
            filter
                .only
                .extend(identity.iter().filter_map(|path| path.parse().ok()));
        }
        filter
    }

    /// Whether a change is asked for. A composite that was added or removed counts for what is in it.
    pub fn keeps(&self, diff: &Diff<'_>, change: &Change) -> bool {
        if self.is_everything() {
            return true;
        }
        let seg = diff.seg(change.at);
        let values = [seg.on(Side::Old), seg.on(Side::New)];
        self.asks(&diff.path(change.at), &values)
    }

    /// Whether a value is asked for, or something in it is.
    pub fn keeps_value(&self, path: &Path<'_>, value: Shown<'_>) -> bool {
        self.asks(path, &[Some(value.value)])
    }

    fn asks<'p>(&self, path: &Path<'p>, values: &[Option<Value<'p>>]) -> bool {
        match self.part(path) {
            Part::Out => false,
            Part::In | Part::Partly { itself: true } => true,
            Part::Partly { itself: false } => self.only.iter().any(|pattern| {
                pattern.matches(path) == Match::Above
                    && values
                        .iter()
                        .flatten()
                        .any(|value| holds(*value, pattern, &mut path.clone()))
            }),
        }
    }

    /// What is asked for of the value at `path`.
    pub(super) fn part(&self, path: &Path<'_>) -> Part {
        let all = |patterns: &[Pattern]| {
            let matches = patterns.iter().map(|pattern| pattern.matches(path));
            matches.fold(Match::None, Match::or)
        };
        let ignored = all(&self.ignore);
        let asked = if self.only.is_empty() {
            Match::Inside
        } else {
            all(&self.only)
        };
        match (asked, ignored) {
            (_, Match::Inside) | (Match::None, _) => Part::Out,
            (Match::Inside, Match::None) => Part::In,
            (Match::Inside, Match::Above) => Part::Partly { itself: true },
            (Match::Above, _) => Part::Partly { itself: false },
        }
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
        let label = any_key(item, (Vec::new(), 1));
        (Step::Item { place, label }, item)
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

/// The name and value of one part of a key.
pub(super) type KeyPart<'a> = (Cow<'a, str>, Cow<'a, str>);

/// A label that fits every key by which the item could be named, besides those that are known.
pub(super) fn any_key<'a>(item: Value<'a>, (mut parts, nth): (Vec<KeyPart<'a>>, u32)) -> Label<'a> {
    let text = |value: Value<'a>| value.as_str().unwrap_or_else(|| value.raw().into());
    let is_nested = |value: Value<'_>| matches!(value.kind(), Kind::Object | Kind::Array);
    for (name, value) in item.fields() {
        if is_nested(value) {
            let inner = value.fields().filter(|(_, inner)| !is_nested(*inner));
            parts.extend(
                inner.map(|(field, value)| (format!("{name}.{field}").into(), text(value))),
            );
        } else {
            parts.push((name, text(value)));
        }
    }
    Label::Key { parts, nth }
}
