//! `Session`: the cluster or the file that a verb reads, and the multiplexer over it.

mod every_kind;
mod file;
mod missing;
mod record;
mod recorded;
mod server_clock;
mod snapshot;

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::Value as Json;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::cluster::{
    Ambient, ApiRequest, Client, ClusterConfig, Filters, Namespaces, OpenApi, RequestError,
    RequestLog, Resolver, Target, TypeCache, parse_arguments,
};
use crate::commands::input::{read_files, stream_of, unreadable};
use crate::commands::manifests::{ManifestPlace, ReleasePlace, release_targets};
use crate::commands::{
    ClusterArgs, CommandError, Context, FailureLogs, FileArgs, ObjectArgs, Subject, manifests,
};
use crate::env::{Ahead, Clock, Env};
use crate::model::{JudgementPlan, Model, Retention};
use crate::object::{ObjectRef, ResourceType, ServedTypes};
use crate::record::StoreTransport;
use crate::source::{ClusterId, Form, SourceKey};
use crate::status::Rules;
use crate::watch::logs::LogFeeds;
use crate::watch::{FileTransport, HttpTransport, Mux, MuxOptions, Transport, source_keys};
pub(crate) use every_kind::EveryKind;
use file::{everything, only_namespace, refuse_fields, set_clock, types};
use record::{every_recorded, recorded_types};
pub(crate) use server_clock::ServerClock;

/// How long a hint may take, and anything else that the user can do without.
const HINT: Duration = Duration::from_millis(1500);
/// How long to wait for the types. The states of custom resources depend on them.
const TYPES: Duration = Duration::from_secs(10);

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
}

/// The cluster or file that a verb reads.
pub(crate) struct Session {
    /// The name of the context or of the file. Every record has it.
    pub(crate) cluster: ClusterId,
    /// The subscriptions to sources.
    pub(crate) mux: Mux,
    /// The default namespace.
    pub(crate) namespace: Arc<str>,
    openapi: Option<Arc<OpenApi>>,
    types: Option<Arc<TypeCache>>,
    place: SessionPlace,
    /// The clock of the cluster's server.
    server_clock: Option<Arc<ServerClock>>,
    /// Whether the server's clock counts, instead of this machine's.
    is_by_server: bool,
    /// Whether everything is as it was at a time in the past.
    is_past: bool,
}

/// What a session reads: a cluster or a file.
enum SessionPlace {
    Cluster(Client),
    File(Arc<FileTransport>),
    Record(Arc<StoreTransport>),
}

impl Session {
    /// Reads the file of `--from`, or prepares the connection to the cluster.
    pub(crate) async fn open(
        context: &mut Context<'_>,
        file: &FileArgs,
    ) -> Result<Session, CommandError> {
        if file.is_given() {
            let read = read_files(context, file).await?;
            Ok(Session::over(context, file, read))
        } else {
            Session::connect(context).await
        }
    }

    /// Like [`Session::open`], but for live input: it does not read standard input and pipes to their end.
    pub(crate) async fn follow(
        context: &mut Context<'_>,
        file: &FileArgs,
    ) -> Result<Session, CommandError> {
        let [path] = &file.from[..] else {
            return Session::open(context, file).await;
        };
        let Some(input) = stream_of(context, path) else {
            return Session::open(context, file).await;
        };
        let stream = FileTransport::stream(path, input).await;
        let stream = stream.map_err(|error| unreadable(path, &error, "--from"))?;
        Ok(Session::over(context, file, stream))
    }

    fn over(context: &mut Context<'_>, args: &FileArgs, file: FileTransport) -> Session {
        set_clock(context.env, &file, args.now);
        let file = Arc::new(file);
        let cluster = ClusterId(args.name().into());
        let namespace = match &context.origin {
            ClusterOrigin::Kubeconfig(flags) => flags.overrides.namespace.as_deref().map(Arc::from),
            ClusterOrigin::Plain { namespace, .. } => Some(Arc::from(*namespace)),
        };
        let transport: Arc<dyn Transport> = file.clone();
        let mux = Mux::new([(cluster.clone(), transport)], context.env.now.clone());
        Session {
            cluster,
            mux,
            namespace: namespace.unwrap_or_else(|| only_namespace(&file)),
            openapi: None,
            types: None,
            place: SessionPlace::File(file),
            server_clock: None,
            is_by_server: false,
            is_past: false,
        }
    }

    /// Resolves the arguments of a verb to targets.
    ///
    /// It asks the server only about types that Kubernetes does not define. Without arguments, a file's targets are all
    /// its types. For arguments in kubespy's form it prints a hint with the equivalent form.
    pub(crate) async fn targets(
        &self,
        args: &ObjectArgs,
        verb: &str,
        context: &mut Context<'_>,
    ) -> Result<Vec<Target>, CommandError> {
        let is_of_file = self.is_of_file();
        if is_of_file {
            args.check_selectors()?;
        }
        let targets = self.resolved(args, verb, context).await?;
        if is_of_file {
            refuse_fields(&targets)?;
        }
        Ok(targets)
    }

