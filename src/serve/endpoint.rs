//! `Endpoint`: the paths for programs, their parameters and their answers. The routes, the checks of parameters and the OpenAPI
//! document come from it.

/// A path for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
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
pub enum AnswerForm {
    /// Records of this schema in docs/schema, one on each line.
    Records(&'static str),
    /// Server-Sent Events.
    Events,
    /// One JSON document.
    Document,
}

impl Endpoint {
    /// All paths, in the order of the document.
    pub const ALL: [Endpoint; 8] = [
        Endpoint::Status,
        Endpoint::Packages,
        Endpoint::Watches,
        Endpoint::Trace,
        Endpoint::Changes,
        Endpoint::Logs,
        Endpoint::Events,
        Endpoint::OpenApi,
    ];

    /// Its name: the last part of the path.
    pub fn name(self) -> &'static str {
        match self {
            Endpoint::Status => "status",
            Endpoint::Packages => "packages",
            Endpoint::Watches => "watches",
            Endpoint::Trace => "trace",
            Endpoint::Changes => "changes",
            Endpoint::Logs => "logs",
            Endpoint::Events => "events",
            Endpoint::OpenApi => "openapi.json",
        }
    }

    /// The whole path.
    pub fn path(self) -> String {
        format!("/spy/v1/{}", self.name())
    }

    /// What it answers, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Endpoint::Status => "The states of the followed objects, as status --once -o json prints them",
            Endpoint::Packages => "The states of packages",
            Endpoint::Watches => "The followed sources and their states",
            Endpoint::Trace => "What objects are connected to, as trace --once -o json prints it",
            Endpoint::Changes => "What changed in objects, as changes --once -o json prints it",
            Endpoint::Logs => "What containers printed, as logs -o json prints it",
            Endpoint::Events => "The present states, then each change of state",
            Endpoint::OpenApi => "This document",
        }
    }

    /// The parameters with a value. Those of a verb have the names of its flags.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            Endpoint::Status | Endpoint::Events => &["namespace", "object"],
            Endpoint::Packages => &["namespace", "package", "tool", "status"],
            Endpoint::Watches | Endpoint::OpenApi => &[],
            Endpoint::Trace => &["object", "namespace", "selector", "depth", "relations"],
            Endpoint::Changes => &[
                "object", "namespace", "selector", "since", "since-rv", "count", "only", "ignore",
                "by", "list-key",
            ],
            Endpoint::Logs => &[
                "object", "namespace", "selector", "container", "since", "since-time", "tail",
                "grep", "not", "level", "state", "with",
            ],
        }
    }

    /// The parameters without a value.
    pub fn switches(self) -> &'static [&'static str] {
        match self {
            Endpoint::Status => &["unhealthy", "explain"],
            Endpoint::Events => &["unhealthy"],
            Endpoint::Packages | Endpoint::Watches | Endpoint::OpenApi => &[],
            Endpoint::Trace => &["all-namespaces", "up", "down", "explain"],
            Endpoint::Changes => &["all-namespaces", "people", "owned"],
            Endpoint::Logs => &["all-namespaces", "previous", "current-revision"],
        }
    }

    /// All parameters.
    pub fn parameters(self) -> Vec<&'static str> {
        [self.values(), self.switches()].concat()
    }

    /// The form of the answer.
    pub fn answer(self) -> AnswerForm {
        match self {
            Endpoint::Status => AnswerForm::Records("status"),
            Endpoint::Packages => AnswerForm::Records("packages"),
            Endpoint::Watches => AnswerForm::Records("watches"),
            Endpoint::Trace => AnswerForm::Records("trace"),
            Endpoint::Changes => AnswerForm::Records("changes"),
            Endpoint::Logs => AnswerForm::Records("logs"),
            Endpoint::Events => AnswerForm::Events,
            Endpoint::OpenApi => AnswerForm::Document,
        }
    }
}
