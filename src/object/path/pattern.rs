//! Patterns of paths, for `--only` and `--ignore`.

use std::fmt;
use std::str::FromStr;

use super::parse::{self, PatternError};
use super::piece::Piece;
use super::{Label, Path, Place, Step};

/// A path in which `*` matches any one step, `**` any number of steps, and `[*]` any item. The leading dot is
/// optional. A key may name fewer parts than the item has.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    steps: Vec<Piece>,
}

/// How a path relates to a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// They are unrelated.
    None,
    /// The path matches the pattern, or lies inside a match.
    Inside,
    /// A match would lie inside the path.
    Above,
}

impl Match {
    /// The closer of two relations.
    #[must_use]
    pub fn or(self, other: Match) -> Match {
        match (self, other) {
            (Match::Inside, _) | (_, Match::Inside) => Match::Inside,
            (Match::Above, _) | (_, Match::Above) => Match::Above,
            (Match::None, Match::None) => Match::None,
        }
    }
}

impl Pattern {
    /// How `path` relates to this pattern.
    pub fn matches(&self, path: &Path<'_>) -> Match {
        matches(&self.steps, &path.steps)
    }

    /// Whether `path` matches this pattern exactly, and does not lie inside a match.
    pub fn names(&self, path: &Path<'_>) -> bool {
        names(&self.steps, &path.steps)
    }
}

/// Whether both match the same paths, however they were written.
impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.steps == other.steps
    }
}

impl Eq for Pattern {}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        parse::pattern(text).map(|steps| Pattern {
            text: text.to_owned(),
            steps,
        })
    }
}

/// Prints the pattern as it was written.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn matches(pieces: &[Piece], steps: &[Step<'_>]) -> Match {
    let Some((piece, later)) = pieces.split_first() else {
        return Match::Inside;
    };
    if *piece == Piece::Deep {
        let here = matches(later, steps);
        return match (here, steps) {
            (Match::Inside, _) | (_, []) => here,
            (_, [_, rest @ ..]) => here.or(matches(pieces, rest)),
        };
    }
    match steps {
        [] => Match::Above,
        [step, rest @ ..] if piece.fits(step) => matches(later, rest),
        // A value of a set has the path of its list.
        [
            Step::Item {
                label: Label::Member,
                ..
            },
            rest @ ..,
        ] => matches(pieces, rest),
        _ => Match::None,
    }
}

fn names(pieces: &[Piece], steps: &[Step<'_>]) -> bool {
    match (pieces, steps) {
        ([], steps) => steps.is_empty(),
        ([Piece::Deep, later @ ..], []) => names(later, steps),
        ([Piece::Deep, later @ ..], [_, rest @ ..]) => names(later, steps) || names(pieces, rest),
        ([_, ..], []) => false,
        ([piece, later @ ..], [step, rest @ ..]) => piece.fits(step) && names(later, rest),
    }
}

impl Piece {
    fn fits(&self, step: &Step<'_>) -> bool {
        match (self, step) {
            (Piece::Any | Piece::Deep, _) | (Piece::AnyItem, Step::Item { .. }) => true,
            (Piece::Field(wanted), Step::Field(name)) => wanted == name,
            (Piece::Index(wanted), Step::Item { place, .. }) => stands_at(*place, *wanted),
            (
                Piece::Key { parts, nth },
                Step::Item {
                    label:
                        Label::Key {
                            parts: own,
                            nth: at,
                        },
                    ..
                },
            ) => {
                nth.is_none_or(|nth| nth == *at)
                    && parts
                        .iter()
                        .all(|(name, value)| own.iter().any(|(n, v)| n == name && v == value))
            }
            (Piece::Field(_) | Piece::AnyItem | Piece::Index(_) | Piece::Key { .. }, _) => false,
        }
    }
}

/// An item has its new index, and a removed item its old one.
fn stands_at(place: Place, index: u32) -> bool {
    place.new.or(place.old) == Some(index)
}
