//! The errors of files: what cannot be read, where it stands, and what the text is instead.

use std::sync::Arc;

use super::super::envelope::item_head;
use crate::object::{Doc, Kind, ObjectRef, ParseError, Value};

/// A text that is not a valid file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {detail}{}", json_column(*syntax))]
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

/// Where a text stops to be JSON. The words about YAML name what is open instead.
fn json_column(syntax: Option<Syntax>) -> String {
    match syntax {
        Some(Syntax {
            language: Language::Json,
            column,
        }) => format!(" at column {column}"),
        Some(_) | None => String::new(),
    }
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
    /// What is wrong, with the column if the text is not JSON.
    pub fn words(&self) -> String {
        format!("{}{}", self.detail, json_column(self.syntax))
    }

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

    /// The error of a JSON text that begins on this line.
    pub(super) fn of_json(error: &serde_json::Error, first: usize) -> FileError {
        let line = first + error.line().saturating_sub(1);
        let text = error.to_string();
        let words = match text.rsplit_once(" at line ") {
            // The words of Go, which kubectl passes on.
            _ if error.is_eof() => "unexpected end of JSON input",
            Some((what, _)) => what,
            None => &text,
        };
        FileError::new(line, words).against(Language::Json, error.column())
    }

    pub(super) fn against(self, language: Language, column: usize) -> FileError {
        let syntax = Some(Syntax { language, column });
        FileError { syntax, ..self }
    }
}

/// How many faults of one text are kept. The others are counted.
const KEPT: usize = 5;

/// The faults of a text, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    first: Vec<FileError>,
    pub(super) count: usize,
    has_other: bool,
}

impl Faults {
    pub(super) fn add(&mut self, fault: FileError) {
        self.count += 1;
        self.has_other |= !fault.is_no_object;
        if self.first.len() < KEPT {
            self.first.push(fault);
        }
    }

    pub(super) fn add_syntax(&mut self, fault: FileError, text: &str) {
        // Only a fault that is kept is worth the search for its line.
        let line = (self.first.len() < KEPT).then(|| text.lines().nth(fault.line - 1));
        self.add(fault.of_foreign(line.flatten().and_then(foreign_line)));
    }

    /// The first faults.
    pub fn first(&self) -> &[FileError] {
        &self.first
    }

    /// How many there are besides the first ones.
    pub fn more(&self) -> usize {
        self.count - self.first.len()
    }

    /// Whether nothing is broken: each fault is a whole value that is no object.
    pub fn are_no_objects(&self) -> bool {
        !self.has_other
    }

    /// The same faults of a text without objects, with what the text is instead.
    pub(super) fn of_text(mut self, text: &str) -> Faults {
        if let Some(first) = self.first.first_mut() {
            first.foreign = foreign_text(text).or(first.foreign);
        }
        self
    }

    /// The first fault, if there is any.
    pub(super) fn into_result(self) -> Result<(), FileError> {
        self.first.into_iter().next().map_or(Ok(()), Err)
    }
}

/// The metadata fields with the identity and the version of an object.
const HEAD: [&str; 5] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "deletionTimestamp",
];

/// Why a source cannot read an object, if that is so. The text contains no values of the object.
pub(super) fn unreadable(doc: &Doc) -> Option<String> {
    if let Ok(head) = item_head(doc.text()) {
        return (!head.has_type_of(doc.root())).then(|| ParseError::TwoTypes.to_string());
    }
    let meta = doc.root().get("metadata");
    let wrong = HEAD.iter().find_map(|field| {
        let value = meta?.get(field)?;
        let is_text = matches!(value.kind(), Kind::Null | Kind::String);
        (!is_text).then(|| {
            let what = value.kind().with_article();
            format!("metadata.{field} must be a string, not {what}")
        })
    });
    Some(wrong.unwrap_or_else(|| "apiVersion, kind or metadata cannot be read".to_owned()))
}

/// Why the items of a list are none, if that is so. Go writes an empty list as null.
pub(super) fn wrong_items(object: &ObjectRef, value: Value<'_>) -> Option<String> {
    let items = value.get("items")?;
    let is_list = matches!(items.kind(), Kind::Array | Kind::Null);
    (object.kind.ends_with("List") && !is_list).then(|| {
        let what = items.kind().with_article();
        format!("unable to decode: items must be a list, not {what}")
    })
}

