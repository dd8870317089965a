//! `ClusterConnection`: a cluster as a session reads it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::ServerClock;
use crate::cluster::{
    Ambient, ApiRequest, Client, ClusterConfig, OpenApi, RequestError, RequestLog, Resolver,
    TypeCache,
};
use crate::commands::{ClusterArgs, CommandError, Context};
use crate::env::Clock;
use crate::source::ClusterId;
use crate::watch::{HttpTransport, Mux, Transport};

/// How long a server may take to show that it still answers.
const SILENCE: Duration = Duration::from_secs(3);

/// The cluster that a verb reads, unless `--from` names a file.
#[derive(Clone, Debug)]
pub(crate) enum ClusterOrigin {
    /// The cluster of the kubeconfig and kubectl's flags.
    Kubeconfig(Box<ClusterArgs>),
    /// A server without credentials.
    Plain {
        /// Its URL.
        server: String,
        /// Its name in records.
        name: &'static str,
        /// The default namespace.
        namespace: &'static str,
    },
}

impl ClusterOrigin {
    /// Whether the user passed a namespace with `-n`.
    pub(crate) fn names_namespace(&self) -> bool {
        match self {
            ClusterOrigin::Kubeconfig(flags) => {
                let namespace = flags.overrides.namespace.as_ref();
                namespace.is_some_and(|namespace| !namespace.is_empty())
            }
            ClusterOrigin::Plain { .. } => false,
        }
    }

    /// The namespace of files: that of `-n`, or of the plain server.
    pub(super) fn namespace(&self) -> Option<Arc<str>> {
        match self {
            ClusterOrigin::Kubeconfig(flags) => flags.overrides.namespace.as_deref().map(Arc::from),
            ClusterOrigin::Plain { namespace, .. } => Some(Arc::from(*namespace)),
        }
    }
}

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
    types: Option<Arc<TypeCache>>,
}

impl ClusterConnection {
    /// Prepares the connection to the cluster that kubectl would use.
    pub(super) async fn open(context: &Context<'_>) -> Result<ClusterConnection, CommandError> {
        let (config, namespace, cache) = match &context.origin {
            ClusterOrigin::Kubeconfig(flags) => {
                let ambient = Ambient::from_lookup(|name| context.env.path(name).map(Into::into));
                // The file may be a pipe without a writer, and a verb can stop meanwhile.
                let (place, overrides) = (ambient.clone(), flags.overrides.clone());
                let load = spawn_blocking(move || ClusterConfig::load(&place, &overrides));
                let config = load.await.map_err(|stopped| {
                    CommandError::failed(format!("error: cannot read the kubeconfig: {stopped}"))
                })??;
                let namespace = config.namespace().clone();
                (config, namespace, flags.cache_dir(&ambient))
            }
            ClusterOrigin::Plain {
                server,
                name,
                namespace,
            } => (
                ClusterConfig::plain(server, name)?,
                Arc::from(*namespace),
                None,
            ),
        };
        let cluster = ClusterId(config.name().clone());
        let types = cache
            .as_ref()
            .map(|dir| TypeCache::new(dir, &config.address()));
        let client = Client::new(config).await?;
        client.compare_clocks(context.env.now.clone());
        let lines = context.env.requests.clone();
        client.print_messages(Arc::new(move |message| lines.print(message)));
        if let ClusterOrigin::Kubeconfig(flags) = &context.origin
            && let Some(detail) = flags.log_detail()
        {
            let lines = context.env.requests.clone();
            let print = Arc::new(move |about: Vec<String>| lines.print(about));
            client.log_requests(RequestLog { detail, print });
        }
        Ok(ClusterConnection {
            cluster,
            namespace,
            openapi: Arc::new(OpenApi::new(client.clone(), cache.as_deref())),
            types: types.map(Arc::new),
            client,
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
