//! `Doc`: one JSON text and a flat tape of its values, nothing decoded until asked for.
//!
//! A version of an object is read far more rarely than it arrives, and successive versions are
//! mostly the same bytes. So the text is kept as it came and [`Doc::parse`] only records where each
//! value starts and ends. [`Doc::parse_after`] takes the previous version as a hint and copies the
//! tape of every value whose bytes did not change.

use std::sync::Arc;

use super::hint::Hint;
use super::parser;
use super::tape::{self, TapeNode};
use super::value::Value;

pub use super::parse_error::ParseError;
pub use super::tape::Kind;

/// One immutable JSON value with its exact text.
///
/// It accepts what `serde_json` accepts as a `RawValue`, up to [`Doc::MAX_DEPTH`] levels of
/// nesting, and keeps numbers digit by digit. Where an object repeats a key the last one counts, as
/// in Go and in `serde_json`.
///
/// A clone shares both with it.
#[derive(Clone)]
pub struct Doc {
    text: Arc<str>,
    nodes: Arc<Vec<TapeNode>>,
}

impl Doc {
    /// The deepest nesting that is read; deeper text is [`ParseError::TooDeep`].
    pub const MAX_DEPTH: usize = tape::MAX_DEPTH;

    /// Reads one JSON value, with white space around it allowed.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Doc, ParseError> {
        Doc::parse_with(text.into(), None)
    }

    /// Reads one JSON value, faster the more it has in common with `previous`. The result is the
    /// same, node for node, as that of [`Doc::parse`].
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

    /// The text as it was read, white space included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, shared.
    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// How many bytes it takes in memory.
    pub fn footprint(&self) -> usize {
        self.text.len() + size_of_val(&**self.nodes)
    }

    /// Whether both have the same text and the same tape: what [`Doc::parse_after`] promises.
    pub fn is_same_tape(&self, other: &Doc) -> bool {
        self.text == other.text && self.nodes == other.nodes
    }

    /// The tape, for [`Value`].
    pub(super) fn nodes(&self) -> &[TapeNode] {
        &self.nodes
    }
}

/// Leaves out the text: it may be a Secret's.
impl std::fmt::Debug for Doc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Doc").field(&self.root()).finish()
    }
}

#[cfg(test)]
mod tests;
