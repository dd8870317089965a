//! `-f`, `-R` and `-k`.

use clap::Args;

/// Manifests that name objects.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ManifestArgs {
    /// Look at the objects that manifests name: a file, a directory of .json, .yaml and .yml files, or
    /// - for stdin; may be repeated
    #[arg(short = 'f', long, value_name = "FILE", value_delimiter = ',')]
    pub(super) filename: Vec<String>,
    /// With -f: read the directories in a directory, too
    #[arg(short = 'R', long)]
    pub(super) recursive: bool,
    /// Look at the objects that a kustomization makes, as kubectl kustomize builds it
    #[arg(short = 'k', long, value_name = "DIR")]
    pub(super) kustomize: Option<String>,
}

impl ManifestArgs {
    /// Whether there are any.
    pub(crate) fn are_given(&self) -> bool {
        !self.filename.is_empty() || self.kustomize.is_some()
    }
}
