//! Label selectors: `app=web,tier in (front,back),!legacy`.

use std::collections::BTreeSet;
use std::fmt;

/// The condition of one requirement for the value of its label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// The label exists, and its value is one of these.
    In(BTreeSet<String>),
    /// The label does not exist, or its value is none of these.
    NotIn(BTreeSet<String>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// The value is an integer greater than this.
    GreaterThan(i64),
    /// The value is an integer less than this.
    LessThan(i64),
}

/// A conjunction of requirements for labels. An empty one matches everything.
///
/// The requirements are in canonical order (by key), so that equal selectors are equal values and equal texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    requirements: Vec<(String, Test)>,
}

impl LabelSelector {
    /// Creates a selector from requirements, for a reader of `matchLabels` and `matchExpressions`.
    pub fn new(requirements: impl IntoIterator<Item = (String, Test)>) -> Self {
        let mut requirements: Vec<_> = requirements.into_iter().collect();
        requirements.sort();
        requirements.dedup();
        Self { requirements }
    }

    /// The requirements, in canonical order.
    #[cfg(test)]
    pub(super) fn requirements(&self) -> &[(String, Test)] {
        &self.requirements
    }

    /// The labels that it requires with one value each. Other requirements are left out.
    pub fn equalities(&self) -> impl Iterator<Item = (&str, &str)> {
        self.requirements
            .iter()
            .filter_map(|(key, test)| match test {
                Test::In(values) if values.len() == 1 => {
                    Some((key.as_str(), values.first()?.as_str()))
                }
                _ => None,
            })
    }

    /// The requirements of both.
    #[must_use]
    pub fn and(&self, other: LabelSelector) -> LabelSelector {
        LabelSelector::new(self.requirements.iter().cloned().chain(other.requirements))
    }

    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether the selector matches an object, with `label` to look up its labels.
    pub fn matches<S: AsRef<str>>(&self, label: impl Fn(&str) -> Option<S>) -> bool {
        self.requirements
            .iter()
            .all(|(key, test)| test.holds(label(key).as_ref().map(AsRef::as_ref)))
    }
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        let integer = || value.and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::In(values) => value.is_some_and(|text| values.contains(text)),
            Self::NotIn(values) => value.is_none_or(|text| !values.contains(text)),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::GreaterThan(bound) => integer().is_some_and(|number| number > *bound),
            Self::LessThan(bound) => integer().is_some_and(|number| number < *bound),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, test)) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            let list =
                |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(",");
            match test {
                Test::In(values) if values.len() == 1 => write!(f, "{key}={}", list(values))?,
                Test::In(values) => write!(f, "{key} in ({})", list(values))?,
                Test::NotIn(values) if values.len() == 1 => write!(f, "{key}!={}", list(values))?,
                Test::NotIn(values) => write!(f, "{key} notin ({})", list(values))?,
                Test::Exists => f.write_str(key)?,
                Test::DoesNotExist => write!(f, "!{key}")?,
                Test::GreaterThan(bound) => write!(f, "{key}>{bound}")?,
                Test::LessThan(bound) => write!(f, "{key}<{bound}")?,
            }
        }
        Ok(())
    }
}
