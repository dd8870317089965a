//! `ConnectionSetup`: what a connection to a cluster needs of the environment and of kubectl's flags.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::cluster::{
    Ambient, Client, ClusterConfig, ConfigError, ContextConfig, LogDetail, Overrides, RequestLog,
    TypeCache,
};
use crate::commands::{ClusterArgs, CommandError, Context};
use crate::env::{Clock, RequestLines};

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

/// Connects to clusters. It keeps nothing of the [`Context`], so it can connect while a verb runs.
#[derive(Clone)]
pub(crate) struct ConnectionSetup {
    ambient: Ambient,
    overrides: Overrides,
    /// This machine's clock.
    pub(crate) now: Clock,
    /// Where messages and requests are printed.
    lines: RequestLines,
    /// How much to log about requests.
    detail: Option<LogDetail>,
    /// The directory for files that are kept between runs.
    pub(super) cache: Option<PathBuf>,
}

impl ConnectionSetup {
    pub(crate) fn of(context: &Context<'_>) -> ConnectionSetup {
        let env = &context.env;
        let ambient = Ambient::from_lookup(|name| env.path(name).map(Into::into));
        let flags = match &context.origin {
            ClusterOrigin::Kubeconfig(flags) => Some(flags),
            ClusterOrigin::Plain { .. } => None,
        };
        let detail = flags.and_then(|flags| flags.log_detail());
        let cache = flags.and_then(|flags| flags.cache_dir(&ambient));
        ConnectionSetup {
            ambient,
            overrides: flags.map_or_else(Overrides::default, |flags| flags.overrides.clone()),
            now: env.now.clone(),
            lines: env.requests.clone(),
            detail,
            cache,
        }
    }

    /// The cluster of the flags. It fails if they select several.
    pub(super) async fn only_config(
        &self,
        origin: &ClusterOrigin,
    ) -> Result<ClusterConfig, CommandError> {
        let flags = match origin {
            ClusterOrigin::Kubeconfig(flags) => flags,
            ClusterOrigin::Plain {
                server,
                name,
                namespace,
            } => return Ok(ClusterConfig::plain(server, name)?.of_namespace(namespace)),
        };
        if !flags.contexts.may_be_several(&flags.overrides) {
            let (ambient, overrides) = (self.ambient.clone(), flags.overrides.clone());
            let load = move || ClusterConfig::load(&ambient, &overrides);
            return Ok(unblocked(load).await??);
        }
        let mut configs = self.configs(flags).await?;
        match (configs.pop(), &configs[..]) {
            (Some(only), []) => Ok(only.config?),
            (last, _) => {
                let names = configs.iter().chain(&last).map(|found| &*found.name);
                let names: Vec<&str> = names.collect();
                Err(CommandError::usage(format!(
                    "this command reads one cluster, and {} contexts are selected",
                    names.len()
                ))
                .hint(format!("choose one with --context: {}", names.join(", "))))
            }
        }
    }

    /// The clusters of the flags that may select several.
    pub(crate) async fn configs(
        &self,
        flags: &ClusterArgs,
    ) -> Result<Vec<ContextConfig>, CommandError> {
        let (ambient, flags) = (self.ambient.clone(), flags.clone());
        let load = move || ClusterConfig::load_each(&ambient, &flags.overrides, &flags.contexts);
        Ok(unblocked(load).await??)
    }

    /// The cluster of a context, from the files as they are now.
    pub(crate) async fn config_of(&self, context: &str) -> Result<ClusterConfig, CommandError> {
        let (ambient, overrides) = (self.ambient.clone(), self.overrides.of_context(context));
        let load = move || ClusterConfig::load(&ambient, &overrides);
        Ok(unblocked(load).await??)
    }

    /// A client of the cluster. This runs the credential plugin, if there is one.
    pub(super) async fn client(&self, config: ClusterConfig) -> Result<Client, ConfigError> {
        let client = Client::new(config).await?;
        client.compare_clocks(self.now.clone());
        let lines = self.lines.clone();
        client.print_messages(Arc::new(move |message| lines.print(message)));
        if let Some(detail) = self.detail {
            let lines = self.lines.clone();
            let print = Arc::new(move |about: Vec<String>| lines.print(about));
            client.log_requests(RequestLog { detail, print });
        }
        Ok(client)
    }

    /// Where the types of the cluster are kept between runs.
    pub(super) fn types(&self, config: &ClusterConfig) -> Option<TypeCache> {
        let dir = self.cache.as_deref()?;
        Some(TypeCache::new(dir, &config.address()))
    }
}

/// Reads files on a thread of its own: one may be a pipe without a writer, and a verb can stop meanwhile.
async fn unblocked<T: Send + 'static>(
    load: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CommandError> {
    let loaded = spawn_blocking(load).await;
    loaded.map_err(|stopped| {
        CommandError::failed(format!("error: cannot read the kubeconfig: {stopped}"))
    })
}
