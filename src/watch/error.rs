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
    /// A listing without an end, or too long to be kept: it would be the same again.
    #[error("{detail}")]
    Endless {
        /// Which, and how that shows.
        detail: Arc<str>,
    },
    /// Credentials could not be had: an exec plugin failed, a token file is gone.
    #[error("{detail}")]
    Credential {
        /// What failed.
        detail: Arc<str>,
    },
    /// What was asked for cannot be: a name is no segment of a path, or a stream in place of a cluster
    /// holds what is none of its objects.
    #[error("{detail}")]
    Input {
        /// Where and what.
        detail: Arc<str>,
    },
    /// A file was read to its end.
    #[error("end of file")]
    Ended,
}

impl SourceError {
    /// Whether the server could not be reached, broke off, or is not ready: what it answers next it may
    /// answer while it starts.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            SourceError::Throttled { error, .. } | SourceError::Server(error) => {
                error.status.code >= 500
            }
            SourceError::Connect { .. }
            | SourceError::Tls { .. }
            | SourceError::Cut { .. }
            | SourceError::Idle { .. }
            | SourceError::Timeout { .. } => true,
            SourceError::Expired(_)
            | SourceError::Forbidden(_)
            | SourceError::Unauthorized(_)
            | SourceError::NotServed(_)
            | SourceError::MethodNotAllowed(_)
            | SourceError::Rejected(_)
            | SourceError::Decode { .. }
            | SourceError::Endless { .. }
            | SourceError::Credential { .. }
            | SourceError::Input { .. }
            | SourceError::Ended => false,
        }
    }

    /// Whether the same request may be answered later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            SourceError::Throttled { .. }
            | SourceError::Server(_)
            | SourceError::Connect { .. }
            | SourceError::Tls { .. }
            | SourceError::Cut { .. }
            | SourceError::Idle { .. }
            | SourceError::Timeout { .. }
            | SourceError::Credential { .. } => true,
            SourceError::Expired(_)
            | SourceError::Forbidden(_)
            | SourceError::Unauthorized(_)
            | SourceError::NotServed(_)
            | SourceError::MethodNotAllowed(_)
            | SourceError::Rejected(_)
            | SourceError::Decode { .. }
            | SourceError::Endless { .. }
            | SourceError::Input { .. }
            | SourceError::Ended => false,
        }
    }

    /// What an answer means that is not a success, be it of a request or a line of a watch. `after` is
    /// what `Retry-After` said; a line has none.
    pub(super) fn answered(error: ApiError, after: Option<Duration>) -> SourceError {
        let forgotten = matches!(&*error.status.reason, "Expired" | "Gone");
        match error.status.code {
            410 => SourceError::Expired(error),
            _ if forgotten => SourceError::Expired(error),
            400 | 422 => SourceError::Rejected(error),
            401 => SourceError::Unauthorized(error),
            403 => SourceError::Forbidden(error),
            404 => SourceError::NotServed(error),
            405 => SourceError::MethodNotAllowed(error),
            429 | 503 | 504 => SourceError::Throttled { error, after },
            _ => SourceError::Server(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Status;

    fn answered(code: u16, reason: &str) -> String {
        let status = Status {
            code,
            reason: reason.to_owned(),
            message: String::new(),
        };
        let error = ApiError {
            verb: "watch",
            resource: "pods".into(),
            status,
        };
        let after = Some(Duration::from_secs(7));
        let error = format!("{:?}", SourceError::answered(error, after));
        let end = error.find(['(', ' ']).expect("has fields");
        let delay = if error.contains("after: Some(7s)") {
            " 7"
        } else {
            ""
        };
        format!("{}{delay}", &error[..end])
    }

    #[test]
    fn every_code_has_its_error() {
        for (code, reason, name) in [
            (0, "", "Server"),
            (0, "Expired", "Expired"),
            (400, "BadRequest", "Rejected"),
            (401, "Unauthorized", "Unauthorized"),
            (403, "Forbidden", "Forbidden"),
            (404, "NotFound", "NotServed"),
            (405, "MethodNotAllowed", "MethodNotAllowed"),
            (410, "", "Expired"),
            (410, "Gone", "Expired"),
            (422, "Invalid", "Rejected"),
            (429, "TooManyRequests", "Throttled 7"),
            (500, "InternalError", "Server"),
            (503, "ServiceUnavailable", "Throttled 7"),
            (504, "Timeout", "Throttled 7"),
        ] {
            assert_eq!(answered(code, reason), name, "{code} {reason}");
        }
    }
}
