//! `serve`: what `status` and `trace` show, for browsers and programs.
//!
//! Like `demo`, it runs other verbs: it publishes the rows of `status`, and answers questions with the records of `trace`,
//! `changes` and `logs`.

mod args;
mod config;
mod entrance;
mod followed;
mod followed_cluster;
mod follower;
mod kube_api;
mod kube_objects;
mod kube_rights;
mod kube_watch;
mod listen;
mod manifest;
mod manifest_files;
mod open_server;
mod package_records;
mod served_group;
mod sinks;
mod topics;
mod verb_answers;

use std::sync::Arc;

use futures::FutureExt;

use super::live::cluster_group::ClusterGroup;
use super::live::clusters::Clusters;
use super::live::session::silent_groups;
use super::{
    Awaited, CommandError, Context, Ended, Output, ReaderLogin, RecordUse, ReloadRequests, Session,
    Shutdown, Stop, Terminal,
};
use crate::serve::RightsCache;
pub(crate) use args::ServeArgs;
use config::{LoadedConfig, kinds_of};
use entrance::entrance;
use followed::{Retargeting, find_targets, state, with_kinds};
use followed_cluster::FollowedCluster;
use kube_api::{ApiReaders, KubeApi};
use kube_rights::KubeRights;
use listen::Auth;
use manifest::print_manifest;
use open_server::OpenServer;
use served_group::ServedGroup;
use sinks::SinkPlaces;
use topics::RecordPlace;
use verb_answers::VerbAnswers;

pub(crate) fn run(args: &ServeArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::of_server(context.env)?;
        if args.manifest.print_manifest {
            let stop = Stop::at(&shutdown);
            let server = args.printed();
            let printed = print_manifest(&args.manifest, &server, context, &stop);
            return Box::pin(printed).await;
        }
        let memory = args.memory.of_server(context.env)?;
        let args = ServeArgs {
            memory,
            ..args.clone()
        };
        Box::pin(serve(&args, context, &shutdown)).await
    })
}

async fn serve(
    args: &ServeArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut config = args.config.clone().map(LoadedConfig::read).transpose()?;
    let stop = Stop::at(shutdown);
    let contexts = Box::pin(ClusterGroup::contexts(context));
    if let Some(contexts) = stop.in_time(Awaited::Server, contexts).await? {
        let group = ServedGroup { contexts, config };
        return Box::pin(group.serve(args, context, stop)).await;
    }
    let port = args.listen.open().await?;
    let session = connect(args, &stop, context).await?;
    let arguments = args.objects();
    let every = Box::pin(find_targets(&arguments, config.as_mut(), &session, context));
    let every = stop.in_time(Awaited::Types, every).await?;
    let objects = with_kinds(&arguments, kinds_of(config.as_ref()))?;
    let state = Box::pin(async { Ok(state(&objects, &session, &every).await) });
    let state = stop.in_time(Awaited::Types, state).await?;
    let only = FollowedCluster::only(session.cluster.clone(), state);
    let entrance = entrance(args, &port, context)?;
    let printed = entrance.printed.clone();
    let readers = Box::pin(readers(args, &session));
    let readers = stop.in_time(Awaited::Types, readers).await?;
    let asked = readers.as_ref().map(Readers::of_api);
    let names = || vec![session.cluster.0.clone()];
    let api = args.api.map(|_| KubeApi::new(session.mux.clone(), names()));
    let api = api.map(|api| Arc::new(api.asking(asked)));
    if let Some(api) = &api {
        let sources = session.keys(&every.targets);
        api.serve(&session.cluster, session.client()?.clone(), sources);
    }
    let mut server = OpenServer::new(only.snapshot.clone(), port, entrance, stop)
        .asking(readers.as_ref().map(|readers| readers.rights.clone()))
        .serving(api);
    let mut sinks = None;
    if let Some(config) = config {
        let places = places(args, &config, &session, context).await?;
        let retargeting = Retargeting::new((&session).into(), &args.objects(), &config, context);
        let (sending, work) = server.sending(config, places, context.env).await?;
        let reloads = ReloadRequests::listen(context.env)?;
        sinks = Some(work.run(reloads, retargeting).boxed_local());
        server = sending;
    }
    let started = server.start(Some(only), objects.subject(), context.env);
    let login = readers.map(|readers| readers.login);
    let answers = VerbAnswers::new(args.memory.words(), (&session).into(), login, context);
    let sources = session.keys(&every.targets);
    let absent = Clusters::from(&session).awaited_namespace(&sources).await;
    for line in silent_groups(&every.silent).chain(absent) {
        context.note(&line);
    }
    let mut terminal = Terminal::open(context, Output::Text);
    terminal.print(&[printed])?;
    Box::pin(started.run(answers, sinks, terminal)).await
}

/// What the requests of readers need.
struct Readers {
    login: ReaderLogin,
    rights: Arc<RightsCache>,
}

/// Prepares for readers with tokens of their own; `None` if only the owner reads. It fails if the API server accepts any token.
async fn readers(args: &ServeArgs, session: &Session) -> Result<Option<Readers>, CommandError> {
    if args.listen.auth == Auth::Token {
        return Ok(None);
    }
    let client = session.client()?.without_login().await?;
    // A reader may not be able to find out the name of the cluster in the record.
    let mut recorded_as = None;
    if args.memory.is_read() {
        recorded_as = session.recorded_cluster().await.ok();
    }
    let rights = KubeRights::new(client.clone()).await?;
    Ok(Some(Readers {
        rights: Arc::new(RightsCache::new(Arc::new(rights))),
        login: ReaderLogin {
            client,
            recorded_as,
        },
    }))
}

impl Readers {
    /// What their requests to the API server need.
    fn of_api(&self) -> ApiReaders {
        ApiReaders {
            client: self.login.client.clone(),
            rights: self.rights.clone(),
        }
    }
}

/// Where the record is, and the outbox: that of the configuration, or one beside the record. Each cluster has its own.
async fn places(
    args: &ServeArgs,
    config: &LoadedConfig,
    session: &Session,
    context: &Context<'_>,
) -> Result<SinkPlaces, CommandError> {
    let record = record_place(args, session, context).await;
    if let Some(path) = &config.content.outbox {
        return Ok(SinkPlaces {
            outbox: path.clone(),
            record: record.ok(),
            are_several: false,
        });
    }
    let record = record?;
    let name = format!("outbox-{}.sqlite", record.cluster);
    Ok(SinkPlaces {
        outbox: record.directory.join(name),
        record: Some(record),
        are_several: false,
    })
}

/// Where the record of the cluster is, or would be.
async fn record_place(
    args: &ServeArgs,
    session: &Session,
    context: &Context<'_>,
) -> Result<RecordPlace, CommandError> {
    Ok(RecordPlace {
        directory: args.memory.directory(context.env)?,
        cluster: session.recorded_cluster().await?.id,
    })
}

/// The cluster by its own clock, over its record if there is one.
async fn connect(
    args: &ServeArgs,
    stop: &Stop,
    context: &mut Context<'_>,
) -> Result<Session, CommandError> {
    let connected = Box::pin(Session::connect(context));
    let mut session = stop.in_time(Awaited::Types, connected).await?;
    session.use_server_clock(context.env);
    if let Some(memory) = args.memory.open(context)? {
        let now = session.clock(context.env);
        let remembered = session.remember(&memory, now, RecordUse::LookBacks);
        let remembered = stop.in_time(Awaited::Types, Box::pin(remembered));
        for note in remembered.await? {
            context.note(&note);
        }
    }
    Ok(session)
}
