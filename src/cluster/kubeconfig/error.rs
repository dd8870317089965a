//! Why no cluster could be chosen.

use std::io;
use std::path::PathBuf;

use crate::cluster::request_path::InvalidPart;

/// What is wrong with the kubeconfig or the flags. Its `Display` is the line kubectl prints, where
/// kubectl has one.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// `--kubeconfig` names a file that is not there.
    #[error("error: stat {}: no such file or directory", .0.display())]
    NoFile(PathBuf),
    /// A file cannot be read, or is no kubeconfig.
    #[error("error: error loading config file \"{}\": {detail}", .path.display())]
    Load {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// `--context` names none.
    #[error("error: context {0:?} does not exist")]
    NoContext(String),
    /// The file's `current-context` names none.
    #[error("Error in configuration: context was not found for specified context: {0}")]
    NoCurrentContext(String),
    /// `--cluster` or the context names none.
    #[error("error: cluster {0:?} does not exist")]
    NoCluster(String),
    /// `--user` names none.
    #[error("error: auth info {0:?} does not exist")]
    NoUser(String),
    /// Settings that contradict each other, and files that cannot be read: never empty.
    #[error("{}", all_of(.0))]
    Invalid(Vec<String>),
    /// A text that no header can hold.
    #[error("Unable to connect to the server: net/http: invalid header field value for {name:?}")]
    Header {
        /// Which header.
        name: String,
        /// Which setting it is from.
        setting: String,
    },
    /// A URL that is none, or too long.
    #[error("error: {problem}: \"{shown}\"")]
    Url {
        /// kubectl's words.
        problem: &'static str,
        /// The URL without its login.
        shown: String,
        /// Which setting it is from.
        setting: String,
        /// What is taken there.
        wanted: &'static str,
    },
    /// The namespace cannot be one.
    #[error("error: {error}")]
    Namespace {
        /// What is wrong with it.
        error: InvalidPart,
        /// Which setting it is from.
        setting: String,
    },
    /// `--request-timeout` is no time.
    #[error(
        "error: Invalid timeout value. Timeout must be a single integer in seconds, or an integer \
         followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
    )]
    Timeout,
    /// A credential plugin failed, or may not be run.
    #[error("Unable to connect to the server: getting credentials: {0}")]
    Credential(String),
}

impl ConfigError {
    /// One thing that is wrong.
    pub(crate) fn invalid(problem: impl Into<String>) -> ConfigError {
        ConfigError::Invalid(vec![problem.into()])
    }
}

/// One problem on one line; several as a list, as kubectl does.
fn all_of(problems: &[String]) -> String {
    match problems {
        [one] => format!("error: {one}"),
        several => format!("Error in configuration: \n* {}", several.join("\n* ")),
    }
}

/// The operating system's words as Go prints them: `no such file or directory`.
pub(crate) fn os_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}
