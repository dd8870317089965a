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
    let mut places = Places::of(pieces);
    for step in steps {
        if places.are_at_end() {
            return Match::Inside;
        }
        // A value of a set has the path of its list.
        let is_member = matches!(
            step,
            Step::Item {
                label: Label::Member,
                ..
            }
        );
        places.advance(|piece| {
            let next = piece.fits(step).then_some(1);
            next.or_else(|| is_member.then_some(0))
        });
    }
    match (places.are_at_end(), places.are_any()) {
        (true, _) => Match::Inside,
        (false, true) => Match::Above,
        (false, false) => Match::None,
    }
}

fn names(pieces: &[Piece], steps: &[Step<'_>]) -> bool {
    let mut places = Places::of(pieces);
    for step in steps {
        places.advance(|piece| piece.fits(step).then_some(1));
    }
    places.are_at_end()
}

/// Where in a pattern the start of a path ends. With `**`, it may end in several places: to try one after the other would
/// take a time that each further `**` multiplies.
struct Places<'p> {
    pieces: &'p [Piece],
    /// How many pieces precede each place, in ascending order.
    at: Vec<usize>,
}

impl<'p> Places<'p> {
    /// The places of an empty path.
    fn of(pieces: &'p [Piece]) -> Places<'p> {
        let mut places = Places {
            pieces,
            at: Vec::new(),
        };
        places.add(0);
        places
    }

    /// Adds a place. A `**` may also stand for no step.
    fn add(&mut self, at: usize) {
        let mut at = at;
        while self.at.last().is_none_or(|last| *last < at) {
            self.at.push(at);
            if self.pieces.get(at) != Some(&Piece::Deep) {
                return;
            }
            at += 1;
        }
    }

    /// Takes a step. `advance` says by how many pieces the step advances from the piece at a place, if it may be there.
    fn advance(&mut self, advance: impl Fn(&Piece) -> Option<usize>) {
        for at in std::mem::take(&mut self.at) {
            match self.pieces.get(at) {
                Some(Piece::Deep) => self.add(at),
                Some(piece) => {
                    if let Some(by) = advance(piece) {
                        self.add(at + by);
                    }
                }
                None => {}
            }
        }
    }

    fn are_any(&self) -> bool {
        !self.at.is_empty()
    }

    fn are_at_end(&self) -> bool {
        self.at.last() == Some(&self.pieces.len())
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
