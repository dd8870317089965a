//! `ClusterGroup`: several clusters that a verb reads together. Each joins when it is connected and its types are known; one
//! that fails is tried again, while the others go on.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::sleep;

use super::cluster_labels::cluster_labels;
use super::session::{
    ClusterOrigin, ConnectionSetup, LastRecord, RecordUse, RequestedTime, Session, silent_groups,
};
use crate::cluster::{ClusterConfig, ConfigError, ContextConfig, PluginRun};
use crate::commands::manifests::ObjectRequest;
use crate::commands::{CommandError, Context, EveryKind, MemoryStore};
use crate::model::{JudgementPlan, Model, Retention};
use crate::object::ServedTypes;
use crate::source::{ClusterId, SourceKey};
use crate::status::Rules;
use crate::watch::{Mux, MuxOptions};

/// How many clusters connect at the same time.
const AT_ONCE: usize = 8;
/// How many times to try a cluster before its silence is an answer.
const TRIES: u32 = 3;
/// How long the login of one cluster may take. Nobody can answer its questions, because the view has the terminal.
const LOGIN: Duration = Duration::from_secs(60);
/// The waits between two attempts: they double from the first to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What a verb does with each cluster of a group.
#[derive(Clone)]
pub(crate) struct GroupOptions {
    /// Whether arguments without an object or a type mean every kind.
    pub(crate) means_every_kind: bool,
    /// Whether sources are watched after they are listed.
    pub(crate) watches: bool,
    /// Whether each object has a source of its own, and the types of the cluster are needed.
    pub(crate) each_object: bool,
    /// The directory of the records that the verb continues.
    pub(crate) continues: Option<PathBuf>,
    /// The store that is read beside the servers, and what for.
    pub(crate) memory: Option<(MemoryStore, RecordUse)>,
    /// The time at which everything is shown, instead of now.
    pub(crate) past: Option<RequestedTime>,
}

/// Several clusters, one session each, over one multiplexer.
pub(crate) struct ClusterGroup {
    members: Vec<GroupMember>,
    setup: ConnectionSetup,
    request: ObjectRequest,
    options: GroupOptions,
    /// The multiplexer of all clusters.
    pub(crate) mux: Mux,
    /// Limits how many clusters connect at the same time.
    room: Semaphore,
    /// Limits logins to one at a time: two of them must not open two browsers.
    login: Semaphore,
}

struct GroupMember {
    cluster: ClusterId,
    /// Its short name, for a column.
    label: Arc<str>,
    /// Its configuration, for the first attempt.
    config: RefCell<Option<Result<ClusterConfig, ConfigError>>>,
    session: OnceCell<Session>,
    /// Notes about its connection that nobody has taken yet.
    notes: RefCell<Vec<String>>,
}

/// A cluster that has joined.
pub(crate) struct JoinedCluster<'a> {
    /// Its place in the group.
    pub(crate) place: usize,
    /// Its short name.
    pub(crate) label: Arc<str>,
    /// Its session.
    pub(crate) session: &'a Session,
    /// The requested objects.
    pub(crate) every: EveryKind,
    /// Their sources.
    pub(crate) keys: Vec<SourceKey>,
    /// The types that it serves, if the plan of a model needs them.
    pub(crate) types: Option<ServedTypes>,
    /// What is recorded of it, if the verb continues records.
    pub(crate) record: Option<LastRecord>,
    /// Hints about the arguments.
    pub(crate) hints: Vec<String>,
    /// The errors of manifests that cannot be resolved.
    pub(crate) errors: Vec<CommandError>,
}

impl JoinedCluster<'_> {
    /// A line for each API group whose server does not answer, after the name of the cluster.
    pub(crate) fn silent_groups(&self) -> impl Iterator<Item = String> {
        let name = &self.session.cluster.0;
        silent_groups(&self.every.silent).map(move |line| format!("{name}: {line}"))
    }

    /// The model of its objects, before any event.
    pub(crate) fn model(&self, rules: Rules, kept: Retention) -> Model {
        let model = Model::new(rules, kept);
        match &self.types {
            Some(types) => model.with_types(types.clone()),
            None => model,
        }
    }
}

/// The result of an attempt to let a cluster join.
pub(crate) struct JoinAttempt<'a> {
    pub(crate) cluster: ClusterId,
    /// The place of the cluster in its group.
    pub(crate) place: usize,
    /// How many attempts there were, with this one.
    pub(crate) count: u32,
    pub(crate) result: Result<JoinedCluster<'a>, CommandError>,
}

