//! `Session`: the cluster a verb looks at, or the file in its place, and the multiplexer over it.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use super::sources::named;
use super::{ClusterArgs, CommandError, Context, FileArgs, ObjectArgs};
use crate::cluster::{
    Ambient, Ask, Client, ClusterConfig, Filters, Names, Namespaces, Resolver, ResourceType,
    Target, parse_arguments, similar_names,
};
use crate::object::Doc;
use crate::watch::{
    self, ClusterId, FileError, FileResource, FileTransport, Form, HttpTransport, Mux, SourceKey,
    Transport, source_keys,
};

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
    place: Place,
}

/// What answers questions about types and names.
enum Place {
    Cluster(Client),
    File(Arc<FileTransport>),
}

/// How long a hint may take.
const SIMILAR: Duration = Duration::from_millis(1500);

impl Session {
    /// Opens the file that is to be read in place of a cluster, or finds the cluster. Nothing is sent
    /// yet.
    pub(crate) async fn open(
        context: &mut Context<'_>,
        file: &FileArgs,
    ) -> Result<Session, CommandError> {
        match &file.from {
            Some(path) => {
                if let Some(now) = file.now {
                    context.env.now = Arc::new(move || now);
                }
                Session::read(context, path)
            }
            None => Session::connect(context).await,
        }
    }

    /// Finds the cluster as kubectl does.
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
            place: Place::Cluster(client),
        })
    }

    fn read(context: &mut Context<'_>, path: &str) -> Result<Session, CommandError> {
        let text = text_of(context, path)?;
        let file = FileTransport::parse(&text).map_err(|error| unreadable(path, &error))?;
        let file = Arc::new(file);
        let cluster = ClusterId(path.into());
        let namespace = match &context.origin {
            Origin::Kubeconfig(flags) => flags.namespace.as_deref().map(Arc::from),
            Origin::Plain { namespace, .. } => Some(Arc::from(*namespace)),
        };
        let transport: Arc<dyn Transport> = file.clone();
        let mux = Mux::new([(cluster.clone(), transport)], context.env.now.clone());
        Ok(Session {
            cluster,
            mux,
            namespace: namespace.unwrap_or_else(|| only_namespace(&file)),
            place: Place::File(file),
        })
    }

    /// Finds out which objects the arguments mean. Asks the server only about types that are none of
    /// Kubernetes' own; without arguments, a file is meant as a whole.
    pub(crate) async fn targets(&self, args: &ObjectArgs) -> Result<Vec<Target>, CommandError> {
        let filters = Filters {
            labels: args.selector.clone(),
            fields: args.field_selector.clone(),
            namespaces: if args.all_namespaces {
                Namespaces::All
            } else {
                Namespaces::One(self.namespace.clone())
            },
        };
        if let (Place::File(file), []) = (&self.place, &args.objects[..]) {
            return Ok(everything(file, &filters));
        }
        let arguments = parse_arguments(&args.objects, &filters)?;
        let resolver = match &self.place {
            Place::Cluster(client) => Resolver::new(client.clone()),
            Place::File(file) => Resolver::of(types(file)),
        };
        Ok(arguments.resolve(&resolver, &filters).await?)
    }

    /// Every kind that can be listed and watched: of the namespace, or with `-A` of the cluster.
    pub(crate) async fn every_kind(&self, args: &ObjectArgs) -> Result<Vec<Target>, CommandError> {
        let Place::Cluster(client) = &self.place else {
            return self.targets(args).await;
        };
        let resolver = Resolver::new(client.clone());
        let discovery = resolver.discovery().await?;
        let mut targets: Vec<Target> = Vec::new();
        for found in &discovery.types {
            let resource = &found.resource;
            // Another version of the same, or Events, which two groups serve.
            let is_same = |taken: &Target| {
                taken.resource.plural == resource.plural
                    && (taken.resource.group == resource.group || &*resource.plural == "events")
            };
            let is_here = args.all_namespaces || resource.namespaced;
            if !(is_here && found.listable() && found.watchable()) || targets.iter().any(is_same) {
                continue;
            }
            targets.push(Target {
                resource: resource.clone(),
                namespace: (!args.all_namespaces).then(|| self.namespace.clone()),
                names: Names::All,
                labels: args.selector.as_deref().map(Arc::from),
                fields: args.field_selector.as_deref().map(Arc::from),
            });
        }
        Ok(targets)
    }

    /// The sources of targets: one for each name, else one for all that the selectors let through.
    pub(crate) fn keys(&self, targets: &[Target]) -> Vec<SourceKey> {
        let keys = |target| source_keys(&self.cluster, target, Form::Full);
        targets.iter().flat_map(keys).collect()
    }

    /// Names like that of the one object a source is about: hints for when it is not there.
    async fn similar(&self, key: &SourceKey) -> Vec<String> {
        let Some(name) = named(key) else {
            return Vec::new();
        };
        let Place::Cluster(client) = &self.place else {
            return Vec::new();
        };
        let ask = similar_names(client, &key.resource, key.namespace(), name);
        match tokio::time::timeout(SIMILAR, ask).await {
            Ok(Ok(names)) => names,
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }

    /// kubectl's error for objects that are not there, with what they may have been meant to be.
    pub(crate) async fn not_found(&self, missing: &[SourceKey]) -> CommandError {
        let lines = missing.iter().map(|key| {
            let resource = key.resource.group_resource();
            let name = named(key).unwrap_or_default();
            format!("Error from server (NotFound): {resource} \"{name}\" not found")
        });
        let mut error = CommandError::failed(lines.collect::<Vec<_>>().join("\n"));
        for key in missing {
            let near = self.similar(key).await.join(", ");
            error = match key.namespace() {
                _ if near.is_empty() => error,
                Some(namespace) => {
                    error.hint(format!("in namespace \"{namespace}\" there are: {near}"))
                }
                None => error.hint(format!("there are: {near}")),
            };
        }
        error.hint("without --once, spy waits for it to be created")
    }

    /// What the server says it is: `v1.36.3`.
    pub(crate) async fn server_version(&self) -> Result<String, CommandError> {
        let Place::Cluster(client) = &self.place else {
            return Err(CommandError::failed("error: a file has no version"));
        };
        let ask = Ask::new("/version").about("get", "version");
        let answer = client.get(&ask).await?;
        let text = String::from_utf8_lossy(&answer);
        let version = Doc::parse(&*text)
            .ok()
            .and_then(|doc| doc.root().str_at(&["gitVersion"]).map(Cow::into_owned));
        version.ok_or_else(|| CommandError::failed("error: the server does not tell its version"))
    }
}

