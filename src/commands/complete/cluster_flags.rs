//! The flags of a line that choose the cluster, and the names in the kubeconfig.

use std::iter::once;

use clap::{Args, Command, FromArgMatches};

use super::line::{GivenFlag, TypedLine};
use super::offer::Offer;
use super::value_sort::ValueSort;
use crate::cluster::{Ambient, KubeconfigNames};
use crate::commands::{ClusterArgs, Context};

/// The cluster flags of a line. A flag that has no valid value yet counts as absent.
pub(super) fn cluster_args(line: &TypedLine<'_>) -> ClusterArgs {
    let flags = line.flags.iter().filter(|given| given.arg.is_global_set());
    let words = once("kubectl-spy".to_owned()).chain(flags.filter_map(as_typed));
    let cli = Command::new("kubectl-spy")
        .args_override_self(true)
        .ignore_errors(true);
    let matches = ClusterArgs::augment_args(cli).try_get_matches_from(words);
    let args = matches.and_then(|matches| ClusterArgs::from_arg_matches(&matches));
    args.unwrap_or_default()
}

/// A flag as one word. A switch has no value here.
fn as_typed(given: &GivenFlag<'_>) -> Option<String> {
    let long = given.arg.get_long()?;
    match given.value {
        _ if !given.arg.is_require_equals_set() => {
            Some(format!("--{long}={}", given.value.unwrap_or_default()))
        }
        Some("false") => None,
        Some(_) | None => Some(format!("--{long}")),
    }
}

/// The names of a sort in the kubeconfig.
pub(super) fn names(line: &TypedLine<'_>, sort: ValueSort, context: &Context<'_>) -> Vec<Offer> {
    let ambient = Ambient::from_lookup(|name| context.env.path(name).map(Into::into));
    let names = KubeconfigNames::read(&ambient, &cluster_args(line).overrides);
    let names = names.unwrap_or_default();
    let plain = |names: Vec<String>| names.into_iter().map(|name| Offer::new(name, "")).collect();
    match sort {
        ValueSort::Cluster => plain(names.clusters),
        ValueSort::User => plain(names.users),
        _ => {
            let contexts = names.contexts.into_iter();
            let offers = contexts.map(|context| {
                let namespace = match &*context.namespace {
                    "" => String::new(),
                    namespace => format!(", namespace {namespace}"),
                };
                let about = format!("cluster {}{namespace}", context.cluster);
                Offer::new(context.name, about)
            });
            offers.collect()
        }
    }
}
