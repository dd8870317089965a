//! The state a source of objects is in, which every live screen shows.

use std::sync::Arc;

use jiff::Timestamp;

/// What one source (a list and watch of one resource in one scope) is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// The first listing is under way.
    Connecting,
    /// The watch runs: what is shown is what is.
    Live,
    /// The connection is lost or refused; what is shown may be old.
    Retrying {
        /// How many tries have failed in a row, from 1.
        attempt: u32,
        /// What the last one failed with, in kubectl's words.
        cause: Arc<str>,
        /// When the next try starts.
        until: Timestamp,
    },
    /// The server says we may not read this; it is asked again now and then.
    Forbidden {
        /// The server's words.
        cause: Arc<str>,
    },
    /// The server does not serve this resource (a CRD that is not there yet, say).
    Unserved {
        /// The server's words.
        cause: Arc<str>,
    },
    /// Watching is not allowed or not offered: the source is listed every so often.
    Polling {
        /// Why it is not watched, in the server's words.
        cause: Arc<str>,
    },
    /// It will not come back without the user: credentials that no longer work, say.
    Failed {
        /// What is wrong.
        cause: Arc<str>,
    },
    /// A file was read to its end.
    Ended,
}
