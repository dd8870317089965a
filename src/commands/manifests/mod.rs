//! `-f`, `-R` and `-k`, and `helm:RELEASE`: resolves manifests to the objects that they name.

mod helm;
mod named;
mod read;
#[cfg(test)]
mod tests;

use super::input::refuse_urls;
use super::{CommandError, Context, ObjectArgs};
use crate::cluster::Target;
pub(crate) use helm::{ReleasePlace, release_names, release_targets};
pub(crate) use named::ManifestPlace;
use named::Naming;

/// The targets of the manifests in `args`: one for each type and namespace, in the order of their first object.
pub(crate) async fn targets(
    args: &ObjectArgs,
    place: &ManifestPlace<'_>,
    verb: &str,
    context: &mut Context<'_>,
) -> Result<Vec<Target>, CommandError> {
    check(args)?;
    let manifests = match &args.manifests.kustomize {
        Some(directory) => read::kustomization(directory, context.env).await?,
        None => read::files(&args.manifests, context).await?,
    };
    let naming = Naming {
        place,
        labels: args.labels()?,
        verb,
    };
    let (targets, errors) = naming.targets(&manifests).await?;
    context.unread.add_manifest(errors, 0);
    Ok(targets)
}

/// Refuses flags that kubectl does not accept together, with kubectl's message.
fn check(args: &ObjectArgs) -> Result<(), CommandError> {
    let manifests = &args.manifests;
    let is_stdin = |path: &&str| *path == "-";
    let paths = manifests.filename.iter().map(String::as_str);
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
        () if manifests.kustomize.is_some() && !manifests.filename.is_empty() => {
            "only one of -f or -k can be specified"
        }
        () if manifests.kustomize.is_some() && manifests.recursive => {
            "the -k flag can't be used with -f or -R"
        }
        () if inputs.count() > 1 => "standard input cannot be used for multiple arguments",
        () if is_about_fields => {
            "manifests name objects: --field-selector cannot be used with them"
        }
        () => return refuse_urls(&manifests.filename, "-f"),
    };
    Err(CommandError::usage(wrong))
}
