//! `Redaction`: a path whose values do not enter a record, as the user writes it.

use std::fmt;
use std::str::FromStr;

use crate::object::path::{Match, Path, Pattern, PatternError, Step};

/// A path whose values do not enter a record: `ConfigMap .data.token`. Without a kind, it counts for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// The kind of the objects; `None` for all.
    pub kind: Option<String>,
    pub(super) pattern: Pattern,
}

/// Why a text names no path that can be left out of a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedactionError {
    /// It is not a kind and a path.
    #[error("expected a type and a path that begins with a dot")]
    Words,
    /// The path is not valid.
    #[error("{0}")]
    Path(#[from] PatternError),
    /// It names one of several items with the same key.
    #[error("a number such as #2 cannot choose an item here")]
    Numbered,
    /// Versions cannot be told apart without this field.
    #[error("a record needs {0}")]
    Needed(String),
}

/// The fields without which a version is of no use.
const NEEDED: [&[&str]; 6] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "uid"],
    &["metadata", "resourceVersion"],
];

impl Redaction {
    /// Whether it counts for objects of a kind.
    pub(super) fn is_about(&self, kind: &str) -> bool {
        self.kind.as_ref().is_none_or(|own| own == kind)
    }
}

impl FromStr for Redaction {
    type Err = RedactionError;

    fn from_str(text: &str) -> Result<Redaction, RedactionError> {
        let text = text.trim();
        let is_path = |text: &str| text.starts_with(['.', '*', '[']);
        let (kind, path) = match text.split_once(char::is_whitespace) {
            Some((kind, path)) if !is_path(kind) => (Some(kind), path.trim_start()),
            // A blank belongs to a name in quotes.
            Some(_) | None => (None, text),
        };
        // A kind alone would be a field of all objects.
        if !is_path(path) {
            return Err(RedactionError::Words);
        }
        let pattern: Pattern = path.parse()?;
        // Outside of quotes, it stands before a number.
        if path.split('"').step_by(2).any(|part| part.contains('#')) {
            return Err(RedactionError::Numbered);
        }
        for needed in NEEDED {
            let steps = needed.iter().map(|name| Step::Field((*name).into()));
            let place = Path {
                steps: steps.collect(),
            };
            if pattern.matches(&place) == Match::Inside {
                return Err(RedactionError::Needed(place.to_string()));
            }
        }
        Ok(Redaction {
            kind: kind.map(str::to_owned),
            pattern,
        })
    }
}

/// The text that is read as the same redaction.
impl fmt::Display for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Some(kind) => write!(f, "{kind} {}", self.pattern),
            None => write!(f, "{}", self.pattern),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redaction_is_a_kind_and_a_path() {
        for (text, expected) in [
            ("ConfigMap .data.token", "ConfigMap .data.token"),
            ("  cm   .data[\"a b\"] ", "cm .data[\"a b\"]"),
            (".data[\"a b#1\"]", ".data[\"a b#1\"]"),
            ("**.password", "**.password"),
            ("token", "expected a type and a path that begins with a dot"),
            (
                "ConfigMap data.token",
                "expected a type and a path that begins with a dot",
            ),
            ("", "expected a type and a path that begins with a dot"),
            (
                "Pod .spec.containers[name=a#2].env",
                "a number such as #2 cannot choose an item here",
            ),
            (
                "ConfigMap .data[",
                "expected an index, `*`, a key such as `name=web` or a name in quotes at position 7, found the end",
            ),
            ("Pod .metadata", "a record needs .metadata.name"),
            ("Pod **", "a record needs .apiVersion"),
            ("**.uid", "a record needs .metadata.uid"),
        ] {
            let read = text.parse::<Redaction>();
            let words = read.map_or_else(|error| error.to_string(), |it| it.to_string());
            assert_eq!(words, expected, "{text}");
        }
    }
}
