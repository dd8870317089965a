//! `StoryItem`: one thing that happened, as a line of the timeline.

use std::sync::Arc;

use jiff::Timestamp;

use crate::object::ObjectRef;

/// What an item is about. At one time, causes come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::commands::logs) enum StoryKind {
    /// A version of an object.
    Change,
    /// The state of an object.
    Status,
    /// A warning about an object.
    Event,
}

impl StoryKind {
    /// The word in a line, and the type of a record.
    pub(in crate::commands::logs) fn word(self) -> &'static str {
        match self {
            StoryKind::Change => "change",
            StoryKind::Status => "status",
            StoryKind::Event => "event",
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands::logs) struct StoryItem {
    /// Its place among the lines: a time that no server has written.
    pub(in crate::commands::logs) order: Timestamp,
    /// When it happened, or the earliest time of that.
    pub(in crate::commands::logs) time: Timestamp,
    /// The latest time at which it can have happened, if only an interval is known.
    pub(in crate::commands::logs) until: Option<Timestamp>,
    pub(in crate::commands::logs) kind: StoryKind,
    pub(in crate::commands::logs) object: Arc<ObjectRef>,
    /// Who did it, if that is recorded. Not escaped.
    pub(in crate::commands::logs) who: Option<String>,
    /// What happened, as display text.
    pub(in crate::commands::logs) text: String,
    /// Whether it is a problem.
    pub(in crate::commands::logs) is_bad: bool,
}