/// What a text is instead of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What it is: "this is a kustomization".
    pub what: &'static str,
    /// What to do about it. A command that ends with `|` writes objects.
    pub remedy: &'static str,
}

const fn foreign(what: &'static str, remedy: &'static str) -> Foreign {
    Foreign { what, remedy }
}

const GET: &str = "to save objects, run: kubectl get TYPE -o yaml > FILE";
const KUSTOMIZATION: Foreign = foreign("this is a kustomization", "kubectl kustomize DIR |");

/// The types of files that no API server serves, by group and kind. An empty kind stands for all kinds of the group.
const FILE_TYPES: [(&str, &str, Foreign); 6] = [
    ("kustomize.config.k8s.io", "", KUSTOMIZATION),
    (
        "meta.k8s.io",
        "Table",
        foreign(
            "this is a Table, which holds the cells of a table instead of objects",
            GET,
        ),
    ),
    (
        "meta.k8s.io",
        "",
        foreign("this is the metadata of objects alone", GET),
    ),
    (
        "audit.k8s.io",
        "",
        foreign(
            "this is an audit log, which records requests",
            "jq -c '.responseObject // empty' FILE |",
        ),
    ),
    (
        "",
        "Status",
        foreign(
            "this is an error of the API server",
            "repeat the command that wrote it, and read its error",
        ),
    ),
    (
        "",
        "Config",
        foreign("this is a kubeconfig", "pass it to --kubeconfig"),
    ),
];

/// What a type is that no API server serves.
pub(super) fn foreign_type(object: &ObjectRef) -> Option<Foreign> {
    let mut types = FILE_TYPES.iter();
    let found = types.find(|(group, kind, _)| {
        let is_of_kind = kind.is_empty() || *kind == &*object.kind;
        *group == object.group() && is_of_kind && !object.kind.is_empty()
    });
    found.map(|(_, _, foreign)| *foreign)
}

/// What a value without a type may be.
fn foreign_value(value: Value<'_>) -> Option<Foreign> {
    let has = |field: &str| value.get(field).is_some();
    let names_files = |field: &str| {
        let mut items = value.items_at(&[field]);
        items.any(|item| item.kind() == Kind::String)
    };
    match () {
        () if value.kind() != Kind::Object || has("kind") => None,
        () if has("apiVersion") && has("name") && has("version") => Some(foreign(
            "this describes a Helm chart",
            "helm template CHART |",
        )),
        () if names_files("resources") || names_files("bases") => Some(KUSTOMIZATION),
        () => Some(foreign(
            "this is no object; if it has the values of a Helm chart",
            "helm template CHART -f FILE |",
        )),
    }
}

/// What a value is that is no object of a cluster; `None` if it may be one.
pub fn foreign_object(object: &ObjectRef, value: Value<'_>) -> Option<Foreign> {
    foreign_type(object).or_else(|| foreign_value(value))
}

/// What a text is that does not even hold values.
pub fn foreign_text(text: &str) -> Option<Foreign> {
    let lines = || {
        text.lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
    };
    let first = lines().next()?;
    Some(match () {
        () if is_header(first) => foreign("this is the table that kubectl get prints", GET),
        () if first.starts_with("Name:") && lines().any(|line| line.starts_with("Labels:")) => {
            foreign("this is the text that kubectl describe prints", GET)
        }
        () if first.starts_with("Error from server") || first.starts_with("error:") => foreign(
            "this is an error message of kubectl",
            "repeat the command that wrote it, without 2>&1",
        ),
        () if first.starts_with("No resources found") => foreign(
            "this is a message of kubectl, which found nothing",
            "correct the type, the selector or the namespace of the command",
        ),
        () if lines().all(is_name) => foreign(
            "these are the names that kubectl get -o name prints",
            "kubectl get $(cat FILE) -o yaml |",
        ),
        () if first.trim_start().starts_with('<') => foreign(
            "this is a web page",
            "check the login or the proxy of the command that wrote it",
        ),
        () => return None,
    })
}

/// What a text is whose syntax is broken in this line.
fn foreign_line(line: &str) -> Option<Foreign> {
    line.contains("{{")
        .then_some(foreign("render templates first", "helm template … |"))
}

