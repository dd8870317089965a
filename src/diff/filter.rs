//! Which changes are asked for: `--only` and `--ignore`.

use crate::object::Value;
use crate::object::list_keys::ListKeys;
use crate::object::path::{Match, Path, Pattern, Side};

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
pub(super) enum FilterMatch {
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
        self.asks(&diff.path(change.at), diff.keys(), &values)
    }

    /// Whether a value is asked for, or something in it is.
    pub fn keeps_value(&self, path: &Path<'_>, value: Shown<'_>) -> bool {
        self.asks(path, ListKeys::builtin(), &[Some(value.value)])
    }

    fn asks<'p>(&self, path: &Path<'p>, keys: &ListKeys, values: &[Option<Value<'p>>]) -> bool {
        match self.part(path) {
            FilterMatch::Out => false,
            FilterMatch::In | FilterMatch::Partly { itself: true } => true,
            FilterMatch::Partly { itself: false } => {
                let mut values = values.iter().flatten();
                values.any(|value| self.asks_inside(*value, path, keys))
            }
        }
    }

    /// What is asked for of the value at `path`.
    pub(super) fn part(&self, path: &Path<'_>) -> FilterMatch {
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
            (_, Match::Inside) | (Match::None, _) => FilterMatch::Out,
            (Match::Inside, Match::None) => FilterMatch::In,
            (Match::Inside, Match::Above) => FilterMatch::Partly { itself: true },
            (Match::Above, _) => FilterMatch::Partly { itself: false },
        }
    }
}
