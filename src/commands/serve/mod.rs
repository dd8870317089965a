//! `serve`: what `status` and `trace` show, for browsers and programs.
//!
//! Like `demo`, it runs other verbs: it publishes the rows of `status`, and answers questions with the records of `trace`,
//! `changes` and `logs`.

mod config;
mod followed;
mod follower;
mod kube_api;
mod kube_objects;
mod kube_rights;
mod kube_watch;
mod listen;
mod manifest;
mod manifest_files;
mod package_records;
mod sinks;
mod topics;
mod verb_answers;

use std::future::pending;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::live::session::silent_groups;
use super::status::ServedStatus;
use super::{
    Awaited, CommandError, Context, Ended, EveryKind, MemoryArgs, ObjectArgs, Output, ReaderLogin,
    RecordUse, ReloadRequests, Session, Shutdown, Stop, Terminal, follow,
};
use crate::serve::{AccessToken, Board, Gate, RightsCache, WebServer, router};
use config::ServeConfig;
use followed::{Retargeting, state, targets, with_kinds};
use follower::{Follower, Publisher};
use kube_api::{ApiReaders, KubeApi};
use kube_rights::KubeRights;
use listen::{Auth, ListenArgs, OpenPort};
use manifest::{PrintManifestArgs, PrintedServer, print_manifest};
use package_records::PackageRecords;
use sinks::{LoadedConfig, SinkPlaces, SinkWork};
use topics::RecordPlace;
use verb_answers::{VerbAnswers, WAITING};

/// Show the state of a cluster on a page in your browser, live
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Types and objects to follow, as kubectl names them (default: every kind of the namespace)
    #[arg(value_name = "TYPE")]
    objects: Vec<String>,
    /// Follow only objects with these labels, for example app=web
    #[arg(short = 'l', long)]
    selector: Option<String>,
    /// Look in all namespaces, even if -n names one
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    #[command(flatten)]
    listen: ListenArgs,
    /// Also answer the read API of Kubernetes, at the paths of the API server. The followed types are answered from memory
    #[arg(long, value_enum, value_name = "API")]
    api: Option<ServedApi>,
    /// Open the page in your browser
    #[arg(long)]
    open: bool,
    /// Read the configuration in this file: webhooks and Kafka. SIGHUP reads it again
    #[arg(short = 'f', long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    manifest: PrintManifestArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// Another API that the server answers.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum ServedApi {
    /// Get, list and watch, as of an API server
    Kubernetes,
}

const EXAMPLES: &str = "Examples:
  kubectl spy serve                         what is not well in the namespace, as a page
  kubectl spy serve -A --open               the same of all namespaces, and open the page
  kubectl spy serve deploy,sts -n prod      two types of one namespace
  kubectl spy serve -A -f serve.yaml        also send changes of state to webhooks
  kubectl spy serve -A -f serve.yaml --print-manifest --tls-secret spy-tls | kubectl apply -f -
                                            the same inside the cluster, for many readers
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7780/spy/v1/status
                                            the records of status -o json";

impl ServeArgs {
    /// The selected objects.
    fn objects(&self) -> ObjectArgs {
        ObjectArgs {
            objects: self.objects.clone(),
            selector: self.selector.clone(),
            all_namespaces: self.all_namespaces,
            ..ObjectArgs::default()
        }
    }

    /// The same server, for inside the cluster.
    fn printed(&self) -> PrintedServer {
        let api = self.api;
        let api = api.map(|ServedApi::Kubernetes| "--api=kubernetes".to_owned());
        PrintedServer {
            objects: self.objects(),
            flags: api.into_iter().collect(),
            config: self.config.clone(),
        }
    }
}

pub(crate) fn run(args: &ServeArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        if args.manifest.print_manifest {
            let stop = Stop::at(&shutdown);
            let server = args.printed();
            let printed = print_manifest(&args.manifest, &server, context, &stop);
            return Box::pin(printed).await;
        }
        Box::pin(serve(args, context, &shutdown)).await
    })
}

