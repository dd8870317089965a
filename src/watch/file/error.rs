//! The errors of a file.

use std::sync::Arc;

use super::foreign::Foreign;

/// A text that is not a valid file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {detail}")]
pub struct FileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub detail: Arc<str>,
    /// Which document it is in, counted from 1; `None` for the first one.
    pub document: Option<usize>,
    /// The syntax error, if it is one.
    pub syntax: Option<Syntax>,
    /// Whether it is a whole value that is no Kubernetes object, such as the values of a chart.
    pub is_no_object: bool,
    /// What the text is instead, if that is known.
    pub foreign: Option<Foreign>,
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
            document: None,
            syntax: None,
            is_no_object: false,
            foreign: None,
        }
    }

    /// The error of a value that is no Kubernetes object.
    pub(super) fn no_object(line: usize, detail: impl Into<Arc<str>>) -> FileError {
        FileError {
            is_no_object: true,
            ..FileError::new(line, detail)
        }
    }

    /// The same error, with what the text is instead.
    pub(super) fn of_foreign(self, foreign: Option<Foreign>) -> FileError {
        FileError { foreign, ..self }
    }

    /// The same error in this document, counted from 1.
    pub(super) fn in_document(self, number: usize) -> FileError {
        FileError {
            document: (number > 1).then_some(number),
            ..self
        }
    }

    /// The error of a server, with which a recorded watch ends.
    pub(super) fn of_server(line: usize, message: &str) -> FileError {
        FileError::new(line, format!("the recorded watch failed: {message}"))
    }

    /// The error of a JSON text that begins on this line.
    pub(super) fn of_json(error: &serde_json::Error, first: usize) -> FileError {
        let (line, column) = (first + error.line().saturating_sub(1), error.column());
        let text = error.to_string();
        let words = text
            .rsplit_once(" at line ")
            .map_or(&*text, |(what, _)| what);
        let detail = format!("{words} at line {line} column {column}");
        FileError::new(line, detail).against(Language::Json, column)
    }

    pub(super) fn against(self, language: Language, column: usize) -> FileError {
        let syntax = Some(Syntax { language, column });
        FileError { syntax, ..self }
    }
}
