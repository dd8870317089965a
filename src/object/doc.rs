//! `Doc`: one JSON text and a flat tape of its values, nothing decoded until asked for.
//!
//! A version of an object is read far more rarely than it arrives, and successive versions are
//! mostly the same bytes. So the text is kept as it came and [`Doc::parse`] only records where each
//! value starts and ends. [`Doc::parse_after`] takes the previous version as a hint and copies the
//! tape of every value whose bytes did not change.

use std::sync::Arc;

use super::hint::Hint;
use super::parser;
use super::tape::{self, Node};
use super::value::Value;

pub use super::tape::{Kind, ParseError};

/// One immutable JSON value with its exact text.
///
/// It accepts what `serde_json` accepts as a `RawValue`, up to [`Doc::MAX_DEPTH`] levels of
/// nesting, and keeps numbers digit by digit. Where an object repeats a key the last one counts, as
/// in Go and in `serde_json`.
#[derive(Clone)]
pub struct Doc {
    text: Arc<str>,
    nodes: Box<[Node]>,
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
        let nodes = parser::parse(&text, hint)?.into_boxed_slice();
        Ok(Doc { text, nodes })
    }

    /// The whole value.
    pub fn root(&self) -> Value<'_> {
        Value::new(self, 0)
    }

    /// The text as it was read, white space included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tape, for [`Value`].
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

impl std::fmt::Debug for Doc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Doc").field(&&*self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_lookups_are_total() {
        let doc =
            Doc::parse(r#" {"a":[1,"x\ny",null],"b":{"c":true},"n":12345678901234567890123} "#)
                .expect("valid");
        let root = doc.root();
        assert_eq!(root.at(&["b", "c"]).and_then(Value::as_bool), Some(true));
        assert_eq!(
            root.items_at(&["a"])
                .nth(1)
                .and_then(Value::as_str)
                .as_deref(),
            Some("x\ny")
        );
        assert_eq!(
            root.get("n").map(Value::raw),
            Some("12345678901234567890123")
        );
        assert_eq!(root.i64_at(&["n"]), None);
        assert_eq!(root.items_at(&["b"]).count(), 0);
        assert!(root.get("missing").is_none());
    }

    #[test]
    fn the_last_of_repeated_keys_counts() {
        let doc = Doc::parse(r#"{"a":1,"b":2,"\u0061":3}"#).expect("valid");
        assert_eq!(doc.root().i64_at(&["a"]), Some(3));
        assert_eq!(doc.root().fields().count(), 2);
    }

    #[test]
    fn a_hint_changes_nothing() {
        let old = Doc::parse(r#"{"a":{"x":1,"y":[1,2,3]},"b":12,"c":"s"}"#).expect("valid");
        for text in [
            r#"{"a":{"x":1,"y":[1,2,3]},"b":123,"c":"s"}"#,
            r#"{"z":0,"a":{"x":1,"y":[1,2,3]},"c":"s"}"#,
            r#"[{"a":{"x":1}}]"#,
        ] {
            let plain = Doc::parse(text).expect("valid");
            let hinted = Doc::parse_after(text, &old).expect("valid");
            assert_eq!(plain.nodes(), hinted.nodes(), "{text}");
        }
    }
}
