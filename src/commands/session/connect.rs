//! Connects a session to a cluster.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::{Origin, ServerClock, Session, SessionPlace};
use crate::cluster::{
    Ambient, ApiRequest, Client, ClusterConfig, OpenApi, RequestError, RequestLog, TypeCache,
};
use crate::commands::{CommandError, Context};
use crate::env::Env;
use crate::source::ClusterId;
use crate::watch::{HttpTransport, Mux, MuxOptions, Transport};

/// How long a server may take to show that it still answers.
const SILENCE: Duration = Duration::from_secs(3);

impl Session {
    /// Prepares the connection to the cluster that kubectl would use.
    pub(crate) async fn connect(context: &Context<'_>) -> Result<Session, CommandError> {
        let (config, namespace, cache) = match &context.origin {
            Origin::Kubeconfig(flags) => {
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
            Origin::Plain {
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
        if let Origin::Kubeconfig(flags) = &context.origin
            && let Some(detail) = flags.log_detail()
        {
            let lines = context.env.requests.clone();
            let print = Arc::new(move |about: Vec<String>| lines.print(about));
            client.log_requests(RequestLog { detail, print });
        }
        let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(client.clone()));
        let now = context.env.now.clone();
        let mux = Mux::new([(cluster.clone(), transport)], now.clone());
        let dated = client.clone();
        let server_clock = (mux.dates(&cluster))
            .map(|leases| ServerClock::new(Arc::new(move || dated.skew()), now, leases));
        Ok(Session {
            cluster,
            mux,
            server_clock: server_clock.map(Arc::new),
            namespace,
            openapi: Some(Arc::new(OpenApi::new(client.clone(), cache.as_deref()))),
            types: types.map(Arc::new),
            place: SessionPlace::Cluster(client),
            is_by_server: false,
        })
    }

    /// Why nothing proves that there were no news: the server does not answer. A watch of a server that hangs looks like one
    /// without news.
    pub(crate) async fn silence(&self) -> Option<String> {
        let SessionPlace::Cluster(client) = &self.place else {
            return None;
        };
        let request = ApiRequest::new("/version");
        let answer = timeout(SILENCE, client.open(&request)).await;
        match answer.unwrap_or(Err(RequestError::Timeout(SILENCE))) {
            Ok(_) | Err(RequestError::Api { .. }) => None,
            Err(error) => Some(format!("error: {error}")),
        }
    }

    /// Lists each source and does not watch it: for a verb that prints the current state and exits. A file stays as it is.
    pub(crate) fn list_only(&mut self, env: &Env) {
        if let SessionPlace::Cluster(client) = &self.place {
            let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(client.clone()));
            let options = MuxOptions {
                watches: false,
                ..MuxOptions::default()
            };
            let transports = [(self.cluster.clone(), transport)];
            self.mux = Mux::with_options(transports, env.clock_ahead(env.ahead.clone()), options);
        }
    }
}