/// The objects of `--from` one by one, whatever they lack.
pub(crate) fn documents(
    context: &mut Context<'_>,
    file: &FileArgs,
) -> Result<Vec<Doc>, CommandError> {
    let path = file.from.as_deref().unwrap_or("-");
    let text = text_of(context, path)?;
    watch::documents(&text).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &str, error: &FileError) -> CommandError {
    CommandError::failed(format!(
        "error: {path}: line {}: {}",
        error.line, error.detail
    ))
}

/// The text of `--from`; `-` is standard input.
fn text_of(context: &mut Context<'_>, path: &str) -> Result<String, CommandError> {
    let mut text = String::new();
    let read = match path {
        "-" => context.env.stdin.read_to_string(&mut text).map(drop),
        path => std::fs::read_to_string(path).map(|read| text = read),
    };
    match read {
        Ok(()) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(CommandError::failed(
            format!("error: the path \"{path}\" does not exist"),
        )),
        Err(error) => Err(CommandError::failed(format!("error: {path}: {error}"))),
    }
}

/// The namespace of a file whose objects all live in one.
fn only_namespace(file: &FileTransport) -> Arc<str> {
    let objects = file.resources().iter().flat_map(|found| &found.objects);
    let mut namespaces: Vec<_> = objects
        .filter_map(|object| object.namespace.clone())
        .collect();
    namespaces.sort();
    namespaces.dedup();
    match &namespaces[..] {
        [only] => only.clone(),
        _ => "default".into(),
    }
}

/// All that a file holds.
fn everything(file: &FileTransport, filters: &Filters) -> Vec<Target> {
    let target = |found: &FileResource| Target {
        resource: found.resource.clone(),
        namespace: None,
        names: Names::All,
        labels: filters.labels.as_deref().map(Arc::from),
        fields: filters.fields.as_deref().map(Arc::from),
    };
    file.resources().iter().map(target).collect()
}

/// The types of a file's objects, as words can name them.
fn types(file: &FileTransport) -> Vec<ResourceType> {
    let types = file.resources().iter().map(|found| ResourceType {
        resource: found.resource.clone(),
        singular: found.resource.kind.to_lowercase(),
        short_names: Vec::new(),
        categories: Vec::new(),
        verbs: vec!["list".to_owned(), "watch".to_owned()],
    });
    types.collect()
}
