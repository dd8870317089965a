//! `Session`: the cluster a verb looks at, or the file in its place, and the multiplexer over it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::sources::named;
use super::{ClusterArgs, CommandError, Context, ObjectArgs};
use crate::cluster::{
    Ambient, ArgumentError, Ask, Client, ClusterConfig, ConfigError, Filters, Namespaces,
    RequestError, ResolveError, Resolver, Target, TargetError, parse_arguments, similar_names,
};
use crate::object::Doc;
use crate::watch::{ClusterId, Form, HttpTransport, Mux, Scope, SourceKey, Transport};

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

/// How long a hint may take.
const SIMILAR: Duration = Duration::from_millis(1500);

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

    /// Finds out which objects the arguments mean. Asks the server only about types that are none of
    /// Kubernetes' own.
    pub(crate) async fn targets(&self, args: &ObjectArgs) -> Result<Vec<Target>, CommandError> {
        let filters = Filters {
            labels: args.selector.clone(),
            fields: args.field_selector.clone(),
            namespaces: match args.all_namespaces {
                true => Namespaces::All,
                false => Namespaces::One(self.namespace.clone()),
            },
        };
        let arguments = parse_arguments(&args.objects, &filters)?;
        Ok(arguments
            .resolve(&Resolver::new(self.client.clone()), &filters)
            .await?)
    }

    /// The sources of targets: one for each name, else one for all that the selectors let through.
    pub(crate) fn keys(&self, targets: &[Target]) -> Vec<SourceKey> {
        let keys = |target: &Target| {
            let namespace = target.namespace.clone();
            let key = SourceKey {
                cluster: self.cluster.clone(),
                resource: target.resource.clone(),
                scope: namespace.map_or(Scope::Cluster, Scope::Namespace),
                labels: target.labels.clone(),
                fields: None,
                form: Form::Full,
            };
            target
                .field_selectors()
                .into_iter()
                .map(move |fields| SourceKey {
                    fields,
                    ..key.clone()
                })
        };
        targets.iter().flat_map(keys).collect()
    }

    /// Names like that of the one object a source is about: hints for when it is not there.
    pub(crate) async fn similar(&self, key: &SourceKey) -> Vec<String> {
        let Some(name) = named(key) else {
            return Vec::new();
        };
        let ask = similar_names(&self.client, &key.resource, key.namespace(), name);
        match tokio::time::timeout(SIMILAR, ask).await {
            Ok(Ok(names)) => names,
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
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

impl From<TargetError> for CommandError {
    fn from(error: TargetError) -> CommandError {
        match error {
            TargetError::Argument(error) => error.into(),
            TargetError::Resolve(ResolveError::Request(error)) => error.into(),
            TargetError::Resolve(error @ ResolveError::Unknown { .. }) => {
                let ResolveError::Unknown { near, stale, .. } = &error else {
                    return CommandError::failed(error);
                };
                let near = (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")));
                let stale = (!stale.is_empty())
                    .then(|| format!("these groups could not be read: {}", stale.join(", ")));
                let hints = near.into_iter().chain(stale);
                hints.fold(CommandError::failed(&error), CommandError::hint)
            }
        }
    }
}

impl From<ArgumentError> for CommandError {
    fn from(error: ArgumentError) -> CommandError {
        let text = error.to_string();
        CommandError::usage(text.strip_prefix("error: ").unwrap_or(&text))
    }
}