/// Whether a line has the titles of a table: `NAME   READY   STATUS` or `LAST SEEN   TYPE`.
fn is_header(line: &str) -> bool {
    let is_title = |word: &str| {
        let is_upper = |byte: u8| byte.is_ascii_uppercase() || b"-_()%/".contains(&byte);
        word.len() > 1 && word.bytes().all(is_upper)
    };
    let mut words = line.split_whitespace();
    let titles = words.clone().filter(|word| is_title(word)).count();
    let is_first = words.next().is_some_and(is_title);
    is_first && (titles > 1 || line == "NAME") && !line.contains([':', '{', '"'])
}

fn is_name(line: &str) -> bool {
    let is_word = |word: &str| {
        let mut bytes = word.bytes();
        !word.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
    };
    line.split_once('/')
        .is_some_and(|(of, name)| is_word(of) && is_word(name))
}

/// The archives and other binary files, by their first bytes.
const PACKED: [(&[u8], Foreign); 6] = [
    (b"\x1f\x8b", GZIP),
    (
        b"PK\x03\x04",
        foreign("this is a zip archive", "unzip it, and pass its directory"),
    ),
    (
        b"\x28\xb5\x2f\xfd",
        foreign("this is packed with zstd", "zstd -dc FILE |"),
    ),
    (
        b"\xfd7zXZ\x00",
        foreign("this is packed with xz", "xz -dc FILE |"),
    ),
    (
        b"BZh",
        foreign("this is packed with bzip2", "bzip2 -dc FILE |"),
    ),
    (
        b"k8s\x00",
        foreign("this is in the binary form of Kubernetes", GET),
    ),
];

const GZIP: Foreign = foreign(
    "this is packed with gzip",
    "tar -xzf FILE, and pass its directory; or: gzip -dc FILE |",
);

/// Where a tar archive has its name.
const TAR: std::ops::Range<usize> = 257..262;

/// What a binary file is; `None` if it may be a text.
pub(super) fn foreign_bytes(bytes: &[u8]) -> Option<Foreign> {
    let mut packed = PACKED.iter();
    if let Some((_, foreign)) = packed.find(|(start, _)| bytes.starts_with(start)) {
        return Some(*foreign);
    }
    if bytes.get(TAR) == Some(b"ustar") {
        return Some(foreign(
            "this is a tar archive",
            "tar -xf FILE, and pass its directory",
        ));
    }
    let has_mark = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let start = &bytes[..bytes.len().min(1024)];
    (!has_mark && start.contains(&0)).then_some(foreign("this is a binary file", GET))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_known_by_their_shape() {
        for (text, what) in [
            ("NAME    READY   STATUS\nweb-1   1/1     Running\n", "table"),
            ("\nNAMESPACE   NAME\nshop   web\n", "table"),
            (
                "LAST SEEN   TYPE      REASON\n2m   Warning   BackOff\n",
                "table",
            ),
            ("NAME   UP-TO-DATE   AVAILABLE\n", "table"),
            (
                "Name:         web\nNamespace:    shop\nLabels:       <none>\n",
                "describe",
            ),
            (
                "Error from server (Forbidden): pods is forbidden\n",
                "error message",
            ),
            ("No resources found in shop namespace.\n", "found nothing"),
            ("pod/web-1\ndeployment.apps/web\n", "names"),
            ("<!DOCTYPE html>\n<html>\n", "web page"),
            ("NAME: web\n", ""),
            ("name: web\nversion: 1\n", ""),
            ("2026-11-25T10:00:00Z INFO started\n", ""),
            ("", ""),
        ] {
            let found = foreign_text(text).map_or("", |foreign| foreign.what);
            assert!(
                found.contains(what) && found.is_empty() == what.is_empty(),
                "{text}: {found}"
            );
        }
    }

    #[test]
    fn archives_are_known_by_their_first_bytes() {
        let mut tar = vec![b'a'; 512];
        tar[TAR].copy_from_slice(b"ustar");
        for (bytes, what) in [
            (&b"\x1f\x8b\x08\x00"[..], "gzip"),
            (b"PK\x03\x04\x14", "zip archive"),
            (&tar, "tar"),
            (b"SQLite format 3\x00", "binary"),
            (b"kind: Pod\n", ""),
            (b"\xff\xfek\x00", ""),
            (b"", ""),
        ] {
            let found = foreign_bytes(bytes).map_or("", |foreign| foreign.what);
            assert!(
                found.contains(what) && found.is_empty() == what.is_empty(),
                "{what}: {found}"
            );
        }
    }
}
