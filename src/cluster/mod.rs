//! IO: kubeconfig, the client, discovery and the resources that arguments name.

mod client;
mod error;
mod kubeconfig;
#[cfg(test)]
pub(crate) mod scripted;

pub(crate) use client::{Answer, Ask};
pub use client::{Client, Limits, RequestError};
pub use error::{ApiError, Status};
pub use kubeconfig::{Ambient, ClusterConfig, ConfigError, Credentials, Impersonate, Overrides};
