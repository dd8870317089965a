//! `serve`: what `status` and `trace` show, for browsers and programs.
//!
//! Like `demo`, it runs other verbs: it publishes the rows of `status`, and answers questions with the records of `trace`,
//! `changes` and `logs`.

mod follower;
mod verb_answers;

use std::future::IntoFuture;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::live::session::silent_groups;
use super::status::{RETENTION, ServedStatus, StatusState, own_namespace};
use super::{
    Awaited, CommandError, Context, Ended, Ending, EveryKind, FailureLogs, LastChanges,
    LogLineArgs, MemoryArgs, ObjectArgs, Output, RecordUse, Session, Shutdown, Stop, Subject,
    Terminal, follow,
};
use crate::render::display::Stream;
use crate::serve::{AccessToken, Board, Gate, WebServer, router};
use crate::status::Rules;
use follower::{Follower, Publisher};
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
    /// Answer at this address of your machine; port 0 chooses a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7780", value_parser = parse_listen)]
    listen: SocketAddr,
    /// Open the page in your browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

const EXAMPLES: &str = "Examples:
  kubectl spy serve                         what is not well in the namespace, as a page
  kubectl spy serve -A --open               the same of all namespaces, and open the page
  kubectl spy serve deploy,sts -n prod      two types of one namespace
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

    /// The address to listen on. Fails unless only this machine can reach it.
    fn address(&self) -> Result<SocketAddr, CommandError> {
        if self.listen.ip().is_loopback() {
            return Ok(self.listen);
        }
        let port = self.listen.port();
        let error = format!(
            "error: cannot listen on {}: other machines could read what you may read",
            self.listen
        );
        Err(CommandError::failed(error).hint(format!(
            "serve has no TLS and no login yet: use --listen 127.0.0.1:{port}, and reach it from another \
             machine with `ssh -L {port}:127.0.0.1:{port}`"
        )))
    }
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:");
    let parsed = match local {
        Some(port) => port
            .parse()
            .ok()
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| "expected an address and a port, for example 127.0.0.1:7780".to_owned())
}

pub(crate) fn run(args: &ServeArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        Box::pin(serve(args, context, &shutdown)).await
    })
}

async fn serve(
    args: &ServeArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let listener = listen(args).await?;
    let address = listener.local_addr()?;
    let mut stop = Stop::at(shutdown);
    let session = connect(args, &stop, context).await?;
    let every = Box::pin(targets(args, &session, context));
    let every = stop.in_time(Awaited::Types, every).await?;
    let now = (context.env.now)();
    let state = Box::pin(async { Ok(state(args, &session, &every).await) });
    let served = ServedStatus::new(stop.in_time(Awaited::Types, state).await?);
    let board = Board::new(fastrand::u32(..).into(), served.empty_snapshot());
    let (asked, questions) = mpsc::channel(WAITING);
    let token = random_token()?;
    let mut gate = Gate::new(token.clone(), address);
    let url = format!("http://{address}/");
    if args.open {
        let once = random_token()?;
        open(&format!("{url}?t={}", once.text()), context);
        gate = gate.admitting_once(once);
    }
    let web = Arc::new(WebServer::new(board.subscribe(), gate, asked));
    let answering = tokio::spawn(axum::serve(listener, router(web.clone())).into_future());
    let answers = VerbAnswers {
        session: &session,
        origin: context.origin.clone(),
        look: context.look,
        env: context.env.detached(Stream::default(), Stream::default()),
        memory: args.memory.words(),
    };
    for line in silent_groups(&every.silent) {
        context.note(&line);
    }
    let mut terminal = Terminal::open(context, Output::Text);
    terminal.print(&[format!("{url}?t={}", token.text())])?;
    let to = Publisher {
        board,
        web,
        address: url,
    };
    let mut follower = Follower::new(served, to, now);
    let ended = tokio::select! {
        ended = follow(&mut follower, &session, &mut terminal, &mut stop) => ended,
        () = answers.answer(questions) => Ok(Ended::Answered),
    };
    answering.abort();
    ended
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

/// Listens before anything is read, so that a port in use is an error at once.
async fn listen(args: &ServeArgs) -> Result<TcpListener, CommandError> {
    let address = args.address()?;
    TcpListener::bind(address).await.map_err(|error| {
        CommandError::failed(format!("error: cannot listen on {address}: {error}"))
            .hint("choose another port with --listen, or 0 for any free one")
    })
}

/// The requested objects and types; without any, every kind but Events, which have no state.
async fn targets(
    args: &ServeArgs,
    session: &Session,
    context: &mut Context<'_>,
) -> Result<EveryKind, CommandError> {
    let objects = args.objects();
    let every = session.targets_or_every_kind(&objects, "serve", context);
    let every = every.await?;
    Ok(match objects.subject() {
        Subject::Unnamed => every.without_events(),
        Subject::Words | Subject::Releases | Subject::Manifests => every,
    })
}

/// The state of these objects before any event. It looks up what changed before a failure, and what failed containers printed.
async fn state(args: &ServeArgs, session: &Session, every: &EveryKind) -> StatusState {
    let mut requested = session.keys(&every.targets);
    if args.objects().subject() == Subject::Unnamed {
        requested.extend(own_namespace(&requested));
    }
    let model = session.model(&requested, Rules::Spy, RETENTION).await;
    let state = StatusState::new(model, requested);
    let mut state = state.looking_back(LastChanges::new(session.past().clone()));
    let feeds = session.failure_feeds();
    let logs = LogLineArgs::default();
    state.failure_logs = feeds.map(|feeds| FailureLogs::new(feeds, logs, Ending::Never));
    state
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_is_of_this_machine() {
        for (text, is_ours) in [
            ("127.0.0.1:7780", Some(true)),
            ("127.0.0.9:1", Some(true)),
            ("[::1]:0", Some(true)),
            ("localhost:7780", Some(true)),
            ("0.0.0.0:7780", Some(false)),
            ("[::]:7780", Some(false)),
            ("192.168.0.7:80", Some(false)),
            ("127.0.0.1", None),
            (":7780", None),
            ("example.com:80", None),
            ("localhost:99999", None),
        ] {
            let args = parse_listen(text).map(|listen| ServeArgs {
                objects: Vec::new(),
                selector: None,
                all_namespaces: false,
                listen,
                open: false,
                memory: MemoryArgs::default(),
            });
            let found = args.ok().map(|args| args.address().is_ok());
            assert_eq!(found, is_ours, "{text}");
        }
    }
}
