//! `SessionPlace`: what a session reads.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::connection::ClusterConnection;
use super::file;
use super::record::recorded_types;
use crate::cluster::Resolver;
use crate::object::{ResourceType, ServedTypes};
use crate::record::StoreTransport;
use crate::watch::{FileTransport, Transport};

/// How long to wait for the types. The states of custom resources depend on them.
const TYPES: Duration = Duration::from_secs(10);

/// A cluster, a file, or the record of a cluster.
#[derive(Clone)]
pub(super) enum SessionPlace {
    Cluster(ClusterConnection),
    File(Arc<FileTransport>),
    Record(Arc<StoreTransport>),
}

impl SessionPlace {
    /// Reads it.
    pub(super) fn transport(&self) -> Arc<dyn Transport> {
        match self {
            SessionPlace::Cluster(connection) => connection.transport(),
            SessionPlace::File(file) => file.clone(),
            SessionPlace::Record(record) => record.clone(),
        }
    }

    /// Resolves the types of arguments: by discovery, or by what is there.
    pub(super) fn resolver(&self) -> Resolver {
        match self {
            SessionPlace::Cluster(connection) => connection.resolver(),
            SessionPlace::File(file) => Resolver::of(file::types(file)),
            SessionPlace::Record(record) => Resolver::of(recorded_types(record.sources())),
        }
    }

    /// The types that are served, besides Kubernetes' own. Without an answer in time, there are none.
    pub(super) async fn served_types(&self) -> ServedTypes {
        let listable = |found: &&ResourceType| found.listable() && found.watchable();
        match self {
            SessionPlace::File(file) => ServedTypes::discovered(file::types(file)),
            SessionPlace::Record(record) => {
                ServedTypes::discovered(recorded_types(record.sources()))
            }
            SessionPlace::Cluster(connection) => {
                let resolver = connection.resolver();
                match timeout(TYPES, resolver.discovery()).await {
                    Ok(Ok(found)) => {
                        ServedTypes::discovered(found.types.iter().filter(listable).cloned())
                    }
                    Ok(Err(_)) | Err(_) => ServedTypes::default(),
                }
            }
        }
    }
}
