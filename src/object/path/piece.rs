//! One step of a path pattern.

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
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
