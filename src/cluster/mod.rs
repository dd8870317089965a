//! IO: kubeconfig, the client, discovery and the resources that arguments name.

mod error;

pub use error::{ApiError, Status};
