//! The state of a source of objects. Every live view shows it.

use std::sync::Arc;

use jiff::Timestamp;

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
