//! The errors of a file.

use std::sync::Arc;

/// A text that is not a valid file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {detail}")]
pub struct FileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub detail: Arc<str>,
    /// The syntax error, if it is one.
    pub syntax: Option<Syntax>,
    /// Whether it is the error of a server with which a recorded watch ends. What comes before it is valid.
    pub(super) ends_recording: bool,
}

/// A syntax error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syntax {
    /// The language whose syntax the text breaks.
    pub language: Language,
    /// The column, counted from 1.
    pub column: usize,
}

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JSON (RFC 8259).
    Json,
    /// YAML.
    Yaml,
}

impl FileError {
    pub(super) fn new(line: usize, detail: impl Into<Arc<str>>) -> FileError {
        FileError {
            line,
            detail: detail.into(),
            syntax: None,
            ends_recording: false,
        }
    }

    pub(super) fn of_server(line: usize, message: &str) -> FileError {
        FileError {
            ends_recording: true,
            ..FileError::new(line, format!("the recorded watch failed: {message}"))
        }
    }

    pub(super) fn against(self, language: Language, column: usize) -> FileError {
        let syntax = Some(Syntax { language, column });
        FileError { syntax, ..self }
    }
}
