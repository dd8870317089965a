//! `Doc`: one JSON text and a flat tape of its values. Values are decoded only when they are read.
//!
//! A version of an object arrives far more often than it is read, and successive versions have mostly the same
//! bytes. So `Doc` keeps the text as it came, and [`Doc::parse`] only records where each value starts and ends.
//! [`Doc::parse_after`] takes the previous version as a hint, and copies the tape of every value whose bytes did
//! not change.

use std::sync::Arc;

use super::hint::Hint;
use super::parser;
use super::tape::{self, TapeNode};
use super::value::Value;

pub use super::parse_error::ParseError;
pub use super::tape::Kind;

/// One immutable JSON value with its exact text.
///
/// It accepts the same texts as `serde_json` does for a `RawValue`, up to [`Doc::MAX_DEPTH`] levels of nesting.
/// Numbers keep their digits. If an object repeats a key, the last one counts, as in Go and in `serde_json`.
///
/// A clone shares the text and the tape.
#[derive(Clone)]
pub struct Doc {
    text: Arc<str>,
    nodes: Arc<Vec<TapeNode>>,
}

impl Doc {
    /// The deepest nesting. A deeper text is [`ParseError::TooDeep`].
    pub const MAX_DEPTH: usize = tape::MAX_DEPTH;

    /// Parses one JSON value, with optional white space around it.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Doc, ParseError> {
        Doc::parse_with(text.into(), None)
    }

    /// Parses one JSON value. It is faster the more the value has in common with `previous`. The tape is exactly
    /// that of [`Doc::parse`].
    pub fn parse_after(text: impl Into<Arc<str>>, previous: &Doc) -> Result<Doc, ParseError> {
        Doc::parse_with(text.into(), Some(previous))
    }

    fn parse_with(text: Arc<str>, previous: Option<&Doc>) -> Result<Doc, ParseError> {
        let hint = previous.map_or_else(Hint::default, |doc| Hint {
            text: &doc.text,
            nodes: &doc.nodes,
        });
        let mut nodes = parser::parse(&text, hint)?;
        nodes.shrink_to_fit();
        Ok(Doc {
            text,
            nodes: Arc::new(nodes),
        })
    }

    /// The whole value.
    pub fn root(&self) -> Value<'_> {
        Value::new(self, 0)
    }

    /// The original text, white space included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The original text, shared.
    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// Its size in memory, in bytes.
    pub fn footprint(&self) -> usize {
        self.text.len() + size_of_val(&**self.nodes)
    }

    /// Whether both have the same text and the same tape, as [`Doc::parse_after`] guarantees.
    pub fn is_same_tape(&self, other: &Doc) -> bool {
        self.text == other.text && self.nodes == other.nodes
    }

    /// The tape, for [`Value`].
    pub(super) fn nodes(&self) -> &[TapeNode] {
        &self.nodes
    }
}

/// Leaves out the text, which may be a Secret.
impl std::fmt::Debug for Doc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Doc").field(&self.root()).finish()
    }
}

#[cfg(test)]
mod tests;
