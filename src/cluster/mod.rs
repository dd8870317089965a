//! IO: kubeconfig, the client, discovery and the resources that arguments name.

mod error;
mod kubeconfig;

pub use error::{ApiError, Status};
pub use kubeconfig::{Ambient, ClusterConfig, ConfigError, Credentials, Impersonate, Overrides};
