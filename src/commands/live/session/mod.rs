//! `Session`: the cluster or the file that a verb reads, and the multiplexer over it.

mod connection;
mod connection_setup;
mod each_object;
mod every_kind;
mod file;
mod missing;
mod place;
mod reader;
mod record;
mod server_clock;
mod snapshot;

use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value as Json;

use crate::cluster::{Client, ClusterConfig, OpenApi, Target};
use crate::commands::input::{read_files, stream_of, unreadable};
use crate::commands::manifests::{ObjectRequest, ResolvedTargets};
use crate::commands::{
    CommandError, Context, FailureLogs, FileArgs, MemoryStore, ObjectArgs, TimeOrAge,
};
use crate::env::{Ahead, Clock, Env, shifted};
use crate::model::{JudgementPlan, Model, Retention};
use crate::object::{ObjectRef, ServedTypes};
use crate::record::RecordedCluster;
use crate::source::{ClusterId, Form, SourceKey};
use crate::status::Rules;
use crate::watch::logs::LogFeeds;
use crate::watch::{FileTransport, Mux, MuxOptions, Transport, source_keys};
use connection::ClusterConnection;
pub(crate) use connection_setup::{ClusterOrigin, ConnectionSetup};
pub(crate) use every_kind::{EveryKind, silent_groups};
use missing::NameSuggestions;
use place::SessionPlace;
pub(crate) use reader::ReaderLogin;
pub(crate) use record::{LastRecord, RecordUse, hint_at_record, recorded_types};
pub(crate) use server_clock::ServerClock;
use snapshot::PastView;

/// The cluster or file that a verb reads. Clones share its sources.
#[derive(Clone)]
pub(crate) struct Session {
    /// The name of the context or of the file. Every record has it.
    pub(crate) cluster: ClusterId,
    /// The subscriptions to sources.
    pub(crate) mux: Mux,
    /// The default namespace.
    pub(crate) namespace: Arc<str>,
    place: SessionPlace,
    /// What the multiplexer reads: the place, as it was at a time, or over its record.
    transport: Arc<dyn Transport>,
    /// Whether sources are watched after they are listed.
    watches: bool,
    /// Reads the server over its record, if look-backs alone do.
    past: Option<Mux>,
    /// The clock of the cluster's server.
    server_clock: Option<Arc<ServerClock>>,
    /// Whether the server's clock counts, instead of this machine's.
    is_by_server: bool,
    /// How far the time of `--at`, at which everything is shown, is ahead of the view's clock; `None` without it.
    past_ahead: Option<SignedDuration>,
}

/// The time of `--at`, and the time from which a duration in it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestedTime {
    pub(crate) at: TimeOrAge,
    /// The time by this machine's clock, which stands still.
    pub(crate) now: Timestamp,
}

