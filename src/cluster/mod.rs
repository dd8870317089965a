//! Everything that talks to a cluster: the kubeconfig, the client, discovery, and the resources that arguments
//! name.

mod arguments;
mod cache;
mod client;
mod discovery;
mod error;
mod kubeconfig;
mod metadata_list;
mod object_rows;
mod openapi;
pub(crate) mod program;
mod request_path;
mod similar;
#[cfg(test)]
pub(crate) mod testing;
mod type_word;

pub use arguments::{
    ArgumentError, Arguments, Filters, NamedType, Names, Namespaces, Target, TargetError,
    parse as parse_arguments,
};
pub(crate) use client::{Answer, ApiRequest, LogDetail, RequestLog, platform};
pub use client::{Client, Limits, RequestError};
pub(crate) use discovery::TypeCache;
pub use discovery::{Discovery, ResolveError, Resolver};
pub use error::{ApiError, Status};
pub use kubeconfig::{Ambient, ClusterConfig, ConfigError, Credentials, Impersonate, Overrides};
pub(crate) use kubeconfig::{KubeconfigNames, PluginRun};
pub(crate) use metadata_list::list_metadata;
pub(crate) use object_rows::{ObjectRow, RowsPage, object_rows};
pub(crate) use openapi::OpenApi;
pub(crate) use request_path::RequestPath;
pub use request_path::{InvalidPart, Part};
pub(crate) use similar::{namespaces_with, similar_names};
pub use type_word::TypeWord;