impl ClusterGroup {
    /// A group of these contexts, none of which is connected. There is at least one.
    pub(crate) fn new(
        contexts: Vec<ContextConfig>,
        setup: ConnectionSetup,
        request: ObjectRequest,
        options: GroupOptions,
    ) -> ClusterGroup {
        let names: Vec<&str> = contexts.iter().map(|context| &*context.name).collect();
        let labels = cluster_labels(&names);
        let members = contexts.into_iter().zip(labels);
        let members = members.map(|(context, label)| GroupMember {
            cluster: ClusterId(context.name),
            label: label.into(),
            config: RefCell::new(Some(context.config)),
            session: OnceCell::new(),
            notes: RefCell::default(),
        });
        let mux_options = MuxOptions {
            watches: options.watches,
            ..MuxOptions::default()
        };
        ClusterGroup {
            members: members.collect(),
            mux: Mux::with_options([], setup.now.clone(), mux_options),
            setup,
            request,
            options,
            room: Semaphore::new(AT_ONCE),
            login: Semaphore::new(1),
        }
    }

    /// The contexts that the flags select, if they are several.
    pub(crate) async fn contexts(
        context: &Context<'_>,
    ) -> Result<Option<Vec<ContextConfig>>, CommandError> {
        let ClusterOrigin::Kubeconfig(flags) = &context.origin else {
            return Ok(None);
        };
        if !flags.contexts.may_be_several(&flags.overrides) {
            return Ok(None);
        }
        let contexts = ConnectionSetup::of(context).configs(flags).await?;
        Ok(Some(contexts).filter(|contexts| contexts.len() > 1))
    }

    /// The clusters, in the order of the request.
    pub(crate) fn clusters(&self) -> impl Iterator<Item = &ClusterId> {
        self.members.iter().map(|member| &member.cluster)
    }

    /// How many times to try a cluster before its silence is an answer. A recorder waits without end.
    pub(crate) fn tries(&self) -> u32 {
        match self.options.continues {
            Some(_) => u32::MAX,
            None => TRIES,
        }
    }

