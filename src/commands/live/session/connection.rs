//! `ClusterConnection`: a cluster as a session reads it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::time::timeout;

use super::ServerClock;
use super::connection_setup::ConnectionSetup;
use crate::cluster::{
    ApiRequest, Client, ClusterConfig, OpenApi, RequestError, Resolver, TypeCache,
};
use crate::commands::CommandError;
use crate::env::Clock;
use crate::record::RecordedCluster;
use crate::source::ClusterId;
use crate::watch::{HttpTransport, Mux, Transport};

/// How long a server may take to show that it still answers.
const SILENCE: Duration = Duration::from_secs(3);

/// The connection to a cluster, with what is known of it.
#[derive(Clone)]
pub(super) struct ClusterConnection {
    /// The name of the context.
    pub(super) cluster: ClusterId,
    pub(super) client: Client,
    /// The default namespace.
    pub(super) namespace: Arc<str>,
    /// The schemas of the types.
    pub(super) openapi: Arc<OpenApi>,
    /// Where discovery leaves the types for completion.
    pub(super) types: Option<Arc<TypeCache>>,
    /// The cluster in the record, if that is known.
    pub(super) recorded_as: Option<RecordedCluster>,
    /// Whether it has the rights of a reader of `serve`, who may not read the record as it is.
    pub(super) is_of_reader: bool,
}

impl ClusterConnection {
    /// Prepares the connection to a cluster. This runs the credential plugin, if there is one.
    pub(super) async fn open(
        config: ClusterConfig,
        setup: &ConnectionSetup,
    ) -> Result<ClusterConnection, CommandError> {
        let cluster = ClusterId(config.name().clone());
        let namespace = config.namespace().clone();
        let types = setup.types(&config);
        let client = setup.client(config).await?;
        let openapi = OpenApi::new(client.clone(), setup.cache.as_deref());
        Ok(ClusterConnection {
            cluster,
            namespace,
            openapi: Arc::new(openapi),
            types: types.map(Arc::new),
            client,
            recorded_as: None,
            is_of_reader: false,
        })
    }

    /// Reads the server over HTTP.
    pub(super) fn transport(&self) -> Arc<dyn Transport> {
        Arc::new(HttpTransport::new(self.client.clone()))
    }

    /// The clock of the server, as its answers and its Leases show it.
    pub(super) fn clock(&self, mux: &Mux, now: Clock) -> Option<ServerClock> {
        let dated = self.client.clone();
        let leases = mux.dates(&self.cluster)?;
        Some(ServerClock::new(
            Arc::new(move || dated.skew()),
            now,
            leases,
        ))
    }

    /// Resolves types by the cluster's discovery, and keeps them for completion.
    pub(super) fn resolver(&self) -> Resolver {
        Resolver::new(self.client.clone()).keeping(self.types.clone())
    }

    /// Why nothing proves that there were no news: the server does not answer. A watch of a server that hangs looks like one
    /// without news.
    pub(super) async fn silence(&self) -> Option<String> {
        let request = ApiRequest::new("/version");
        let answer = timeout(SILENCE, self.client.open(&request)).await;
        match answer.unwrap_or(Err(RequestError::Timeout(SILENCE))) {
            Ok(_) | Err(RequestError::Api { .. }) => None,
            Err(error) => Some(format!("error: {error}")),
        }
    }

    /// Fails if the server does not accept the credentials, or does not answer.
    pub(super) async fn check_login(&self) -> Result<(), CommandError> {
        let request = ApiRequest::new("/version").about("get", "version");
        match self.client.open(&request).await {
            Err(RequestError::Api { error, .. }) if error.status.code != 401 => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }

    /// The version of the server, as it prints it: an object with `gitVersion`.
    pub(super) async fn server_version(&self) -> Result<Json, CommandError> {
        let ask = ApiRequest::new("/version").about("get", "version");
        let answer = self.client.get_patiently(&ask).await?;
        let version: Option<Json> = serde_json::from_slice(&answer).ok();
        version
            .filter(|version| version["gitVersion"].is_string())
            .ok_or_else(|| CommandError::failed("error: the server did not return its version"))
    }
}
