//! The values of `-o`, and what they have in common.

use clap::ValueEnum;

use crate::commands::Output;
use crate::diff::Redactor;

/// The values of `-o`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A line a change, with its path
    #[default]
    Paths,
    /// The object's JSON: changed lines marked, the rest left out and counted
    Tree,
    /// The object's JSON: changed lines marked, nothing left out
    Full,
    /// A unified diff of the object's YAML, for pagers such as delta
    Diff,
    /// A record a line, for programs
    Json,
    /// Each version shown, whole, as a YAML document
    Yaml,
    /// The name of each version's object, as kubectl's -o name
    Name,
    /// A JSON Patch (RFC 6902) a line, from each version to the next, noise included
    JsonPatch,
    /// A JSON Merge Patch (RFC 7396) a line, from each version to the next, noise included
    MergePatch,
}

/// For whom a format is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// People: lines, each version under a heading.
    Person,
    /// Programs that read records.
    Records,
    /// Programs that read versions, and nothing else on standard output.
    Documents,
}

impl Format {
    pub(super) fn reader(self) -> Reader {
        match self {
            Format::Paths | Format::Tree | Format::Full | Format::Diff => Reader::Person,
            Format::Json => Reader::Records,
            Format::Yaml | Format::Name | Format::JsonPatch | Format::MergePatch => {
                Reader::Documents
            }
        }
    }

    /// How it is written.
    pub(super) fn output(self) -> Output {
        match self.reader() {
            Reader::Person => Output::Text,
            Reader::Records | Reader::Documents => Output::Lines,
        }
    }

    /// What lets the values of Secrets through, for those who ask: decoded to be read, and as they are
    /// stored where they are to be applied.
    pub(super) fn revealing(self) -> Redactor {
        match self.reader() {
            Reader::Person => Redactor::revealing(),
            Reader::Records | Reader::Documents => Redactor::unchanged(),
        }
    }
}