    /// Like [`Session::targets`], but arguments without an object or a type mean every kind.
    pub(crate) async fn targets_or_every_kind(
        &self,
        args: &ObjectArgs,
        verb: &str,
        context: &mut Context<'_>,
    ) -> Result<EveryKind, CommandError> {
        match (&self.place, args.subject()) {
            (SessionPlace::Cluster(client), Subject::Unnamed) => {
                let resolver = self.resolver(client);
                let found = resolver.discovery().await?;
                Ok(EveryKind::of(found, args, &self.namespace))
            }
            (SessionPlace::Record(record), Subject::Unnamed) => {
                Ok(every_recorded(record, args, &self.namespace))
            }
            (
                SessionPlace::Cluster(_) | SessionPlace::Record(_),
                Subject::Manifests | Subject::Releases | Subject::Words,
            )
            | (SessionPlace::File(_), _) => Ok(self.targets(args, verb, context).await?.into()),
        }
    }

    /// The targets, with selectors that may not be supported.
    async fn resolved(
        &self,
        args: &ObjectArgs,
        verb: &str,
        context: &mut Context<'_>,
    ) -> Result<Vec<Target>, CommandError> {
        let filters = Filters {
            labels: args.selector.clone(),
            fields: args.field_selector.clone(),
            namespaces: if args.all_namespaces {
                Namespaces::All
            } else {
                Namespaces::One(self.namespace.clone())
            },
        };
        let resolver = match &self.place {
            SessionPlace::Cluster(client) => self.resolver(client),
            SessionPlace::File(file) => Resolver::of(types(file)),
            SessionPlace::Record(record) => Resolver::of(recorded_types(record)),
        };
        match (args.subject(), &self.place) {
            (Subject::Manifests, _) => {
                let place = ManifestPlace {
                    resolver: &resolver,
                    namespace: self.namespace.clone(),
                    is_given: context.origin.names_namespace(),
                    everywhere: args.all_namespaces,
                };
                return manifests::targets(args, &place, verb, context).await;
            }
            (Subject::Releases, SessionPlace::Cluster(client)) => {
                let place = ReleasePlace {
                    client,
                    resolver: &resolver,
                    filters: &filters,
                    namespace: &self.namespace,
                };
                return release_targets(args, &place, verb, context).await;
            }
            (Subject::Releases, SessionPlace::File(_) | SessionPlace::Record(_)) => {
                return Err(CommandError::usage(
                    "helm:RELEASE needs a cluster: it cannot be used with --from",
                ));
            }
            (Subject::Unnamed, SessionPlace::File(file)) => {
                file.look_at_all();
                return Ok(everything(file, &filters));
            }
            // Without a name or type, the arguments are kubectl's error.
            (Subject::Unnamed, SessionPlace::Cluster(_) | SessionPlace::Record(_))
            | (Subject::Words, _) => {}
        }
        let arguments = parse_arguments(&args.objects, &filters)?;
        if let Some(form) = &arguments.equivalent {
            context.hint(&format!("use `kubectl spy {verb} {form}`"));
        }
        Ok(arguments.resolve(&resolver, &filters).await?)
    }

    /// Resolves types by the cluster's discovery, and keeps them for completion.
    fn resolver(&self, client: &Client) -> Resolver {
        Resolver::new(client.clone()).keeping(self.types.clone())
    }

    /// The types that the cluster or the file serves, besides Kubernetes' own. Without an answer in time, there are none.
    pub(crate) async fn served_types(&self) -> ServedTypes {
        let listable = |found: &&ResourceType| found.listable() && found.watchable();
        match &self.place {
            SessionPlace::File(file) => ServedTypes::discovered(types(file)),
            SessionPlace::Record(record) => ServedTypes::discovered(recorded_types(record)),
            SessionPlace::Cluster(client) => {
                let resolver = self.resolver(client);
                match tokio::time::timeout(TYPES, resolver.discovery()).await {
                    Ok(Ok(found)) => {
                        ServedTypes::discovered(found.types.iter().filter(listable).cloned())
                    }
                    Ok(Err(_)) | Err(_) => ServedTypes::default(),
                }
            }
        }
    }

    /// The sources of targets: one for each name, or else one for each type and its selectors.
    pub(crate) fn keys(&self, targets: &[Target]) -> Vec<SourceKey> {
        let keys = |target| source_keys(&self.cluster, target, Form::Full);
        targets.iter().flat_map(keys).collect()
    }

    /// The schemas of the cluster; `None` for a file.
    pub(crate) fn openapi(&self) -> Option<&Arc<OpenApi>> {
        self.openapi.as_ref()
    }

    /// Whether a login is on its way, which may ask the user a question.
    pub(crate) fn is_logging_in(&self) -> bool {
        match &self.place {
            SessionPlace::Cluster(client) => client.is_renewing(),
            SessionPlace::File(_) | SessionPlace::Record(_) => false,
        }
    }

