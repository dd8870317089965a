//! `--by`, `--people` and `--owned`: whose versions are shown.

use super::by::{ManagerFilter, ManagerPattern};

/// The flags about the managers that wrote a version.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct WriterArgs {
    /// Show only changes by this field manager, for example kubectl-edit or 'kubectl*'; repeat for
    /// several
    #[arg(long, value_name = "MANAGER")]
    by: Vec<ManagerPattern>,
    /// Leave out the work of controllers, but not what GitOps tools write
    #[arg(long, conflicts_with = "by")]
    people: bool,
    /// Without TYPE: also show owned objects, status reports and all Events (default: one counted line
    /// for each owner)
    #[arg(long)]
    owned: bool,
}

impl WriterArgs {
    /// The managers whose versions are shown.
    pub(super) fn managers(&self) -> ManagerFilter {
        match &self.by[..] {
            _ if self.people => ManagerFilter::People,
            [] => ManagerFilter::Everyone,
            names => ManagerFilter::Named(names.to_vec()),
        }
    }

    /// Whether the flags name versions that a timeline folds by default.
    pub(super) fn are_chosen(&self) -> bool {
        self.owned || !self.by.is_empty()
    }
}
