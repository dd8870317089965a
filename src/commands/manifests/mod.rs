//! `-f`, `-R` and `-k`, and `helm:RELEASE`: resolves manifests to the objects that they name.

mod args;
mod helm;
mod named;
mod read;
mod release;
#[cfg(test)]
mod tests;

use super::{CommandError, Context, ObjectArgs};
use crate::cluster::{Filters, Namespaces, Resolver, Target};
use crate::object::without_secrets;

pub(crate) use args::{ManifestArgs, RELEASE_PREFIX, is_release};
pub(crate) use helm::{ReleasePlace, release_names, release_targets};
pub(crate) use named::ManifestPlace;
use named::Naming;

impl ManifestArgs {
    /// Refuses flags that kubectl does not accept together, with kubectl's message.
    fn check(&self, args: &ObjectArgs) -> Result<(), CommandError> {
        let is_stdin = |path: &&str| *path == "-";
        let paths = self.filename.iter().map(String::as_str);
        let inputs = paths.chain(args.source.from.as_deref()).filter(is_stdin);
        let is_about_fields = args
            .field_selector
            .as_ref()
            .is_some_and(|text| !text.is_empty());
        let url = self.filename.iter().find(|path| is_url(path));
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
            () => match url {
                None => return Ok(()),
                Some(url) => {
                    let url = without_secrets(url);
                    let error =
                        CommandError::failed(format!("error: {url}: URLs are not supported"));
                    return Err(error.hint("fetch it first: curl -sSfL URL | kubectl spy … -f -"));
                }
            },
        };
        Err(CommandError::usage(wrong))
    }
}

fn is_url(path: &str) -> bool {
    path.starts_with("http://") || path.starts_with("https://")
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
    naming.targets(&manifests).await
}
