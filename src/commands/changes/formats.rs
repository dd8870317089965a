//! `ChangesFormat`: the values of `-o`, and who reads each of them.

use clap::ValueEnum;

use crate::commands::Output;
use crate::diff::Redactor;

/// The values of `-o`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ChangesFormat {
    /// One line for each change, with its path
    #[default]
    Paths,
    /// One line for each version: its writer and its main change
    Short,
    /// The object as JSON: changed lines are marked, other parts are left out and counted
    Tree,
    /// The object as JSON: changed lines are marked, nothing is left out
    Full,
    /// A unified diff of the object's YAML, for pagers such as delta
    Diff,
    /// One JSON record per line, for programs
    Json,
    /// Every shown version as a whole YAML document
    Yaml,
    /// The object's name for every shown version, in the form of kubectl's -o name
    Name,
    /// One JSON Patch (RFC 6902) per line, from each version to the next, noise included
    JsonPatch,
    /// One JSON Merge Patch (RFC 7396) per line, from each version to the next, noise included
    MergePatch,
}

/// The reader of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// People: lines, each version under a heading.
    Person,
    /// Programs that read records.
    Records,
    /// Programs that read versions. Standard output has nothing else.
    Documents,
}

impl ChangesFormat {
    pub(super) fn audience(self) -> Audience {
        match self {
            ChangesFormat::Paths
            | ChangesFormat::Short
            | ChangesFormat::Tree
            | ChangesFormat::Full
            | ChangesFormat::Diff => Audience::Person,
            ChangesFormat::Json => Audience::Records,
            ChangesFormat::Yaml
            | ChangesFormat::Name
            | ChangesFormat::JsonPatch
            | ChangesFormat::MergePatch => Audience::Documents,
        }
    }

    /// Whether it may have a live frame.
    pub(super) fn output(self) -> Output {
        match self.audience() {
            Audience::Person => Output::Text,
            Audience::Records | Audience::Documents => Output::Lines,
        }
    }

    /// The redactor of `--show-secrets`. For people it decodes Secret values; for programs it leaves them as they are stored,
    /// so that output can be applied.
    pub(super) fn revealing(self) -> Redactor {
        match self.audience() {
            Audience::Person => Redactor::revealing(),
            Audience::Records | Audience::Documents => Redactor::unchanged(),
        }
    }
}
