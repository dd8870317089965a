//! Patterns of paths, for `--only` and `--ignore`.

use std::fmt;
use std::str::FromStr;

use super::{Label, Path, Step, is_name_char, is_value_char};

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
        pattern(text).map(|steps| Pattern {
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
    match (places.are_at_end(), !places.at.is_empty()) {
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

    fn are_at_end(&self) -> bool {
        self.at.last() == Some(&self.pieces.len())
    }
}

impl Piece {
    fn fits(&self, step: &Step<'_>) -> bool {
        match (self, step) {
            (Piece::Any | Piece::Deep, _) | (Piece::AnyItem, Step::Item { .. }) => true,
            (Piece::Field(wanted), Step::Field(name)) => wanted == name,
            // An item has its new index, and a removed item its old one.
            (Piece::Index(wanted), Step::Item { place, .. }) => {
                place.new.or(place.old) == Some(*wanted)
            }
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

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// `name` or `["name"]`
    Field(String),
    /// `*`
    Any,
    /// `**`
    Deep,
    /// `[*]`
    AnyItem,
    /// `[3]` or `[3→4]`, which stands for 4
    Index(u32),
    /// `[name=web]` or `[name=web#2]`
    Key {
        parts: Vec<(String, String)>,
        nth: Option<u32>,
    },
}

/// Why a text is not a path pattern. Positions count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The text is empty.
    #[error("the path is empty: write .spec.replicas, or ** for everything")]
    Empty,
    /// The text is a JSON Pointer.
    #[error("{given} is a JSON Pointer; write the path as {instead}")]
    Pointer {
        /// The text.
        given: String,
        /// The equivalent path.
        instead: String,
    },
    /// A character that requires quotes around a name.
    #[error("`{found}` at position {at}: a name with it is written in quotes, [\"…{found}…\"]")]
    Unquoted {
        /// The position.
        at: usize,
        /// The character.
        found: char,
    },
    /// Something else was expected.
    #[error("expected {expected} at position {at}, found {found}")]
    Expected {
        /// The position.
        at: usize,
        /// The expected text.
        expected: &'static str,
        /// The text at the position.
        found: String,
    },
}

/// Parses a whole pattern.
fn pattern(text: &str) -> Result<Vec<Piece>, PatternError> {
    if text.is_empty() {
        return Err(PatternError::Empty);
    }
    if text.starts_with('/') {
        let instead = text.replace("~1", "/").replace("~0", "~").replace('/', ".");
        return Err(PatternError::Pointer {
            given: text.to_owned(),
            instead,
        });
    }
    let mut reader = PatternReader {
        chars: text.chars().collect(),
        at: 0,
    };
    let mut pieces = Vec::new();
    reader.take('.');
    while reader.peek().is_some() {
        if !pieces.is_empty() && !reader.take('.') && reader.peek() != Some('[') {
            return Err(reader.stray());
        }
        let piece = reader.piece()?;
        // `**.**` equals `**`. More of them would multiply the ways to match a path.
        if piece != Piece::Deep || pieces.last() != Some(&Piece::Deep) {
            pieces.push(piece);
        }
    }
    Ok(pieces)
}

struct PatternReader {
    chars: Vec<char>,
    at: usize,
}

impl PatternReader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, char: char) -> bool {
        let found = self.peek() == Some(char);
        self.at += usize::from(found);
        found
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&keep) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn expected(&self, expected: &'static str) -> PatternError {
        PatternError::Expected {
            at: self.at + 1,
            expected,
            found: self
                .peek()
                .map_or_else(|| "the end".to_owned(), |char| format!("`{char}`")),
        }
    }

    /// The error for a character that cannot follow a step.
    fn stray(&self) -> PatternError {
        match self.peek() {
            Some(found) if !"].*\"".contains(found) => PatternError::Unquoted {
                at: self.at + 1,
                found,
            },
            _ => self.expected("`.`, `[` or the end"),
        }
    }

    fn piece(&mut self) -> Result<Piece, PatternError> {
        if self.take('[') {
            let piece = self.bracket()?;
            return if self.take(']') {
                Ok(piece)
            } else {
                Err(self.expected("`]`"))
            };
        }
        if self.take('*') {
            return Ok(if self.take('*') {
                Piece::Deep
            } else {
                Piece::Any
            });
        }
        let name = self.take_while(is_name_char);
        if name.is_empty() {
            return Err(self.expected("a field's name, `*`, `**` or `[`"));
        }
        Ok(Piece::Field(name))
    }

    /// Parses the text between brackets.
    fn bracket(&mut self) -> Result<Piece, PatternError> {
        if self.peek() == Some('"') {
            return self.quoted().map(Piece::Field);
        }
        if self.take('*') {
            return Ok(Piece::AnyItem);
        }
        let start = self.at;
        if let Ok(index) = self.take_while(|char| char.is_ascii_digit()).parse() {
            return self.index(index, start);
        }
        self.at = start;
        self.key()
    }

    /// Parses the rest after `[3`: nothing, or an arrow and the new index. Otherwise the digits begin a key's
    /// name.
    fn index(&mut self, first: u32, start: usize) -> Result<Piece, PatternError> {
        let arrow = self.take('→') || (self.take('-') && self.take('>'));
        if !arrow {
            if self.peek() == Some(']') {
                return Ok(Piece::Index(first));
            }
            self.at = start;
            return self.key();
        }
        match self.take_while(|char| char.is_ascii_digit()).parse() {
            Ok(index) => Ok(Piece::Index(index)),
            Err(_) => Err(self.expected("the new index")),
        }
    }

    fn key(&mut self) -> Result<Piece, PatternError> {
        let mut parts = Vec::new();
        loop {
            let name = self.take_while(|char| is_name_char(char) || char == '.');
            if name.is_empty() {
                return Err(
                    self.expected("an index, `*`, a key such as `name=web` or a name in quotes")
                );
            }
            if !self.take('=') {
                return Err(
                    self.expected("`=` and the key's value (a field's name is quoted here)")
                );
            }
            let value = if self.peek() == Some('"') {
                self.quoted()?
            } else {
                self.take_while(is_value_char)
            };
            parts.push((name, value));
            if !self.take(',') {
                break;
            }
        }
        let nth = if self.take('#') {
            match self.take_while(|char| char.is_ascii_digit()).parse() {
                Ok(nth) => Some(nth),
                Err(_) => return Err(self.expected("which of them, from 1")),
            }
        } else {
            None
        };
        Ok(Piece::Key { parts, nth })
    }

    /// Parses a JSON string.
    fn quoted(&mut self) -> Result<String, PatternError> {
        let start = self.at;
        self.at += 1;
        while let Some(char) = self.peek() {
            self.at += 1;
            match char {
                '\\' => self.at += 1,
                '"' => {
                    let text: String = self.chars[start..self.at.min(self.chars.len())]
                        .iter()
                        .collect();
                    return serde_json::from_str(&text).map_err(|_| {
                        self.at = start;
                        self.expected("a JSON string")
                    });
                }
                _ => {}
            }
        }
        self.at = self.chars.len();
        Err(self.expected("the closing quote"))
    }
}
