//! `ChangeType`: the kinds of events in an object's history.

use serde::Serialize;

use crate::render::style::Role;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    /// The object existed when the watch began.
    Baseline,
    /// The object was created.
    Created,
    /// The object was changed.
    Modified,
    /// The object was deleted.
    Deleted,
    /// Another object with the same name replaced it.
    Recreated,
    /// The object matches the selector now. It was created, or it existed and has started to match.
    Joined,
    /// The object no longer matches the selector.
    Left,
}

impl ChangeType {
    /// The word that text views print.
    pub fn word(self) -> &'static str {
        match self {
            ChangeType::Baseline => "EXISTING",
            ChangeType::Created => "CREATED",
            ChangeType::Modified => "MODIFIED",
            ChangeType::Deleted => "DELETED",
            ChangeType::Recreated => "RECREATED",
            ChangeType::Joined => "JOINED",
            ChangeType::Left => "LEFT",
        }
    }

    /// Whether the object is new.
    pub fn is_creation(self) -> bool {
        matches!(self, ChangeType::Created | ChangeType::Recreated)
    }

    /// The role of the word.
    pub fn role(self) -> Role {
        match self {
            ChangeType::Baseline | ChangeType::Joined | ChangeType::Left => Role::Dim,
            ChangeType::Created | ChangeType::Recreated => Role::Added,
            ChangeType::Modified => Role::Changed,
            ChangeType::Deleted => Role::Removed,
        }
    }
}
