//! `ManifestArgs`: the flags `-f`, `-R` and `-k`, and the arguments that name releases.

use clap::Args;

/// The flags about manifests.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ManifestArgs {
    /// Show the objects that these manifests name: a file, a directory, a quoted pattern such as
    /// 'k8s/*.yaml', or - for standard input; repeat for several
    #[arg(short = 'f', long, value_name = "FILE", value_delimiter = ',')]
    pub(super) filename: Vec<String>,
    /// With -f: read subdirectories too
    #[arg(short = 'R', long)]
    pub(super) recursive: bool,
    /// Show the objects that this kustomization names; needs kubectl, which builds it
    #[arg(short = 'k', long, value_name = "DIR")]
    pub(super) kustomize: Option<String>,
}

/// What stands before the name of a release in an argument.
pub(crate) const RELEASE_PREFIX: &str = "helm:";

/// Whether an argument names a release: `helm:web`.
pub(crate) fn is_release(word: &str) -> bool {
    word.starts_with(RELEASE_PREFIX)
}

impl ManifestArgs {
    /// Whether the command line has `-f` or `-k`.
    pub(crate) fn are_given(&self) -> bool {
        !self.filename.is_empty() || self.kustomize.is_some()
    }
}
