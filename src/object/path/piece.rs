//! One step of a pattern of paths.

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
    /// `[3]` or `[3→4]`: the last of them
    Index(u32),
    /// `[name=web]` or `[name=web#2]`
    Key {
        parts: Vec<(String, String)>,
        nth: Option<u32>,
    },
}