impl Session {
    /// Reads the file of `--from`, or prepares the connection to the cluster.
    pub(crate) async fn open(
        context: &mut Context<'_>,
        file: &FileArgs,
    ) -> Result<Session, CommandError> {
        file::refuse_contexts(&context.origin, file)?;
        if let Some(path) = file.record() {
            Session::of_record(context, file, &path).await
        } else if file.is_given() {
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
        file::refuse_contexts(&context.origin, file)?;
        let stream = FileTransport::stream(path, input).await;
        let stream = stream.map_err(|error| unreadable(path, &error, "--from"))?;
        Ok(Session::over(context, file, stream))
    }

    fn over(context: &mut Context<'_>, args: &FileArgs, file: FileTransport) -> Session {
        file::set_clock(context.env, &file, args.now);
        let file = Arc::new(file);
        let namespace = context.origin.namespace();
        let namespace = namespace.unwrap_or_else(|| file::only_namespace(&file));
        let cluster = ClusterId(args.name().into());
        Session::new(
            SessionPlace::File(file),
            cluster,
            namespace,
            context.env.now.clone(),
        )
    }

    /// Opens the record in a directory. The time at which it ends is the current time, unless a flag sets another one.
    async fn of_record(
        context: &mut Context<'_>,
        args: &FileArgs,
        path: &Path,
    ) -> Result<Session, CommandError> {
        let (record, unread) = record::chosen(&context.origin, path).await?;
        for line in unread {
            context.note(&line);
        }
        if let Some(now) = args.now.or(record.until()) {
            context.env.now = Arc::new(move || now);
        }
        let namespace = context.origin.namespace();
        let namespace = namespace.unwrap_or_else(|| record::only_namespace(record.sources()));
        let cluster = ClusterId((*record.cluster().name).into());
        let place = SessionPlace::Record(Arc::new(record));
        let mut session = Session::new(place, cluster, namespace, context.env.now.clone());
        session.watches = false;
        session.read_anew(context.env.now.clone());
        Ok(session)
    }

    /// Prepares the connection to the cluster that kubectl would use. It fails if the flags select several.
    pub(crate) async fn connect(context: &Context<'_>) -> Result<Session, CommandError> {
        let setup = ConnectionSetup::of(context);
        let config = setup.only_config(&context.origin).await?;
        Session::of_config(config, &setup).await
    }

    /// Prepares the connection to a cluster.
    pub(crate) async fn of_config(
        config: ClusterConfig,
        setup: &ConnectionSetup,
    ) -> Result<Session, CommandError> {
        let connection = ClusterConnection::open(config, setup).await?;
        let (cluster, namespace) = (connection.cluster.clone(), connection.namespace.clone());
        let now = setup.now.clone();
        let place = SessionPlace::Cluster(connection);
        let mut session = Session::new(place, cluster, namespace, now.clone());
        if let SessionPlace::Cluster(connection) = &session.place {
            session.server_clock = connection.clock(&session.mux, now).map(Arc::new);
        }
        Ok(session)
    }

    fn new(place: SessionPlace, cluster: ClusterId, namespace: Arc<str>, now: Clock) -> Session {
        let transport = place.transport();
        Session {
            mux: Mux::new([(cluster.clone(), transport.clone())], now),
            cluster,
            namespace,
            place,
            transport,
            watches: true,
            past: None,
            server_clock: None,
            is_by_server: false,
            past_ahead: None,
        }
    }

    /// Reads through a multiplexer that other clusters share, and by the server's clock.
    pub(crate) fn share(&mut self, mux: &Mux) {
        mux.add(self.cluster.clone(), self.transport.clone());
        self.mux = mux.clone();
        self.is_by_server = true;
    }

    /// Replaces the multiplexer, whose sources start from their beginning. This comes before all subscriptions.
    fn read_anew(&mut self, now: Clock) {
        let options = MuxOptions {
            watches: self.watches,
            ..MuxOptions::default()
        };
        let transports = [(self.cluster.clone(), self.transport.clone())];
        self.mux = Mux::with_options(transports, now, options);
    }

    /// Resolves the arguments of a verb to targets.
    ///
    /// It asks the server only about types that Kubernetes does not define. Without arguments, a file's targets are all
    /// its types. For arguments in kubespy's form it prints a hint with the equivalent form.
    pub(crate) async fn targets(
        &self,
        args: &ObjectArgs,
        verb: &'static str,
        context: &mut Context<'_>,
    ) -> Result<Vec<Target>, CommandError> {
        let is_of_file = self.is_of_file();
        if is_of_file {
            args.check_selectors()?;
        }
        let request = ObjectRequest::read(args, verb, context).await?;
        let mut hint = |text: &str| context.hint(text);
        let ResolvedTargets { targets, errors } = self.resolve(&request, &mut hint).await?;
        context.unread.add_manifest(errors, 0);
        if is_of_file {
            file::refuse_fields(&targets)?;
        }
        Ok(targets)
    }

    /// Like [`Session::targets`], but arguments without an object or a type mean every kind.
    pub(crate) async fn targets_or_every_kind(
        &self,
        args: &ObjectArgs,
        verb: &'static str,
        context: &mut Context<'_>,
    ) -> Result<EveryKind, CommandError> {
        match self.every_kind(args).await? {
            Some(every) => Ok(every),
            None => Ok(self.targets(args, verb, context).await?.into()),
        }
    }

    /// Every kind, if the arguments have no object and no type; `None` if they have, and for a file.
    pub(crate) async fn every_kind(
        &self,
        args: &ObjectArgs,
    ) -> Result<Option<EveryKind>, CommandError> {
        self.place.every_kind(args, &self.namespace).await
    }

    /// The targets of a request, with selectors that may not be supported. `hint` prints a hint.
    pub(crate) async fn resolve(
        &self,
        request: &ObjectRequest,
        hint: &mut dyn FnMut(&str),
    ) -> Result<ResolvedTargets, CommandError> {
        self.place.resolve(request, &self.namespace, hint).await
    }

    /// The type that a word names, as its kind and group: `Deployment.apps`. Fails in kubectl's words if it is not served.
    pub(crate) async fn type_named(&self, word: &str) -> Result<String, CommandError> {
        self.place.type_named(word).await
    }

    /// The types that are served, besides Kubernetes' own. Without an answer in time, there are none.
    pub(crate) async fn served_types(&self) -> ServedTypes {
        self.place.served_types().await
    }

    /// The sources of targets: one for each name, or else one for each type and its selectors.
    pub(crate) fn keys(&self, targets: &[Target]) -> Vec<SourceKey> {
        let keys = |target| source_keys(&self.cluster, target, Form::Full);
        targets.iter().flat_map(keys).collect()
    }

    fn connection(&self) -> Option<&ClusterConnection> {
        match &self.place {
            SessionPlace::Cluster(connection) => Some(connection),
            SessionPlace::File(_) | SessionPlace::Record(_) => None,
        }
    }

    /// The schemas of the cluster; `None` for a file.
    pub(crate) fn openapi(&self) -> Option<&Arc<OpenApi>> {
        self.connection().map(|connection| &connection.openapi)
    }

    /// A session of the same cluster with the rights of a reader. It shares no source and no record with this one.
    pub(crate) fn of_reader(
        &self,
        login: ReaderLogin,
        now: Clock,
    ) -> Result<Session, CommandError> {
        let found = self.connection().map(|own| own.of_reader(login));
        let connection =
            found.ok_or_else(|| CommandError::failed("error: a file has no readers"))?;
        let place = SessionPlace::Cluster(connection);
        let session = Session::new(place, self.cluster.clone(), self.namespace.clone(), now);
        Ok(Session {
            server_clock: self.server_clock.clone(),
            is_by_server: self.is_by_server,
            ..session
        })
    }

    /// The client of the cluster. Fails for a file.
    pub(crate) fn client(&self) -> Result<&Client, CommandError> {
        let client = self.connection().map(|connection| &connection.client);
        client.ok_or_else(|| CommandError::failed("error: a file has no server"))
    }

    /// Whether a login is on its way, which may ask the user a question.
    pub(crate) fn is_logging_in(&self) -> bool {
        self.connection()
            .is_some_and(|connection| connection.client.is_renewing())
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

    /// Whether it reads a record instead of a cluster.
    pub(super) fn is_of_record(&self) -> bool {
        matches!(self.place, SessionPlace::Record(_))
    }

    /// Whether it reads a file instead of a cluster.
    pub(crate) fn is_of_file(&self) -> bool {
        matches!(self.place, SessionPlace::File(_))
    }

    /// Whether everything is as it was at a time in the past (`--at`).
    pub(crate) fn is_past(&self) -> bool {
        self.past_ahead.is_some()
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
        Some(file::held(self.file()?, target))
    }

    /// The logs of a few failed containers; `None` for a file.
    pub(crate) fn failure_feeds(&self) -> Option<LogFeeds> {
        let feeds = || LogFeeds::new(FailureLogs::MOST);
        let mut feeds = self.has_server().then(feeds)?;
        self.add_logs(&mut feeds);
        Some(feeds)
    }

    /// Adds the logs of its cluster.
    pub(crate) fn add_logs(&self, feeds: &mut LogFeeds) {
        feeds.add_cluster(self.cluster.clone(), self.transport.clone());
    }

    /// The version of the server, as it prints it: an object with `gitVersion`. Fails for a file.
    pub(crate) async fn server_version(&self) -> Result<Json, CommandError> {
        let connection = self.connection().ok_or_else(|| {
            CommandError::failed("error: --from reads a file, which has no server version")
        })?;
        connection.server_version().await
    }

    /// Why nothing proves that there were no news: the server does not answer. A watch of a server that hangs looks like one
    /// without news.
    pub(crate) async fn silence(&self) -> Option<String> {
        self.connection()?.silence().await
    }

    /// Lists each source and does not watch it: for a verb that prints the current state and exits. A file stays as it is.
    pub(crate) fn list_only(&mut self, env: &Env) {
        if self.has_server() {
            self.watches = false;
            self.read_anew(env.clock_ahead(env.ahead.clone()));
        }
    }

    /// Starts a file from its beginning, because a source at the end of the file has no more events.
    pub(crate) fn rewind(&mut self, env: &Env) {
        if self.is_of_file() {
            self.read_anew(env.clock_ahead(env.ahead.clone()));
        }
    }

    /// From now on, the server's clock counts. This comes before all subscriptions. The clock of a file stays.
    pub(crate) fn use_server_clock(&mut self, env: &mut Env) {
        if self.has_server() {
            env.ahead = self.ahead();
            self.read_anew(self.clock(env));
            self.is_by_server = true;
        }
    }

    /// From now on, everything is as it was at a time, the clock too. This comes before all subscriptions. What the server has
    /// forgotten comes from the record in a store.
    pub(crate) async fn look_at(
        &mut self,
        at: TimeOrAge,
        memory: Option<&MemoryStore>,
        context: &mut Context<'_>,
    ) -> Result<(), CommandError> {
        let now = self.clock(context.env)();
        let view = self.past_view(at.seen_from(now), now, memory).await?;
        let time = view.time;
        context.env.now = Arc::new(move || time);
        context.env.ahead = Arc::new(|| SignedDuration::ZERO);
        let notes = self.show_past(view, SignedDuration::ZERO);
        self.read_anew(context.env.now.clone());
        for note in notes {
            context.note(&note);
        }
        Ok(())
    }

    /// The cluster as a record names it. Two contexts of one cluster have the same id. It fails for a file, and if the server
    /// does not answer.
    pub(crate) async fn recorded_cluster(&self) -> Result<RecordedCluster, CommandError> {
        match self.connection() {
            Some(connection) => record::identity(connection).await,
            None => Err(CommandError::failed("error: a file has no record")),
        }
    }

    /// The same beside other clusters, each of which has a time of its own. The session is not shared yet. Returns what the user
    /// must know about it.
    pub(crate) async fn look_at_beside(
        &mut self,
        past: RequestedTime,
        memory: Option<&MemoryStore>,
    ) -> Result<Vec<String>, CommandError> {
        let now = shifted(past.now, self.ahead()());
        let view = self.past_view(past.at.seen_from(now), now, memory).await?;
        let ahead = view.time.duration_since(past.now);
        Ok(self.show_past(view, ahead))
    }

    async fn past_view(
        &self,
        time: Timestamp,
        now: Timestamp,
        memory: Option<&MemoryStore>,
    ) -> Result<PastView, CommandError> {
        match &self.place {
            SessionPlace::Cluster(connection) => {
                snapshot::check_time(time, now)?;
                snapshot::of_cluster(connection, &self.mux, time, memory).await
            }
            SessionPlace::Record(record) => snapshot::of_record(record, time).await,
            SessionPlace::File(_) => {
                let error = "the past needs a cluster or a record: a file has one time";
                Err(CommandError::usage(error))
            }
        }
    }

    /// Reads this past from now on, whose time is so far ahead of the view's clock. Returns what the user must know about it.
    fn show_past(&mut self, view: PastView, ahead: SignedDuration) -> Vec<String> {
        self.transport = view.transport;
        self.watches = false;
        self.server_clock = None;
        (self.is_by_server, self.past_ahead) = (false, Some(ahead));
        view.notes
    }

    /// What the store in a directory has of this cluster, and the last states of these sources. The server has answered then,
    /// and the clocks are compared, because a recorder tells times by the server's. It fails for a file, and if the server does
    /// not answer.
    pub(crate) async fn last_record(
        &self,
        store: &Path,
        keys: &[SourceKey],
    ) -> Result<LastRecord, CommandError> {
        let Some(connection) = self.connection() else {
            return Err(CommandError::failed("error: a file cannot be recorded"));
        };
        let record = record::last_record(connection, store, keys).await?;
        if let Some(clock) = self.unclear_clock() {
            clock.compare().await;
        }
        Ok(record)
    }

    /// Fails if the server does not accept the credentials. Its cluster has no id then.
    pub(crate) async fn check_login(&self) -> Result<(), CommandError> {
        match self.connection() {
            Some(connection) => connection.check_login().await,
            None => Ok(()),
        }
    }

    /// Lays the record of this cluster under the server, if there is one: look-backs then reach as far as the record.
    /// Returns why an existing record is not used, or what of it is not. It fails if that is one that the user has named.
    pub(crate) async fn remember(
        &mut self,
        memory: &MemoryStore,
        now: Clock,
        used: RecordUse,
    ) -> Result<Vec<String>, CommandError> {
        let Some(connection) = self.connection() else {
            return Ok(Vec::new());
        };
        match record::layered(connection, &memory.store, now.clone()).await {
            Ok(None) => Ok(Vec::new()),
            Ok(Some(layered)) => {
                let unread = layered.unread().to_vec();
                match used {
                    RecordUse::Everything => {
                        self.transport = record::whole(connection, layered);
                        self.read_anew(now);
                    }
                    RecordUse::LookBacks => {
                        self.past = record::look_backs(connection, layered, now);
                    }
                }
                Ok(unread)
            }
            Err(error) => memory.without(error),
        }
    }

    /// The multiplexer with the longest memory, for look-backs.
    pub(crate) fn past(&self) -> &Mux {
        self.past.as_ref().unwrap_or(&self.mux)
    }

    /// What the user may have meant by a source's named object. Empty if nothing is known in time.
    pub(crate) async fn suggestions(&self, key: &SourceKey) -> NameSuggestions {
        match self.connection() {
            Some(connection) => missing::suggestions(&connection.client, key).await,
            None => NameSuggestions::default(),
        }
    }

    /// kubectl's words about a namespace that does not exist; `None` if it may exist.
    pub(crate) async fn absent_namespace(&self, namespace: &str) -> Option<String> {
        let lacks = missing::lacks_namespace(&self.connection()?.client, namespace).await;
        lacks.then(|| format!("namespaces \"{namespace}\" not found"))
    }

    /// kubectl's error for missing objects or a missing namespace, with similar names as hints.
    pub(crate) async fn not_found(&self, missing: &[SourceKey]) -> CommandError {
        match &self.place {
            SessionPlace::Record(_) if self.past_ahead.is_some() => {
                missing::not_then(&self.cluster, missing)
            }
            place => missing::not_found(place, &self.cluster, missing).await,
        }
    }

    /// How far the server's clock, or the time of `--at`, is ahead of the view's clock, as far as that is known.
    pub(crate) fn ahead(&self) -> Ahead {
        let past = self.past_ahead.unwrap_or_default();
        match self.server_clock.clone() {
            Some(clock) => Arc::new(move || clock.ahead()),
            None => Arc::new(move || past),
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
