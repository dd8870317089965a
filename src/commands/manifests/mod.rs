//! `ObjectRequest`: the objects that a verb requests, the same in each cluster. With `-f`, `-R`, `-k` and `helm:RELEASE`, they
//! are those that manifests name.

mod helm;
mod manifest_resolver;
mod read;
#[cfg(test)]
mod tests;

use super::input::refuse_urls;
use super::{CommandError, Context, ObjectArgs, Subject};
pub(crate) use helm::{ReleasePlace, release_names, release_targets};
pub(crate) use manifest_resolver::{ManifestResolver, ResolvedTargets};
use read::Manifest;

/// The arguments of a verb, with the manifests that they name.
pub(crate) struct ObjectRequest {
    /// The arguments.
    pub(crate) args: ObjectArgs,
    /// The verb, for messages.
    pub(crate) verb: &'static str,
    /// The manifests, if the arguments name any.
    pub(crate) manifests: Option<Vec<Manifest>>,
    /// Whether the user passed a namespace with `-n`.
    pub(crate) names_namespace: bool,
}

impl ObjectRequest {
    /// Reads the manifests that the arguments name. Standard input can be read only once.
    pub(crate) async fn read(
        args: &ObjectArgs,
        verb: &'static str,
        context: &mut Context<'_>,
    ) -> Result<ObjectRequest, CommandError> {
        let manifests = match args.subject() {
            Subject::Manifests => Some(manifests(args, context).await?),
            Subject::Releases | Subject::Words | Subject::Unnamed => None,
        };
        Ok(ObjectRequest {
            args: args.clone(),
            verb,
            manifests,
            names_namespace: context.origin.names_namespace(),
        })
    }
}

/// Reads the manifests of `-f` or `-k`.
async fn manifests(
    args: &ObjectArgs,
    context: &mut Context<'_>,
) -> Result<Vec<Manifest>, CommandError> {
    check(args)?;
    match &args.manifests.kustomize {
        Some(directory) => read::kustomization(directory, context.env).await,
        None => read::files(&args.manifests, context).await,
    }
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
