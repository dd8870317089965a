//! What a source sends.

use std::sync::Arc;

use jiff::Timestamp;

use super::{SourceState, Version};
use crate::object::ResourceVersion;

/// Why an object event was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// It was in a listing and had not been seen before.
    Listed,
    /// It was created, or came to match the selector.
    Added,
    /// It was changed.
    Modified,
    /// It was deleted; `now` is its last state.
    Deleted,
    /// It exists, but no longer matches the selector.
    LeftSelector,
    /// A listing after a gap no longer held it, or held another object of its name. `now` is the last
    /// version that was seen.
    Vanished,
    /// It was changed while the source could not see, perhaps several times: `prev` and `now` may
    /// have versions between them.
    Skipped,
}

impl Why {
    /// Whether the source no longer has the object.
    pub fn is_gone(self) -> bool {
        match self {
            Why::Deleted | Why::LeftSelector | Why::Vanished => true,
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => false,
        }
    }

    /// Whether the event arrived when its change happened. What a listing shows may have happened long before.
    pub fn is_live(self) -> bool {
        match self {
            Why::Added | Why::Modified | Why::Deleted | Why::LeftSelector => true,
            Why::Listed | Why::Skipped | Why::Vanished => false,
        }
    }
}

/// One event of one source, in the order of that source.
#[derive(Clone, Debug)]
pub enum Event {
    /// A version of an object.
    Object {
        /// Why it is sent.
        why: Why,
        /// Whether it was not seen as it happened, but read back from the server's memory afterwards.
        past: bool,
        /// When it arrived, by our clock.
        seen: Timestamp,
        /// This version.
        now: Arc<Version>,
        /// The version before it, of the same uid, that this subscriber was sent. For `Vanished` it is
        /// `now` itself.
        prev: Option<Arc<Version>>,
    },
    /// A full listing is in.
    Synced {
        /// 1 for the first; more after a gap.
        epoch: u32,
        /// How many objects there are.
        count: usize,
        /// Of which version it is; empty where the server tells none. What comes after it follows.
        version: ResourceVersion,
    },
    /// The source is in another state.
    State(SourceState),
    /// Versions are missing.
    Gap(Gap),
    /// A line that could not be read; the watch resumes before it.
    Undecodable {
        /// What was wrong with it.
        detail: Arc<str>,
    },
}

#[cfg(test)]
impl Event {
    /// That the first listing is in, with so many objects.
    pub(crate) fn synced(count: usize) -> Event {
        Event::Synced {
            epoch: 1,
            count,
            version: ResourceVersion::new("1"),
        }
    }
}

/// A half-open interval `(after, upto]` of one source, of which versions may be missing. What is known
/// of it follows as `Vanished`, `Skipped` and `Listed` events. With [`GapCause::Restored`] the two ends
/// are of two histories, and nothing is between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last version that is known to be complete.
    pub after: ResourceVersion,
    /// The version from which on all is known again.
    pub upto: ResourceVersion,
    /// Why.
    pub cause: GapCause,
}

/// Why versions are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GapCause {
    /// The server had forgotten the version we resumed from (410).
    Expired,
    /// The same line could not be decoded twice.
    Undecodable,
    /// The source is polled: what happens between two listings is not seen.
    Polled,
    /// What happened was read back from the server's memory, and follows. An object that came and
    /// went inside the interval is in no listing, and may be missing.
    Unseen,
    /// The server's history was set back, as by a restored backup of etcd: `upto` is then of another
    /// history than `after`, and mostly lower. What was written on either side is lost, or unseen.
    Restored,
    /// The server would not go on with the watch, and gave a reason that says nothing of its memory.
    Refused,
    /// The server did not answer when the versions were to be read back.
    Unanswered,
    /// This subscriber did not keep up, its queue was full, and the server could not say what it missed.
    SlowSubscriber {
        /// How many object events it missed.
        dropped: u64,
    },
}
