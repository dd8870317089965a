//! Everything that talks to a cluster: the kubeconfig, the client, discovery, and the resources that arguments
//! name.

mod arguments;
mod cache;
mod client;
mod discovery;
mod kubeconfig;
mod object_rows;
mod openapi;
pub(crate) mod program;
mod request_path;
#[cfg(test)]
pub(crate) mod testing;
mod type_word;

use std::sync::Arc;

use serde::Deserialize;

use crate::object::excerpt;

pub use arguments::{
    ArgumentError, Arguments, Filters, NamedType, Names, Namespaces, Target, TargetError,
    parse as parse_arguments,
};
pub(crate) use client::{ApiRequest, LogDetail, RawAnswer, RequestLog, ResponseBody, platform};
pub use client::{Client, Clock, Limits, RequestError};
pub(crate) use discovery::TypeCache;
pub use discovery::{Discovery, ResolveError, Resolver, TypePlace};
pub use kubeconfig::{
    Ambient, ClusterConfig, ConfigError, ContextArgs, Credentials, Impersonate, Overrides,
};
pub(crate) use kubeconfig::{ContextConfig, KubeconfigNames, PluginRun, os_words};
pub(crate) use object_rows::{
    ObjectRow, RowsPage, list_metadata, namespaces_with, object_rows, similar_names, uid_of,
};
pub(crate) use openapi::OpenApi;
pub(crate) use request_path::RequestPath;
pub use request_path::{InvalidPart, PathSegment};
pub use type_word::TypeWord;

/// The part of a `Status` object (meta/v1) that this program uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ApiStatus {
    /// The HTTP status code. A watch has one too: 410 for a version that is too old.
    pub code: u16,
    /// One CamelCase word, such as `Forbidden`. Empty if the server sent none.
    pub reason: String,
    /// The server's message.
    pub message: String,
}

/// A request that the server answered with an error. Its `Display` is exactly kubectl's line: `Error from server
/// (NotFound): deployments.apps "web" not found`. Refused credentials have a different line: `error: You must be
/// logged in to the server (Unauthorized)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", line(.status))]
pub struct ApiError {
    /// The verb of the request: `get`, `list` or `watch`.
    pub verb: &'static str,
    /// The resource of the request: `deployments.apps`.
    pub resource: Arc<str>,
    /// The namespace of the request, if it has one.
    pub namespace: Option<Arc<str>>,
    /// The server's response.
    pub status: ApiStatus,
}

/// How many characters of a server's message and of its reason are printed.
const MESSAGE_SHOWN: usize = 2000;
const REASON_SHOWN: usize = 100;

fn line(status: &ApiStatus) -> String {
    let message = excerpt(&status.message, MESSAGE_SHOWN);
    match &*status.reason {
        "" => format!("Error from server: {message}"),
        "Unauthorized" => format!("error: You must be logged in to the server ({message})"),
        reason => {
            let reason = excerpt(reason, REASON_SHOWN);
            format!("Error from server ({reason}): {message}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_message_is_one_line_of_limited_length() {
        let error = |reason: &str, message: &str| ApiError {
            verb: "list",
            resource: "pods".into(),
            namespace: None,
            status: ApiStatus {
                code: 500,
                reason: reason.to_owned(),
                message: message.to_owned(),
            },
        };
        assert_eq!(
            error("Inter\nnal", "a\nError from server: b").to_string(),
            "Error from server (Inter\\nnal): a\\nError from server: b"
        );
        let long = "x".repeat(1 << 20);
        assert!(error(&long, &long).to_string().len() < 2200);
    }
}
