//! What an API server answered instead of what was asked.

use std::sync::Arc;

use serde::Deserialize;

/// The part of a `Status` object (meta/v1) that we use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The HTTP code, also inside a watch: 410 for a version that is too old.
    pub code: u16,
    /// One CamelCase word: `Forbidden`. Empty where the server gave none.
    pub reason: String,
    /// The server's sentence.
    pub message: String,
}

/// A request that the server answered with an error. Its `Display` is kubectl's line, word for
/// word: `Error from server (NotFound): deployments.apps "web" not found`. Only credentials that are
/// not taken are told another way: `error: You must be logged in to the server (Unauthorized)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", line(.status))]
pub struct ApiError {
    /// What was tried: `get`, `list` or `watch`.
    pub verb: &'static str,
    /// On what: `deployments.apps`.
    pub resource: Arc<str>,
    /// The server's answer.
    pub status: Status,
}

fn line(status: &Status) -> String {
    let message = &status.message;
    match &*status.reason {
        "" => format!("Error from server: {message}"),
        "Unauthorized" => format!("error: You must be logged in to the server ({message})"),
        reason => format!("Error from server ({reason}): {message}"),
    }
}
