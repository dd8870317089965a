//! `TraceSide`: the side of an object on which a neighbour stands.

use super::relations::Direction;

/// The side of an object on which a neighbour stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraceSide {
    /// It owns the object, selects it, or passes traffic or orders on to it.
    InFront,
    /// It needs the object.
    UsedBy,
    /// The object owns it, selects it, or passes traffic or orders on to it.
    Behind,
    /// The object needs it.
    Uses,
}

impl Direction {
    /// The side of the other object, seen from the object with the field.
    pub(super) fn outgoing(self) -> TraceSide {
        match self {
            Direction::Fronts => TraceSide::Behind,
            Direction::Backs => TraceSide::InFront,
            Direction::Uses => TraceSide::Uses,
            Direction::Serves => TraceSide::UsedBy,
        }
    }

    /// The side of the object with the field, seen from the other.
    pub(super) fn incoming(self) -> TraceSide {
        match self {
            Direction::Fronts => TraceSide::InFront,
            Direction::Backs => TraceSide::Behind,
            Direction::Uses => TraceSide::UsedBy,
            Direction::Serves => TraceSide::Uses,
        }
    }
}
