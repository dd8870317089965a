//! `YamlFile`: a file that the user has written, with the lines of its errors and the files that it names.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_saphyr::{Error, Spanned};

use super::CommandError;
use crate::cluster::os_words;
use crate::object::near;
use crate::sink::client_tls;

/// The most bytes of a file that the file names: an address, a key, a login or certificates.
const MAX_CONTENT: u64 = 1 << 20;

/// The file that is being read, for its errors and the paths in it.
pub(crate) struct YamlFile<'p> {
    pub(crate) path: &'p Path,
}

impl YamlFile<'_> {
    /// The text of the file. It fails in kubectl's words.
    pub(crate) fn text(&self) -> Result<String, CommandError> {
        fs::read_to_string(self.path).map_err(|error| {
            let path = self.path.display();
            CommandError::failed(match error.kind() {
                ErrorKind::NotFound => format!("error: the path \"{path}\" does not exist"),
                _ => format!("error: {path}: {}", os_words(&error)),
            })
        })
    }

    /// What a text of the file says; the default for an empty one.
    pub(crate) fn parse<T: Default + DeserializeOwned>(
        &self,
        text: &str,
    ) -> Result<T, CommandError> {
        match text.trim() {
            "" => Ok(T::default()),
            _ => serde_saphyr::from_str(text).map_err(|error| self.refusal(&error)),
        }
    }

    /// An error about a line.
    pub(crate) fn at_line(&self, line: u64, error: impl std::fmt::Display) -> CommandError {
        CommandError::failed(format!("error: {}:{line}: {error}", self.path.display()))
    }

    /// An error about this value.
    pub(crate) fn error<T>(
        &self,
        value: &Spanned<T>,
        error: impl std::fmt::Display,
    ) -> CommandError {
        self.at_line(value.referenced.line(), error)
    }

    /// What is wrong with the form of the file.
    fn refusal(&self, error: &Error) -> CommandError {
        let error = error.without_snippet();
        let line = error.location().map_or(1, |location| location.line());
        let (what, word, known) = match error {
            Error::SerdeUnknownField {
                field, expected, ..
            } => ("unknown key", field, expected),
            Error::SerdeUnknownVariant {
                variant, expected, ..
            } => ("unknown value", variant, expected),
            Error::SerdeMissingField { field, .. } => {
                let error = self.at_line(line, format!("the key \"{field}\" is missing"));
                return error.hint("docs/serve.yaml.md describes all keys");
            }
            error => {
                return self
                    .at_line(line, words(error))
                    .hint("docs/serve.yaml.md describes all keys");
            }
        };
        let hint = match near(word, known.iter().copied()).first() {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("use one of {}", known.join(", ")),
        };
        self.at_line(line, format!("{what} \"{word}\"")).hint(hint)
    }

    /// A path in it: relative to its directory.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        let directory = self.path.parent().unwrap_or(Path::new(""));
        directory.join(path)
    }

    /// The content of a file that the file names.
    pub(crate) fn content(&self, named: &Spanned<PathBuf>) -> Result<Vec<u8>, CommandError> {
        let path = self.relative(&named.value);
        let mut content = Vec::new();
        let read = fs::File::open(&path)
            .and_then(|file| file.take(MAX_CONTENT + 1).read_to_end(&mut content));
        read.map_err(|error| {
            let error = self.error(named, format!("{}: {}", path.display(), os_words(&error)));
            error.hint("a path is relative to the directory of the configuration")
        })?;
        if content.len() as u64 > MAX_CONTENT {
            let error = format!("{}: the file is larger than 1 MiB", path.display());
            return Err(self
                .error(named, error)
                .hint("it must hold one address, key, login or certificate"));
        }
        Ok(content)
    }

    /// The certificates to trust of a file that the file names, in PEM form.
    pub(crate) fn authority(&self, named: &Spanned<PathBuf>) -> Result<Vec<u8>, CommandError> {
        let content = self.content(named)?;
        match client_tls(Some(&content)) {
            Ok(_) => Ok(content),
            Err(error) => {
                let path = self.relative(&named.value);
                let error = self.error(named, format!("{}: {error}", path.display()));
                Err(error.hint("it must have the certificates of the authority, such as ca.crt"))
            }
        }
    }
}

/// What is wrong with a value or with the syntax, without the place.
fn words(error: &Error) -> String {
    let expected = match error {
        Error::Unexpected { expected, .. } => match *expected {
            "sequence start" => "a list",
            "mapping start" => "a map",
            "string scalar" => "a text",
            other => other,
        },
        Error::InvalidBooleanStrict { .. } | Error::InvalidScalar { ty: "boolean", .. } => {
            "true or false"
        }
        Error::InvalidScalar { .. } => "a number",
        Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => "a word or a map",
        Error::MultipleDocuments { .. } => "one document",
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            return format!("key {key:?} already set in map");
        }
        Error::Eof { .. } => return "unexpected end of file".to_owned(),
        other => {
            let words = other.to_string();
            let line = words.lines().next().unwrap_or_default();
            let end = line.find(" at line ").unwrap_or(line.len());
            return line[..end].to_owned();
        }
    };
    format!("expected {expected}")
}
