//! `-f`, `-R` and `-k`, and `helm:RELEASE`: resolves manifests to the objects that they name.

mod helm;
mod named;
mod read;
#[cfg(test)]
mod tests;

use clap::Args;

use super::input::refuse_urls;
use super::{CommandError, Context, ObjectArgs};
use crate::cluster::{Filters, Namespaces, Resolver, Target};
pub(crate) use helm::{ReleasePlace, release_names, release_targets};
pub(crate) use named::ManifestPlace;
use named::Naming;

impl ManifestArgs {
    /// The flags of a verb that spells them in its own way.
    pub(crate) fn new(
        filename: &[String],
        recursive: bool,
        kustomize: Option<&String>,
    ) -> ManifestArgs {
        ManifestArgs {
            filename: filename.to_vec(),
            recursive,
            kustomize: kustomize.cloned(),
        }
    }

    /// Refuses flags that kubectl does not accept together, with kubectl's message.
    fn check(&self, args: &ObjectArgs) -> Result<(), CommandError> {
        let is_stdin = |path: &&str| *path == "-";
        let paths = self.filename.iter().map(String::as_str);
        let inputs = paths
            .chain(args.source.from.iter().map(String::as_str))
            .filter(is_stdin);
        let is_about_fields = args
            .field_selector
            .as_ref()
            .is_some_and(|text| !text.is_empty());
        let wrong = match () {
            () if args.objects.iter().any(|object| object.contains('/')) => {
                "resource/name arguments cannot be provided when a path is specified"
            }
            () if !args.objects.is_empty() => {
                "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
            }
            () if self.kustomize.is_some() && !self.filename.is_empty() => {
                "only one of -f or -k can be specified"
            }
            () if self.kustomize.is_some() && self.recursive => {
                "the -k flag can't be used with -f or -R"
            }
            () if inputs.count() > 1 => "standard input cannot be used for multiple arguments",
            () if is_about_fields => {
                "manifests name objects: --field-selector cannot be used with them"
            }
            () => return refuse_urls(&self.filename, "-f"),
        };
        Err(CommandError::usage(wrong))
    }

    /// Whether the command line has `-f` or `-k`.
    pub(crate) fn are_given(&self) -> bool {
        !self.filename.is_empty() || self.kustomize.is_some()
    }
}

/// The targets of the manifests in `args`: one for each type and namespace, in the order of their first object.
pub(crate) async fn targets(
    args: &ObjectArgs,
    (resolver, filters): (&Resolver, &Filters),
    place: &ManifestPlace,
    (verb, context): (&str, &mut Context<'_>),
) -> Result<Vec<Target>, CommandError> {
    args.manifests.check(args)?;
    let manifests = match &args.manifests.kustomize {
        Some(directory) => read::kustomization(directory, context.env).await?,
        None => read::files(&args.manifests, context).await?,
    };
    let naming = Naming {
        resolver,
        place,
        everywhere: filters.namespaces == Namespaces::All,
        labels: args.labels()?,
        verb,
    };
    let (targets, errors) = naming.targets(&manifests).await?;
    context.unread.add_manifest(errors, 0);
    Ok(targets)
}

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
