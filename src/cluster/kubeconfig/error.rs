//! Why no cluster could be chosen.

use std::io;
use std::path::PathBuf;

use crate::cluster::request_path::InvalidPart;
use crate::object::near;

/// An error in the kubeconfig or the flags. Its `Display` is kubectl's line, if kubectl has one.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// `--kubeconfig` names a missing file.
    #[error("error: stat {}: no such file or directory", .0.display())]
    NoFile(PathBuf),
    /// A file cannot be read, or is not a kubeconfig.
    #[error("error: error loading config file \"{}\": {detail}", .path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The error.
        detail: String,
    },
    /// `--context` names a missing context.
    #[error("error: context {name:?} does not exist")]
    NoContext {
        /// The name.
        name: String,
        /// The contexts whose names resemble it, the nearest first.
        near: Vec<String>,
    },
    /// No context matches a pattern of `--contexts`.
    #[error("error: no context matches {0:?}")]
    NoMatch(String),
    /// No context is selected, because the kubeconfig has none.
    #[error("error: the kubeconfig has no context to use")]
    NoContexts,
    /// A pattern of `--contexts` that does not parse.
    #[error("error: invalid pattern {pattern:?}: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file's `current-context` names a missing context.
    #[error("Error in configuration: context was not found for specified context: {0}")]
    NoCurrentContext(String),
    /// `--cluster` or the context names a missing cluster.
    #[error("error: cluster {0:?} does not exist")]
    NoCluster(String),
    /// `--user` names a missing user.
    #[error("error: auth info {0:?} does not exist")]
    NoUser(String),
    /// Contradicting settings and unreadable files. It is never empty.
    #[error("{}", all_of(.0))]
    Invalid(Vec<String>),
    /// A text that is not a valid header value.
    #[error("Unable to connect to the server: net/http: invalid header field value for {name:?}")]
    Header {
        /// The header.
        name: String,
        /// The setting with the text.
        setting: String,
    },
    /// An invalid URL, or one that is too long.
    #[error("error: {problem}: \"{shown}\"")]
    Url {
        /// kubectl's message.
        problem: &'static str,
        /// The URL without user and password.
        shown: String,
        /// The setting with the URL.
        setting: String,
        /// What the setting accepts.
        wanted: &'static str,
    },
    /// The namespace is invalid.
    #[error("error: {error}")]
    Namespace {
        /// The error.
        error: InvalidPart,
        /// The setting with the namespace.
        setting: String,
    },
    /// `--request-timeout` is not a duration.
    #[error(
        "error: Invalid timeout value. Timeout must be a single integer in seconds, or an integer \
         followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
    )]
    Timeout,
    /// A credential plugin failed, or the user's policy forbids it.
    #[error("Unable to connect to the server: getting credentials: {0}")]
    Credential(String),
}

impl ConfigError {
    /// The error for a context that is none of these.
    pub(super) fn no_context(all: &[&str], name: &str) -> ConfigError {
        ConfigError::NoContext {
            name: name.to_owned(),
            near: near(name, all.iter().copied()),
        }
    }

    pub(crate) fn invalid(problem: impl Into<String>) -> ConfigError {
        ConfigError::Invalid(vec![problem.into()])
    }
}

/// One problem on one line, or several as a list, as kubectl prints them.
fn all_of(problems: &[String]) -> String {
    match problems {
        [one] => format!("error: {one}"),
        several => format!("Error in configuration: \n* {}", several.join("\n* ")),
    }
}

/// The operating system's message as Go prints it: `no such file or directory`.
pub(crate) fn os_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
