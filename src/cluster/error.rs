//! What an API server answered instead of what was asked.

use std::sync::Arc;

use serde::Deserialize;

use crate::object::excerpt;

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

/// How many characters of a server's message and of its reason are shown.
const MESSAGE_SHOWN: usize = 2000;
const REASON_SHOWN: usize = 100;

fn line(status: &Status) -> String {
    let message = excerpt(&status.message, MESSAGE_SHOWN);
    match &*status.reason {
        "" => format!("Error from server: {message}"),
        "Unauthorized" => format!("error: You must be logged in to the server ({message})"),
        reason => {
            let reason = excerpt(reason, REASON_SHOWN);
            format!("Error from server ({reason}): {message}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_one_bounded_line() {
        let error = |reason: &str, message: &str| ApiError {
            verb: "list",
            resource: "pods".into(),
            status: Status {
                code: 500,
                reason: reason.to_owned(),
                message: message.to_owned(),
            },
        };
        assert_eq!(
            error("Inter\nnal", "a\nError from server: b").to_string(),
            "Error from server (Inter\\nnal): a\\nError from server: b"
        );
        let long = "x".repeat(1 << 20);
        assert!(error(&long, &long).to_string().len() < 2200);
    }
}