    /// The model of the objects of these sources, with the types that its plan needs.
    pub(crate) async fn model(&self, keys: &[SourceKey], rules: Rules, kept: Retention) -> Model {
        let mut model = Model::new(rules, kept);
        if keys.iter().any(JudgementPlan::needs_types) {
            model = model.with_types(self.served_types().await);
        }
        if self.is_of_file() {
            model = model.of_excerpt();
        }
        model
    }

    /// Whether it reads a cluster, and not files or a record.
    pub(crate) fn has_server(&self) -> bool {
        matches!(self.place, SessionPlace::Cluster(_))
    }

    /// Whether it reads a file instead of a cluster.
    pub(crate) fn is_of_file(&self) -> bool {
        matches!(self.place, SessionPlace::File(_))
    }

    /// Whether everything is as it was at a time in the past (`--at`).
    pub(crate) fn is_past(&self) -> bool {
        self.is_past
    }

    /// The file; `None` for a cluster.
    pub(crate) fn file(&self) -> Option<&Arc<FileTransport>> {
        match &self.place {
            SessionPlace::File(file) => Some(file),
            SessionPlace::Cluster(_) | SessionPlace::Record(_) => None,
        }
    }

    /// The objects of a target in the file, in the order of the file; `None` for a cluster.
    pub(crate) fn held(&self, target: &Target) -> Option<Vec<ObjectRef>> {
        let SessionPlace::File(file) = &self.place else {
            return None;
        };
        let found = file.resources().iter();
        let found = found.filter(|found| found.resource == target.resource);
        let is_inside = |object: &&ObjectRef| {
            let asked = target.namespace.as_ref();
            let own = object.namespace.as_ref();
            asked.is_none() || own.is_none() || own == asked
        };
        let objects = found.flat_map(|found| found.objects.iter().filter(is_inside));
        Some(objects.cloned().collect())
    }

    /// The logs of a few failed containers; `None` for a file.
    pub(crate) fn failure_feeds(&self) -> Option<LogFeeds> {
        match self.place {
            SessionPlace::Cluster(_) => self.mux.logs(&self.cluster, FailureLogs::MOST),
            SessionPlace::File(_) | SessionPlace::Record(_) => None,
        }
    }

    /// The version of the server, as it prints it: an object with `gitVersion`. Fails for a file.
    pub(crate) async fn server_version(&self) -> Result<Json, CommandError> {
        let SessionPlace::Cluster(client) = &self.place else {
            return Err(CommandError::failed(
                "error: --from reads a file, which has no server version",
            ));
        };
        let ask = ApiRequest::new("/version").about("get", "version");
        let answer = client.get_patiently(&ask).await?;
        let version: Option<Json> = serde_json::from_slice(&answer).ok();
        version
            .filter(|version| version["gitVersion"].is_string())
            .ok_or_else(|| CommandError::failed("error: the server did not return its version"))
    }

    /// Prepares the connection to the cluster that kubectl would use.
    pub(crate) async fn connect(context: &Context<'_>) -> Result<Session, CommandError> {
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
            is_past: false,
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

    /// Starts a file from its beginning, because a source at the end of the file has no more events.
    pub(crate) fn rewind(&mut self, env: &Env) {
        if let SessionPlace::File(file) = &self.place {
            let transport: Arc<dyn Transport> = file.clone();
            self.mux = Mux::new(
                [(self.cluster.clone(), transport)],
                env.clock_ahead(env.ahead.clone()),
            );
        }
    }

    /// From now on, the server's clock counts. This comes before all subscriptions. The clock of a file stays.
    pub(crate) fn use_server_clock(&mut self, env: &mut Env) {
        if let SessionPlace::Cluster(client) = &self.place {
            env.ahead = self.ahead();
            let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(client.clone()));
            self.mux = Mux::new([(self.cluster.clone(), transport)], self.clock(env));
            self.is_by_server = true;
        }
    }

    /// How far the server's clock is ahead of this machine's, as far as that is known.
    pub(crate) fn ahead(&self) -> Ahead {
        match self.server_clock.clone() {
            Some(clock) => Arc::new(move || clock.ahead()),
            None => Arc::new(|| SignedDuration::ZERO),
        }
    }

    /// The server's clock; for a file, that of the file.
    pub(crate) fn clock(&self, env: &Env) -> Clock {
        env.clock_ahead(self.ahead())
    }

    /// The server's clock, if it must be compared with this machine's before an event is judged.
    pub(crate) fn unclear_clock(&self) -> Option<&ServerClock> {
        self.server_clock
            .as_deref()
            .filter(|clock| clock.is_unclear())
    }

    /// The clock of the cluster's server; `None` for a file.
    pub(crate) fn server_clock(&self) -> Option<Arc<ServerClock>> {
        self.server_clock.clone()
    }

    /// The message about clocks that differ, if the server's counts.
    pub(crate) fn clock_note(&self) -> Option<String> {
        let clock = self.server_clock.as_ref().filter(|_| self.is_by_server);
        clock?.note()
    }
}

/// How long a server may take to show that it still answers.
const SILENCE: Duration = Duration::from_secs(3);
