//! `Session`: the cluster a verb looks at, or the file in its place, and the multiplexer over it.

use std::borrow::Cow;
use std::sync::Arc;

use super::{ClusterArgs, CommandError, Context};
use crate::cluster::{Ambient, Ask, Client, ClusterConfig, ConfigError, RequestError};
use crate::object::Doc;
use crate::watch::{ClusterId, HttpTransport, Mux, Transport};

/// Where a verb's objects come from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The cluster that kubectl's flags and the kubeconfig name.
    Kubeconfig(Box<ClusterArgs>),
    /// A server that is reached without credentials.
    Plain {
        /// Its URL.
        server: String,
        /// What records call it.
        name: &'static str,
        /// The namespace that is meant where none is named.
        namespace: &'static str,
    },
}

/// What a verb reads from.
pub(crate) struct Session {
    /// The context's name, or the file's: it stands in every record.
    pub(crate) cluster: ClusterId,
    /// Hands out sources.
    pub(crate) mux: Mux,
    /// The namespace that is meant where none is named.
    pub(crate) namespace: Arc<str>,
    client: Client,
}

impl Session {
    /// Finds the cluster as kubectl does. Nothing is sent yet.
    pub(crate) async fn connect(context: &Context<'_>) -> Result<Session, CommandError> {
        let (config, namespace) = match &context.origin {
            Origin::Kubeconfig(flags) => {
                let ambient = Ambient::from_lookup(|name| context.env.path(name).map(Into::into));
                let config = ClusterConfig::load(&ambient, &flags.overrides())?;
                let namespace = config.namespace().clone();
                (config, namespace)
            }
            Origin::Plain {
                server,
                name,
                namespace,
            } => (ClusterConfig::plain(server, name)?, Arc::from(*namespace)),
        };
        let cluster = ClusterId(config.name().clone());
        let client = Client::new(config).await?;
        let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(client.clone()));
        let mux = Mux::new([(cluster.clone(), transport)], context.env.now.clone());
        Ok(Session {
            cluster,
            mux,
            namespace,
            client,
        })
    }

    /// What the server says it is: `v1.36.3`.
    pub(crate) async fn server_version(&self) -> Result<String, CommandError> {
        let answer = self
            .client
            .get(&Ask::new("/version").about("get", "version"))
            .await?;
        let text = String::from_utf8_lossy(&answer);
        let version = Doc::parse(&*text)
            .ok()
            .and_then(|doc| doc.root().str_at(&["gitVersion"]).map(Cow::into_owned));
        version.ok_or_else(|| CommandError::failed("error: the server does not tell its version"))
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> CommandError {
        match error {
            ConfigError::NoContext(_) | ConfigError::NoCurrentContext(_) => {
                CommandError::failed(error).hint("`kubectl config get-contexts` lists them")
            }
            error => CommandError::failed(error),
        }
    }
}

impl From<RequestError> for CommandError {
    fn from(error: RequestError) -> CommandError {
        match error {
            RequestError::Api { error, .. } => error.into(),
            error => CommandError::failed(error),
        }
    }
}