async fn serve(
    args: &ServeArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let config = loaded_config(args)?;
    let port = args.listen.open().await?;
    let mut stop = Stop::at(shutdown);
    let session = connect(args, &stop, context).await?;
    let kinds = kinds_of(config.as_ref());
    let objects = with_kinds(&args.objects(), kinds)?;
    let every = Box::pin(targets(&objects, &session, context));
    let every = stop.in_time(Awaited::Types, every).await?;
    let now = (context.env.now)();
    let state = Box::pin(async { Ok(state(&objects, &session, &every).await) });
    let served = ServedStatus::new(stop.in_time(Awaited::Types, state).await?);
    let board = Board::new(fastrand::u32(..).into(), served.empty_snapshot());
    let (asked, questions) = mpsc::channel(WAITING);
    let entrance = entrance(args, &port, context)?;
    let readers = Box::pin(readers(args, &session, context));
    let readers = stop.in_time(Awaited::Types, readers).await?;
    let web = WebServer::new(board.subscribe(), entrance.gate, asked);
    let api = kube_api(args, &session, &every, readers.as_ref())?;
    let mut web = for_readers(web, readers.as_ref(), api.as_ref());
    let (mut sinks, mut feed) = (None, None);
    if let Some(config) = &config {
        let places = places(args, config, &session, context).await?;
        let (work, of_follower) = SinkWork::open(places, config, board.subscribe(), context.env)?;
        web = web.with_sinks(of_follower.counts());
        let retargeting = Retargeting::new(&session, args.objects(), kinds, context);
        sinks = Some(work.run(ReloadRequests::listen(context.env)?, retargeting));
        feed = Some(of_follower);
    }
    let web = Arc::new(web);
    let lines = context.env.requests.clone();
    let answering = port.answer(router(web.clone()), move |note| lines.print(vec![note]));
    let answering = tokio::spawn(answering);
    let login = readers.map(|readers| readers.login);
    let answers = VerbAnswers::new(args.memory.words(), &session, login, context);
    for line in silent_groups(&every.silent) {
        context.note(&line);
    }
    let mut terminal = Terminal::open(context, Output::Text);
    terminal.print(&[entrance.printed])?;
    let to = Publisher {
        board,
        web,
        address: entrance.address,
        sinks: feed,
        packages: PackageRecords::new(config.map_or_else(Vec::new, |it| it.content.packages)),
    };
    let mut follower = Follower::new(served, to, now);
    let ended = tokio::select! {
        ended = follow(&mut follower, &session, &mut terminal, &mut stop) => ended,
        () = answers.answer(questions) => Ok(Ended::Answered),
        () = deliver(sinks) => Ok(Ended::Answered),
        () = keep_events(api.as_deref()) => Ok(Ended::Answered),
    };
    answering.abort();
    ended
}

/// The kinds of the configuration.
fn kinds_of(config: Option<&LoadedConfig>) -> &[String] {
    config.map_or(&[], |config| &config.content.kinds)
}

/// Where readers come in.
struct Entrance {
    gate: Gate,
    /// The address without a token.
    address: String,
    /// The printed address: with the token, if the server has one.
    printed: String,
}

/// The gate for the readers of `--auth`, and the page in the browser with `--open`.
fn entrance(
    args: &ServeArgs,
    port: &OpenPort,
    context: &mut Context<'_>,
) -> Result<Entrance, CommandError> {
    let (scheme, address) = (
        port.scheme(),
        format!("{}://{}/", port.scheme(), port.address),
    );
    if args.listen.auth == Auth::Kube {
        if args.open {
            open(&address, context);
        }
        return Ok(Entrance {
            gate: Gate::kube(scheme),
            printed: address.clone(),
            address,
        });
    }
    let token = random_token()?;
    let mut gate = Gate::own(token.clone(), port.address, scheme);
    if args.open {
        let once = random_token()?;
        open(&format!("{address}?t={}", once.text()), context);
        gate = gate.admitting_once(once);
    }
    Ok(Entrance {
        gate,
        printed: format!("{address}?t={}", token.text()),
        address,
    })
}

