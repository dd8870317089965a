//! `ValueSort`: what sort of value a flag takes.

use clap::Arg;

/// What sort of value a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueSort {
    /// One of the values that the flag itself lists.
    Choice,
    Namespace,
    Context,
    Cluster,
    User,
    /// A label selector.
    Labels,
    /// A field selector.
    Fields,
    /// A field manager.
    Manager,
    /// A path in an object.
    Path,
    /// A `JSONPath` to a field of an object.
    JsonPath,
    /// How far back `changes` starts.
    Since,
    /// A time limit.
    Timeout,
    /// What `-v` logs.
    Verbosity,
    /// A goal of `--for`.
    Goal,
    Relation,
    File,
    Directory,
    /// Anything else.
    Free,
}

impl ValueSort {
    /// The sort of a flag's value. A flag that is new and not in this table takes a [`ValueSort::Free`] value.
    pub(super) fn of(arg: &Arg) -> ValueSort {
        match arg.get_long().unwrap_or_default() {
            "namespace" => ValueSort::Namespace,
            "context" => ValueSort::Context,
            "cluster" => ValueSort::Cluster,
            "user" => ValueSort::User,
            "selector" => ValueSort::Labels,
            "field-selector" => ValueSort::Fields,
            "by" => ValueSort::Manager,
            "only" | "ignore" => ValueSort::Path,
            "sort-by" => ValueSort::JsonPath,
            "since" => ValueSort::Since,
            "timeout" | "request-timeout" => ValueSort::Timeout,
            "v" => ValueSort::Verbosity,
            "for" => ValueSort::Goal,
            "relations" => ValueSort::Relation,
            "kubeconfig"
            | "kuberc"
            | "certificate-authority"
            | "client-certificate"
            | "client-key"
            | "filename"
            | "from" => ValueSort::File,
            "cache-dir" | "kustomize" => ValueSort::Directory,
            _ if arg.get_possible_values().is_empty() => ValueSort::Free,
            _ => ValueSort::Choice,
        }
    }
}
