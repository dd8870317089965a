//! The formats, and which rows and columns the tables have.

use super::package_documents::{MemberList, PackageForm};
use super::rows::{StatusRow, StatusRows};

/// The values of `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StatusFormat {
    /// A live table; without a terminal, one line for each change of state
    #[default]
    Text,
    /// The same with all columns, however narrow the terminal is
    Wide,
    /// One JSON record per line, for each change of state
    Json,
    /// Each requested object as a YAML document, again for each change of state
    Yaml,
    /// The name of each requested object in the form of kubectl's -o name, again for each change of state
    Name,
    /// The state of each requested package as the status of a resourcegroup, for kubectl apply --subresource=status
    #[value(name = "resourcegroup")]
    ResourceGroup,
    /// The same as a configmap
    #[value(name = "configmap")]
    ConfigMap,
}

impl StatusFormat {
    /// Whether people read it: then there may be a live frame.
    pub(super) fn is_for_people(self) -> bool {
        match self {
            StatusFormat::Text | StatusFormat::Wide => true,
            StatusFormat::Json
            | StatusFormat::Yaml
            | StatusFormat::Name
            | StatusFormat::ResourceGroup
            | StatusFormat::ConfigMap => false,
        }
    }

    /// Which columns a table has in this format.
    pub(super) fn detail(self) -> Detail {
        match self {
            StatusFormat::Wide => Detail::Whole,
            StatusFormat::Text
            | StatusFormat::Json
            | StatusFormat::Yaml
            | StatusFormat::Name
            | StatusFormat::ResourceGroup
            | StatusFormat::ConfigMap => Detail::Fitted,
        }
    }

    /// The form of documents of packages; `None` for other formats.
    pub(super) fn package_form(self) -> Option<PackageForm> {
        match self {
            StatusFormat::ResourceGroup => Some(PackageForm::ResourceGroup),
            StatusFormat::ConfigMap => Some(PackageForm::ConfigMap),
            StatusFormat::Text
            | StatusFormat::Wide
            | StatusFormat::Json
            | StatusFormat::Yaml
            | StatusFormat::Name => None,
        }
    }
}

/// Which rows and columns to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowOptions {
    pub(super) idle: Idle,
    pub(super) health: HealthFilter,
    pub(super) titles: Titles,
    pub(super) detail: Detail,
    pub(super) members: MemberList,
    /// Whether the rules behind the state are below each row.
    pub(super) explains: bool,
}

/// How to show `ReplicaSet`s that are kept for rollback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Idle {
    /// Only their number is shown.
    #[default]
    Counted,
    /// Each has a row.
    Shown,
}

/// Which objects to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HealthFilter {
    /// All of them.
    #[default]
    Any,
    /// Those that are not Current.
    Unhealthy,
}

/// Whether a table has titles above its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Titles {
    #[default]
    Shown,
    /// It has none, and no line with the counts.
    Hidden,
}

/// Which columns a table has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// Those that fit the terminal.
    #[default]
    Fitted,
    /// All of them.
    Whole,
}

impl HealthFilter {
    /// Whether an object is shown. One that is well is if something that changed takes away what it did before.
    pub(super) fn includes(self, row: &StatusRow<'_>) -> bool {
        match self {
            HealthFilter::Any => true,
            HealthFilter::Unhealthy => !row.assessment.is_well() || !row.last_changes.is_empty(),
        }
    }

    /// Whether an object has a row for its own sake. One that is gone needs no help, unless the user named it.
    pub(super) fn shows(self, row: &StatusRow<'_>) -> bool {
        self.includes(row) && (self == HealthFilter::Any || !row.is_over())
    }

    /// The rows without those of objects that are gone, if only the unhealthy ones are of interest. An owner stays above the
    /// rows that it has left.
    pub(super) fn without_departed(self, mut rows: StatusRows<'_>) -> StatusRows<'_> {
        if self == HealthFilter::Any {
            return rows;
        }
        rows.shown.reverse();
        let mut below = 0;
        rows.shown.retain(|row| {
            let is_kept = !row.is_over() || row.depth < below;
            if is_kept {
                below = row.depth;
            }
            is_kept
        });
        rows.shown.reverse();
        rows
    }

    /// The rows to show: those of the included objects, and of the owners above them.
    pub(super) fn select(self, rows: StatusRows<'_>) -> StatusRows<'_> {
        if self == HealthFilter::Any {
            return rows;
        }
        let mut shown = Vec::new();
        // The depth of the first row that is shown so far. A row of a lower depth before it is its owner.
        let mut first = 0;
        for row in rows.shown.into_iter().rev() {
            if self.shows(&row) || row.depth < first {
                first = row.depth;
                shown.push(row);
            }
        }
        shown.reverse();
        shown.into()
    }
}
