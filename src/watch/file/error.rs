//! What is wrong with a file.

use std::sync::Arc;

/// A text that is not what a file should hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {detail}")]
pub struct FileError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong.
    pub detail: Arc<str>,
    /// What the text does not even follow the rules of, if it is that.
    pub syntax: Option<Syntax>,
}

/// A language whose rules a text does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syntax {
    /// Which.
    pub language: Language,
    /// Where in the line, from 1.
    pub column: usize,
}

/// What objects are written in.
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
        }
    }

    pub(super) fn against(self, language: Language, column: usize) -> FileError {
        let syntax = Some(Syntax { language, column });
        FileError { syntax, ..self }
    }
}