/// What the requests of readers need.
struct Readers {
    login: ReaderLogin,
    rights: Arc<RightsCache>,
}

/// Prepares for readers with tokens of their own; `None` if only the owner reads. It fails if the API server accepts any token.
async fn readers(
    args: &ServeArgs,
    session: &Session,
    context: &mut Context<'_>,
) -> Result<Option<Readers>, CommandError> {
    if args.listen.auth == Auth::Token {
        return Ok(None);
    }
    let client = session.client()?.without_login().await?;
    // A reader may not be able to find out the name of the cluster in the record.
    let recorded_as = match args.memory.path(context.env) {
        Some(_) => session.recorded_cluster().await.ok(),
        None => None,
    };
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

/// The server for these readers, or for its owner, with this API.
fn for_readers(web: WebServer, readers: Option<&Readers>, api: Option<&Arc<KubeApi>>) -> WebServer {
    let web = match readers {
        Some(readers) => web.asking(readers.rights.clone()),
        None => web,
    };
    match api {
        Some(api) => web.serving(api.clone()),
        None => web,
    }
}

/// The read API of Kubernetes over these objects; `None` without `--api`.
fn kube_api(
    args: &ServeArgs,
    session: &Session,
    every: &EveryKind,
    readers: Option<&Readers>,
) -> Result<Option<Arc<KubeApi>>, CommandError> {
    let Some(ServedApi::Kubernetes) = args.api else {
        return Ok(None);
    };
    let sources = session.keys(&every.targets);
    let api = KubeApi::new(session.mux.clone(), sources, session.client()?.clone());
    Ok(Some(Arc::new(api.asking(readers.map(Readers::of_api)))))
}

/// Reads the configuration, before anything else happens.
fn loaded_config(args: &ServeArgs) -> Result<Option<LoadedConfig>, CommandError> {
    let Some(path) = args.config.clone() else {
        return Ok(None);
    };
    let content = ServeConfig::read(&path)?;
    Ok(Some(LoadedConfig { path, content }))
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
        });
    }
    let record = record?;
    let name = format!("outbox-{}.sqlite", record.cluster);
    Ok(SinkPlaces {
        outbox: record.directory.join(name),
        record: Some(record),
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

/// Keeps the last events for the watches of readers; without `--api`, it waits.
async fn keep_events(api: Option<&KubeApi>) {
    match api {
        Some(api) => api.keep_events().await,
        None => pending().await,
    }
}

async fn deliver(sinks: Option<impl Future<Output = ()>>) {
    match sinks {
        Some(sinks) => sinks.await,
        None => pending().await,
    }
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
    if let Some(store) = args.memory.path(context.env) {
        let now = session.clock(context.env);
        let remembered = async { Ok(session.remember(&store, now, RecordUse::LookBacks).await) };
        let remembered = stop.in_time(Awaited::Types, Box::pin(remembered));
        if let Some(note) = remembered.await? {
            context.note(&note);
        }
    }
    Ok(session)
}

fn random_token() -> Result<AccessToken, CommandError> {
    let token = AccessToken::random();
    token.ok_or_else(|| CommandError::failed("error: the system has no random numbers"))
}

/// The program that opens an address in the user's browser, with its first arguments.
const OPENER: &[&str] = if cfg!(windows) {
    &["rundll32", "url.dll,FileProtocolHandler"]
} else if cfg!(target_os = "macos") {
    &["open"]
} else {
    &["xdg-open"]
};

/// Opens an address in the user's browser. Other users may see it in the list of processes, so its token admits only once.
fn open(address: &str, context: &mut Context<'_>) {
    let mut command = Command::new(OPENER[0]);
    command.args(&OPENER[1..]).arg(address);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        context.note(&format!("cannot open a browser: {}: {error}", OPENER[0]));
    }
}
