//! `ChangesFormat`: the values of `-o`. A new format is one file that implements [`Format`], and a line in [`ChangesFormat::format`].

mod json;
mod markdown;
mod patches;
mod paths;
mod short;
mod text;
mod tree;
mod unified;
mod version_view;
mod yaml;

use clap::ValueEnum;

use super::output::Rendered;
use crate::commands::Output;
use crate::commands::versions::Compared;
use crate::diff::Redactor;
use crate::render::diff::Extent;
pub(super) use json::{notice_record, unreadable_record};
pub(super) use version_view::VersionView;

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
    /// A Markdown list for reports: an item for each version, with its changes
    Markdown,
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

/// What a format makes of versions.
pub(super) trait Format {
    fn audience(&self) -> Audience;

    /// Whether it prints a version.
    fn prints(&self, compared: &Compared<'_>) -> bool {
        compared.is_shown()
    }

    /// A version that it prints.
    fn version(&self, view: &VersionView<'_>) -> Rendered;
}

impl ChangesFormat {
    pub(super) fn format(self) -> &'static dyn Format {
        match self {
            ChangesFormat::Paths => &paths::Paths,
            ChangesFormat::Short => &short::Short,
            ChangesFormat::Tree => &tree::Tree(Extent::Changed),
            ChangesFormat::Full => &tree::Tree(Extent::Whole),
            ChangesFormat::Diff => &unified::Unified,
            ChangesFormat::Json => &json::Json,
            ChangesFormat::Yaml => &yaml::Yaml,
            ChangesFormat::Name => &yaml::Name,
            ChangesFormat::Markdown => &markdown::Markdown,
            ChangesFormat::JsonPatch => &patches::Patches::Json,
            ChangesFormat::MergePatch => &patches::Patches::Merge,
        }
    }

    pub(super) fn audience(self) -> Audience {
        self.format().audience()
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
