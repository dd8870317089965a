//! Why a list or a watch failed. An error is an event of its source, never the end of the program.

use std::sync::Arc;
use std::time::Duration;

use crate::cluster::ApiError;

/// What went wrong. The variants that an HTTP answer caused keep the server's `Status`, so that
/// kubectl's own words can be printed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// 410: the resourceVersion, or the page's token, is older than the server remembers.
    #[error(transparent)]
    Expired(ApiError),
    /// 403.
    #[error(transparent)]
    Forbidden(ApiError),
    /// 401.
    #[error(transparent)]
    Unauthorized(ApiError),
    /// 404: no such resource here (now).
    #[error(transparent)]
    NotServed(ApiError),
    /// 405: the resource cannot be listed, or not watched.
    #[error(transparent)]
    MethodNotAllowed(ApiError),
    /// 400 or 422: the request itself is refused, and would be again.
    #[error(transparent)]
    Rejected(ApiError),
    /// 429, 503 or 504.
    #[error("{error}")]
    Throttled {
        /// The answer.
        error: ApiError,
        /// What `Retry-After` said.
        after: Option<Duration>,
    },
    /// Any other answer that is not a success.
    #[error(transparent)]
    Server(ApiError),
    /// No connection: refused, unreachable, no such host.
    #[error("{detail}")]
    Connect {
        /// What failed, in kubectl's words where it has some.
        detail: Arc<str>,
    },
    /// The connection's TLS handshake failed.
    #[error("{detail}")]
    Tls {
        /// What failed.
        detail: Arc<str>,
    },
    /// The connection broke while a body was read.
    #[error("connection lost: {detail}")]
    Cut {
        /// What failed.
        detail: Arc<str>,
    },
    /// Nothing came for longer than a live server is silent.
    #[error("no answer for {} s", .after.as_secs())]
    Idle {
        /// How long.
        after: Duration,
    },
    /// An answer took too long.
    #[error("timed out after {} s", .after.as_secs())]
    Timeout {
        /// How long.
        after: Duration,
    },
    /// Bytes that are not what the API promises.
    #[error("{detail}")]
    Decode {
        /// What was wrong with them.
        detail: Arc<str>,
    },
    /// Credentials could not be had: an exec plugin failed, a token file is gone.
    #[error("{detail}")]
    Credential {
        /// What failed.
        detail: Arc<str>,
    },
    /// A file was read to its end.
    #[error("end of file")]
    Ended,
}
