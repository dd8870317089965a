//! Parses patterns.

use super::path_writer::{is_name_char, is_value_char};
use super::piece::Piece;

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
pub(super) fn pattern(text: &str) -> Result<Vec<Piece>, PatternError> {
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
