//! Selects changes by path: `--only` and `--ignore`.

use crate::object::Value;
use crate::object::list_keys::ListKeys;
use crate::object::path::{Match, Path, Pattern, Side};

use super::{Change, Diff, Shown};

/// Path patterns to include and to exclude.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Keep only changes at, inside or around one of these. An empty list keeps all changes.
    pub only: Vec<Pattern>,
    /// Drop changes at or inside one of these.
    pub ignore: Vec<Pattern>,
}

/// How much of a value the filter selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilterMatch {
    /// No part of it.
    Out,
    /// The whole value.
    In,
    /// Only parts of it, or all but some parts.
    Partly {
        /// Whether the value itself is selected, even without those parts.
        itself: bool,
    },
}

impl Filter {
    /// Whether the filter selects everything.
    pub fn is_everything(&self) -> bool {
        self.only.is_empty() && self.ignore.is_empty()
    }

    /// Returns the filter with the fields that identify an object added: type, namespace and name.
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

    /// Whether the filter selects a change. An object or list that was added or removed is selected for the
    /// values in it.
    pub fn keeps(&self, diff: &Diff<'_>, change: &Change) -> bool {
        if self.is_everything() {
            return true;
        }
        let node = diff.node(change.at);
        let values = [node.on(Side::Old), node.on(Side::New)];
        self.asks(&diff.path(change.at), diff.keys(), &values)
    }

    /// Whether the filter selects a value, or a value inside it.
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

    /// Returns how much of the value at `path` the filter selects.
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
