//! The plain data of sources, shared by the code that reads objects and the code that shows them.
//!
//! A source is one list and watch of one resource in one scope. A [`SourceKey`] identifies it. It sends
//! [`Event`]s, and a [`Version`] is one version of one object.

mod key;
pub mod log;
mod packing;
mod select;
mod version;

use std::sync::Arc;

use jiff::Timestamp;

use crate::object::ResourceVersion;

pub use key::{ClusterId, Form, Scope, SourceKey};
pub(crate) use packing::Packing;
pub(crate) use select::Matcher;
pub use select::{Select, Selectors};
pub use version::{Body, PrintedCell, Version, printed};
pub(crate) use version::{PRINTED_PATH, Packer, with_printed};

/// Why an object event was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// A listing contained it for the first time.
    Listed,
    /// It was created, or started to match the selector.
    Added,
    /// It was changed.
    Modified,
    /// It was deleted; `now` is its last state.
    Deleted,
    /// It exists, but no longer matches the selector.
    LeftSelector,
    /// A listing after a gap did not contain it, or contained another object with its name. `now` is the last
    /// known version.
    Vanished,
    /// It changed while the source could not see it, perhaps several times: versions between `prev` and `now`
    /// may be missing.
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

    /// Whether the event arrived when the change happened. A listing may show changes that happened long
    /// before.
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
        /// Whether the version was not seen live but read back from the server's history.
        past: bool,
        /// When it arrived, by our clock.
        seen: Timestamp,
        /// This version.
        now: Arc<Version>,
        /// The version of the same uid that this subscriber received before. For `Vanished` it is `now`
        /// itself.
        prev: Option<Arc<Version>>,
    },
    /// A full listing is complete.
    Synced {
        /// 1 for the first listing, higher after each gap.
        epoch: u32,
        /// The number of objects.
        count: usize,
        /// The listing's `resourceVersion`; empty if the server sends none. Later events continue from it.
        version: ResourceVersion,
    },
    /// The state of the source changed.
    State(SourceState),
    /// Versions are missing.
    Gap(Gap),
    /// A line could not be decoded. The watch resumes before it.
    Undecodable {
        /// The error.
        detail: Arc<str>,
    },
}

#[cfg(test)]
impl Event {
    /// The event for a complete first listing with `count` objects.
    pub(crate) fn synced(count: usize) -> Event {
        Event::Synced {
            epoch: 1,
            count,
            version: ResourceVersion::new("1"),
        }
    }
}

/// A half-open interval `(after, upto]` of one source in which versions may be missing. `Vanished`, `Skipped`
/// and `Listed` events follow and show the known differences. With [`GapCause::Restored`] the two ends belong
/// to two histories, with nothing between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last version up to which everything is known.
    pub after: ResourceVersion,
    /// The version from which on everything is known again.
    pub upto: ResourceVersion,
    /// Why versions are missing.
    pub cause: GapCause,
}

/// Why versions are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GapCause {
    /// The server has compacted the version to resume from (410).
    Expired,
    /// The same line could not be decoded twice.
    Undecodable,
    /// The source is polled, so changes between two listings are not seen.
    Polled,
    /// The missed versions were read back from the server and follow. An object that was created and deleted
    /// inside the interval is in no listing, and may be missing.
    Unseen,
    /// The server's history was set back, for example by a restored backup of etcd. `upto` then belongs to
    /// another history than `after`, and is usually lower. Versions of either history may be lost or unseen.
    Restored,
    /// The server refused to continue the watch, for another reason than compaction.
    Refused,
    /// The server does not offer old versions, or its resourceVersions do not name any.
    NotOffered,
    /// The server did not answer the requests for the missed versions.
    Unanswered,
    /// This subscriber was too slow: its queue was full, and the server could not supply the missed versions.
    SlowSubscriber {
        /// The number of object events that it missed.
        dropped: u64,
    },
}

impl GapCause {
    /// The name of the cause in records, and in the files of a store.
    pub fn name(self) -> &'static str {
        match self {
            GapCause::Expired => "expired",
            GapCause::Undecodable => "undecodable",
            GapCause::Polled => "polled",
            GapCause::Unseen => "unseen",
            GapCause::Restored => "restored",
            GapCause::Refused => "refused",
            GapCause::NotOffered => "notOffered",
            GapCause::Unanswered => "unanswered",
            GapCause::SlowSubscriber { .. } => "slowSubscriber",
        }
    }
}

/// How many times to try a server that has not answered yet.
const TRIES: u32 = 3;
/// The same of a server that asks for a later attempt: it will answer.
const TRIES_IF_THROTTLED: u32 = 6;

impl SourceState {
    /// The name of the state: `live`, `retrying`.
    pub fn name(&self) -> &'static str {
        match self {
            SourceState::Connecting => "connecting",
            SourceState::Live => "live",
            SourceState::Retrying { .. } => "retrying",
            SourceState::Forbidden { .. } => "forbidden",
            SourceState::Unserved { .. } => "unserved",
            SourceState::Polling { .. } => "polling",
            SourceState::Failed { .. } => "failed",
            SourceState::Ended => "ended",
        }
    }

    /// Why the source is in this state, if there is a reason.
    pub fn cause(&self) -> Option<&Arc<str>> {
        match self {
            SourceState::Connecting | SourceState::Live | SourceState::Ended => None,
            SourceState::Retrying { cause, .. }
            | SourceState::Forbidden { cause }
            | SourceState::Unserved { cause }
            | SourceState::Polling { cause }
            | SourceState::Failed { cause } => Some(cause),
        }
    }

    /// Whether a server has been tried often enough.
    pub fn is_given_up(&self) -> bool {
        match self {
            SourceState::Retrying {
                attempt,
                is_throttled: true,
                ..
            } => *attempt >= TRIES_IF_THROTTLED,
            SourceState::Retrying { attempt, .. } => *attempt >= TRIES,
            SourceState::Connecting
            | SourceState::Live
            | SourceState::Polling { .. }
            | SourceState::Forbidden { .. }
            | SourceState::Unserved { .. }
            | SourceState::Failed { .. }
            | SourceState::Ended => false,
        }
    }
}

/// The state of one source: the list and watch of one resource in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// The first listing is in progress.
    Connecting,
    /// The watch runs, so views are up to date.
    Live,
    /// The connection is lost or refused, so views may be out of date.
    Retrying {
        /// How many attempts have failed in a row, from 1.
        attempt: u32,
        /// The error of the last attempt, in kubectl's words.
        cause: Arc<str>,
        /// The time of the next attempt.
        until: Timestamp,
        /// Whether the server has too many requests, and asks for a later attempt.
        is_throttled: bool,
    },
    /// The server denies access. The source asks again from time to time.
    Forbidden {
        /// The server's message.
        cause: Arc<str>,
    },
    /// The server does not serve this resource, for example because its CRD does not exist yet.
    Unserved {
        /// The server's message.
        cause: Arc<str>,
    },
    /// The resource cannot be watched, so the source lists it at intervals.
    Polling {
        /// Why it cannot be watched, in the server's words.
        cause: Arc<str>,
    },
    /// The source failed for good, for example because credentials are no longer accepted. Only the user can
    /// repair it.
    Failed {
        /// The error.
        cause: Arc<str>,
    },
    /// The file has been read to its end.
    Ended,
}
