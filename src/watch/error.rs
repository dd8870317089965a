//! The reasons why a list or a watch fails. An error is an event of its source and never ends the program.

use std::sync::Arc;
use std::time::Duration;

use crate::cluster::ApiError;

/// What went wrong. The variants for HTTP responses keep the server's `Status`, so that a command can print
/// kubectl's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// 410: the resourceVersion, or the page's continue token, is too old for the server.
    #[error(transparent)]
    Expired(ApiError),
    /// 403.
    #[error(transparent)]
    Forbidden(ApiError),
    /// 401.
    #[error(transparent)]
    Unauthorized(ApiError),
    /// 404: the server does not serve this resource at present.
    #[error(transparent)]
    NotServed(ApiError),
    /// 405 or 501: the resource does not support list, or does not support watch, or not with these parameters.
    #[error(transparent)]
    MethodNotAllowed(ApiError),
    /// 400 or 422: the server rejects the request, and would reject it again.
    #[error(transparent)]
    Rejected(ApiError),
    /// 429, 503 or 504.
    #[error("{error}")]
    Throttled {
        /// The server's response.
        error: ApiError,
        /// The value of `Retry-After`.
        after: Option<Duration>,
    },
    /// Any other response that is not a success.
    #[error(transparent)]
    Server(ApiError),
    /// No connection: refused, unreachable, no such host, or a TLS handshake that failed.
    #[error("{detail}")]
    Connect {
        /// What failed, in kubectl's words where it has some.
        detail: Arc<str>,
    },
    /// The connection broke during a response body.
    #[error("connection lost: {detail}")]
    Cut {
        /// What failed.
        detail: Arc<str>,
    },
    /// The server sent nothing for longer than a live server stays silent.
    #[error("no answer for {} s", .after.as_secs())]
    Idle {
        /// How long it was silent.
        after: Duration,
    },
    /// The response took too long.
    #[error("timed out after {} s", .after.as_secs_f32())]
    Timeout {
        /// How long the request waited.
        after: Duration,
    },
    /// The response is not what the API promises.
    #[error("{detail}")]
    Decode {
        /// The parse error, or what else is wrong with the response.
        detail: Arc<str>,
    },
    /// The listing has no end, or is too long to keep. A retry would give the same.
    #[error("{detail}")]
    Endless {
        /// The resource, and why its listing is endless.
        detail: Arc<str>,
    },
    /// No credentials are available: an exec plugin failed, or a token file is missing.
    #[error("{detail}")]
    Credential {
        /// What failed.
        detail: Arc<str>,
    },
    /// The request is impossible: a name is not a path segment, or a stream that replaces a cluster holds
    /// something that is not an object.
    #[error("{detail}")]
    Input {
        /// Where the input is wrong, and how.
        detail: Arc<str>,
    },
    /// A file has been read to its end.
    #[error("end of file")]
    Ended,
}

impl SourceError {
    /// Whether the server was unreachable, broke the connection, or is not ready. Its next answers may come while
    /// it still starts.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            SourceError::Throttled { error, .. } | SourceError::Server(error) => {
                error.status.code >= 500
            }
            SourceError::Credential { .. } => false,
            other => other.is_transient(),
        }
    }

    /// Whether a later attempt of the same request may succeed.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            SourceError::Throttled { .. }
            | SourceError::Server(_)
            | SourceError::Connect { .. }
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

    /// The error for a response, or a line of a watch, that is not a success. `after` is the value of
    /// `Retry-After`; a line has none.
    pub(super) fn answered(error: ApiError, after: Option<Duration>) -> SourceError {
        let forgotten = matches!(&*error.status.reason, "Expired" | "Gone");
        match error.status.code {
            410 => SourceError::Expired(error),
            _ if forgotten => SourceError::Expired(error),
            400 | 422 => SourceError::Rejected(error),
            401 => SourceError::Unauthorized(error),
            403 => SourceError::Forbidden(error),
            404 => SourceError::NotServed(error),
            405 | 501 => SourceError::MethodNotAllowed(error),
            429 | 503 | 504 => SourceError::Throttled { error, after },
            _ => SourceError::Server(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ApiStatus;

    fn answered(code: u16, reason: &str) -> String {
        let status = ApiStatus {
            code,
            reason: reason.to_owned(),
            message: String::new(),
        };
        let error = ApiError {
            verb: "watch",
            resource: "pods".into(),
            namespace: None,
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
    fn each_status_code_has_its_error() {
        for (code, reason, name) in [
            (0, "", "Server"),
            (0, "Expired", "Expired"),
            (400, "BadRequest", "Rejected"),
            (401, "Unauthorized", "Unauthorized"),
            (403, "Forbidden", "Forbidden"),
            (404, "NotFound", "NotServed"),
            (405, "MethodNotAllowed", "MethodNotAllowed"),
            (501, "", "MethodNotAllowed"),
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