    /// The sessions of the clusters that are connected.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.members
            .iter()
            .filter_map(|member| member.session.get())
    }

    /// Whether a login is on its way, which may ask the user a question.
    pub(crate) fn is_logging_in(&self) -> bool {
        self.sessions().any(Session::is_logging_in)
    }

    /// The first attempts of all clusters. They run at the same time, as far as there is room.
    pub(crate) fn first_attempts(&self) -> Vec<LocalBoxFuture<'_, JoinAttempt<'_>>> {
        let places = 0..self.members.len();
        let attempt = |place| self.attempt(place, 1).boxed_local();
        places.map(attempt).collect()
    }

    /// How long to wait after an attempt that has failed. An answer of the server changes less soon than its silence.
    pub(crate) fn wait_after(count: u32, is_silence: bool) -> Duration {
        let doubled = if is_silence {
            FIRST_WAIT.saturating_mul(1 << (count.clamp(1, 6) - 1))
        } else {
            LONGEST_WAIT
        };
        // Clusters behind one gateway must not return at the same moment.
        let share = 0.75 + fastrand::f64() / 4.0;
        doubled.min(LONGEST_WAIT).mul_f64(share)
    }

    /// An attempt after one that has failed: that number `count` of the cluster at this place.
    pub(crate) fn next_attempt(
        &self,
        place: usize,
        count: u32,
        wait: Duration,
    ) -> LocalBoxFuture<'_, JoinAttempt<'_>> {
        async move {
            sleep(wait).await;
            self.attempt(place, count).await
        }
        .boxed_local()
    }

    async fn attempt(&self, place: usize, count: u32) -> JoinAttempt<'_> {
        JoinAttempt {
            cluster: self.members[place].cluster.clone(),
            place,
            count,
            result: self.join(place).await,
        }
    }

    async fn join(&self, place: usize) -> Result<JoinedCluster<'_>, CommandError> {
        let member = &self.members[place];
        let (session, _room) = match member.session.get() {
            Some(session) => (session, self.room.acquire().await.ok()),
            None => self.connect(member).await?,
        };
        // What is found out now is not asked again.
        if self.options.each_object || self.options.continues.is_some() {
            session.check_login().await?;
        }
        let mut every = None;
        if self.options.means_every_kind {
            every = session.every_kind(&self.request.args).await?;
        }
        let (mut hints, mut errors) = (member.notes.take(), Vec::new());
        let every = if let Some(every) = every {
            every
        } else {
            let mut hint = |text: &str| hints.push(text.to_owned());
            let resolved = session.resolve(&self.request, &mut hint).await?;
            errors = resolved.errors;
            resolved.targets.into()
        };
        let keys = if self.options.each_object {
            session.each_object(&every.targets, &self.setup.now).await?
        } else {
            session.keys(&every.targets)
        };
        let mut record = None;
        if let Some(store) = &self.options.continues {
            record = Some(session.last_record(store, &keys).await?);
        }
        let mut types = None;
        if self.options.each_object || keys.iter().any(JudgementPlan::needs_types) {
            types = Some(session.served_types().await);
        }
        Ok(JoinedCluster {
            place,
            label: member.label.clone(),
            session,
            every,
            types,
            record,
            keys,
            hints,
            errors,
        })
    }

    /// Connects a cluster. Returns its session, and its place among those that connect. A plugin runs without the terminal, and
    /// alone: a cluster that waits for its turn to log in has no place yet.
    async fn connect<'g>(
        &'g self,
        member: &'g GroupMember,
    ) -> Result<(&'g Session, Option<SemaphorePermit<'g>>), CommandError> {
        let first = member.config.take();
        let config = match first {
            Some(config) => config?,
            None => self.setup.config_of(&member.cluster.0).await?,
        };
        let mut login = None;
        if config.runs_plugin() {
            login = self.login.acquire().await.ok();
        }
        let room = self.room.acquire().await.ok();
        let config = config.running_plugins(PluginRun::Unattended(LOGIN));
        let mut session = Session::of_config(config, &self.setup).await?;
        drop(login);
        let memory = self.options.memory.as_ref();
        if let Some(past) = self.options.past {
            let memory = memory.map(|(memory, _)| memory);
            let notes = session.look_at_beside(past, memory).await?;
            member.notes.borrow_mut().extend(notes);
        } else if let Some((memory, used)) = memory {
            let remembered = session.remember(memory, self.setup.now.clone(), *used);
            let not_used = remembered.await?;
            member.notes.borrow_mut().extend(not_used);
        }
        session.share(&self.mux);
        Ok((member.session.get_or_init(|| session), room))
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;
    use crate::cluster::Overrides;
    use crate::commands::UnreadFiles;
    use crate::commands::args::{LookArgs, ObjectArgs};
    use crate::env::Env;

    /// Two contexts for each place among those that connect. Each has a credential plugin.
    fn group_of_plugins() -> ClusterGroup {
        let context = Context {
            origin: ClusterOrigin::Plain {
                server: "http://127.0.0.1:1".to_owned(),
                name: "test",
                namespace: "default",
            },
            look: LookArgs::default(),
            env: &mut Env::for_test(),
            unread: UnreadFiles::default(),
        };
        let texts = ["{apiVersion: v1, kind: Config, current-context: c,
            contexts: [{name: c, context: {cluster: c, user: u}}],
            clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: u, user: {}}]}"];
        let config = |_| {
            let config = ClusterConfig::of_texts(&texts, &Overrides::default());
            config.map(|config| config.with_plugin("login"))
        };
        let contexts = (0..2 * AT_ONCE).map(|number| ContextConfig {
            name: format!("c{number}").into(),
            config: config(number),
        });
        let request = ObjectRequest {
            args: ObjectArgs::default(),
            verb: "status",
            manifests: None,
            names_namespace: false,
        };
        let options = GroupOptions {
            means_every_kind: true,
            watches: true,
            each_object: false,
            continues: None,
            memory: None,
            past: None,
        };
        let setup = ConnectionSetup::of(&context);
        ClusterGroup::new(contexts.collect(), setup, request, options)
    }

    #[test]
    fn clusters_that_wait_for_a_login_leave_the_places_to_others() {
        let group = group_of_plugins();
        let login = group.login.try_acquire().expect("nobody logs in");
        let mut attempts = join_all(group.first_attempts());
        assert!((&mut attempts).now_or_never().is_none());
        assert_eq!(group.room.available_permits(), AT_ONCE);
        drop(login);
    }

    #[test]
    fn the_waits_double_up_to_half_a_minute() {
        for (count, is_silence, most) in [
            (1, true, 1),
            (2, true, 2),
            (3, true, 4),
            (5, true, 16),
            (6, true, 30),
            (1000, true, 30),
            (1, false, 30),
        ] {
            let wait = ClusterGroup::wait_after(count, is_silence).as_secs_f64();
            let most = f64::from(most);
            assert!((most * 0.75..=most).contains(&wait), "{count}: {wait}");
        }
    }
}
