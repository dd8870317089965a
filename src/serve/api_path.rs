//! `ApiPath`: the paths for programs, their parameters and their answers. The routes, the checks of parameters and the `OpenAPI`
//! document come from it.

/// A path for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiPath {
    /// The states of objects.
    Status,
    /// The states of packages.
    Packages,
    /// The followed sources.
    Watches,
    /// What an object is connected to.
    Trace,
    /// What changed in objects.
    Changes,
    /// What containers printed.
    Logs,
    /// Each change of state as an event.
    Events,
    /// The description of all paths.
    OpenApi,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiAnswer {
    /// Records of this schema in docs/schema, one on each line.
    Records(&'static str),
    /// Server-Sent Events.
    Events,
    /// One JSON document.
    Document,
}

impl ApiPath {
    /// All paths, in the order of the document.
    pub const ALL: [ApiPath; 8] = [
        ApiPath::Status,
        ApiPath::Packages,
        ApiPath::Watches,
        ApiPath::Trace,
        ApiPath::Changes,
        ApiPath::Logs,
        ApiPath::Events,
        ApiPath::OpenApi,
    ];

    /// Its name: the last part of the path.
    pub fn name(self) -> &'static str {
        match self {
            ApiPath::Status => "status",
            ApiPath::Packages => "packages",
            ApiPath::Watches => "watches",
            ApiPath::Trace => "trace",
            ApiPath::Changes => "changes",
            ApiPath::Logs => "logs",
            ApiPath::Events => "events",
            ApiPath::OpenApi => "openapi.json",
        }
    }

    /// The whole path.
    pub fn path(self) -> String {
        format!("/spy/v1/{}", self.name())
    }

    /// What it answers, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            ApiPath::Status => {
                "The states of the followed objects, as status --once -o json prints them"
            }
            ApiPath::Packages => "The states of packages",
            ApiPath::Watches => "The followed sources and their states",
            ApiPath::Trace => "What objects are connected to, as trace --once -o json prints it",
            ApiPath::Changes => "What changed in objects, as changes --once -o json prints it",
            ApiPath::Logs => "What containers printed, as logs -o json prints it",
            ApiPath::Events => "The present states, then each change of state",
            ApiPath::OpenApi => "This document",
        }
    }

    /// The parameters with a value. Those of a verb have the names of its flags.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            ApiPath::Status | ApiPath::Events => &["cluster", "namespace", "object"],
            ApiPath::Packages => &["cluster", "namespace", "package", "tool", "status"],
            ApiPath::Watches => &["cluster"],
            ApiPath::OpenApi => &[],
            ApiPath::Trace => &[
                "cluster",
                "object",
                "namespace",
                "selector",
                "at",
                "depth",
                "relations",
            ],
            ApiPath::Changes => &[
                "cluster",
                "object",
                "namespace",
                "selector",
                "since",
                "since-rv",
                "count",
                "only",
                "ignore",
                "by",
                "list-key",
            ],
            ApiPath::Logs => &[
                "cluster",
                "object",
                "namespace",
                "selector",
                "container",
                "since",
                "since-time",
                "tail",
                "grep",
                "not",
                "level",
                "state",
                "with",
            ],
        }
    }

    /// The parameters without a value.
    pub fn switches(self) -> &'static [&'static str] {
        match self {
            ApiPath::Status => &["unhealthy", "explain"],
            ApiPath::Events => &["unhealthy"],
            ApiPath::Packages | ApiPath::Watches | ApiPath::OpenApi => &[],
            ApiPath::Trace => &["all-namespaces", "up", "down", "explain"],
            ApiPath::Changes => &["all-namespaces", "people", "owned"],
            ApiPath::Logs => &["all-namespaces", "previous", "current-revision"],
        }
    }

    /// All parameters.
    pub fn parameters(self) -> Vec<&'static str> {
        [self.values(), self.switches()].concat()
    }

    /// The form of the answer.
    pub fn answer(self) -> ApiAnswer {
        match self {
            ApiPath::Status => ApiAnswer::Records("status"),
            ApiPath::Packages => ApiAnswer::Records("packages"),
            ApiPath::Watches => ApiAnswer::Records("watches"),
            ApiPath::Trace => ApiAnswer::Records("trace"),
            ApiPath::Changes => ApiAnswer::Records("changes"),
            ApiPath::Logs => ApiAnswer::Records("logs"),
            ApiPath::Events => ApiAnswer::Events,
            ApiPath::OpenApi => ApiAnswer::Document,
        }
    }
}
