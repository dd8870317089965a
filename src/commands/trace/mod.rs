//! `trace`: the chain of one thing, live. For a Service what it sends to and why not; for a Deployment
//! how its rollout goes.

mod deployment;
mod objects;
mod outline;
mod page;
mod record;
mod service;
mod target;
#[cfg(test)]
mod testing;
mod tracer;

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    CommandError, Context, Ended, ObjectArgs, Output, Session, Shutdown, Terminal, WatchArgs,
    follow,
};
use crate::cluster::{Names, Target as Asked};
use crate::render::json::trace::Phase;
use crate::watch::{Event, SourceKey};

use objects::Objects;
use page::Page;
use target::{Presence, Target};
use tracer::Tracer;

/// Follow the chain of one object: what a Service sends to, how a Deployment rolls out
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    objects: ObjectArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
    #[command(flatten)]
    watch: WatchArgs,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people.
    #[default]
    Text,
    /// The graph as a line of JSON, each time it has changed.
    Json,
}

/// The trace of one object: a function of the events of its sources.
trait Chain {
    /// The sources that show the chain, as far as it is known.
    fn wanted(&self) -> Vec<SourceKey>;

    /// Takes one event.
    fn apply(&mut self, key: &Arc<SourceKey>, event: &Event);

    /// Which object it is the trace of.
    fn target(&self) -> &Target;

    /// Whether that object is there.
    fn presence(&self) -> &Presence;

    /// Everything that is known.
    fn objects(&self) -> &Objects;

    /// A line for each thing that has changed since the last call, with the time.
    fn news(&mut self, now: Timestamp) -> Vec<String>;

    /// Takes stock after a batch of events, and now and then as time goes on.
    fn settle(&mut self, _now: Timestamp) {}

    /// The whole view but its footer.
    fn frame(&self, page: &Page) -> Vec<String>;

    /// The phases that records show; none for what has no phases.
    fn phases(&self) -> Vec<Phase> {
        Vec::new()
    }
}

/// A type that can be traced.
struct Traceable {
    group: &'static str,
    kind: &'static str,
    /// How it is written on the command line.
    usage: &'static str,
    open: fn(Target) -> Box<dyn Chain>,
}

/// Everything that can be traced.
const TRACEABLE: [Traceable; 2] = [
    Traceable {
        group: "",
        kind: "Service",
        usage: "svc/NAME",
        open: |target| Box::new(service::State::new(target)),
    },
    Traceable {
        group: "apps",
        kind: "Deployment",
        usage: "deploy/NAME",
        open: |target| Box::new(deployment::State::new(target)),
    },
];

impl Args {
    /// The same about these objects, if none are named.
    pub(crate) fn about(mut self, objects: &[&str]) -> Args {
        self.objects.default_to(objects);
        self
    }
}

/// Runs the verb.
pub(crate) fn run(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal()?;
        show(args, context, &shutdown).await
    })
}

/// Shows the trace until `shutdown`.
pub(crate) async fn show(
    args: &Args,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let session = Session::open(context, &args.objects.source).await?;
    let asked = session.targets(&args.objects).await?;
    let chain = open(target(&session, &asked)?)?;
    let output = match (args.output, args.watch.ends()) {
        (Format::Text, false) => Output::Text,
        (Format::Text, true) | (Format::Json, _) => Output::Lines,
    };
    let mut terminal = Terminal::open(context, output);
    let mut tracer = Tracer::new(chain, args, terminal.env().now());
    let ended = follow(&mut tracer, &session, &mut terminal, shutdown).await;
    match tracer.missing {
        Some(missing) => Err(session.not_found(&[missing]).await),
        None => ended,
    }
}

/// Opens the trace of an object, if there is one of its type.
fn open(target: Target) -> Result<Box<dyn Chain>, CommandError> {
    let kind = target.resource.group_kind();
    let traceable = TRACEABLE
        .iter()
        .find(|one| one.group == &*kind.group && one.kind == &*kind.kind);
    match traceable {
        Some(traceable) => Ok((traceable.open)(target)),
        None => Err(not_traceable(&target.resource.group_resource())),
    }
}

fn not_traceable(what: &str) -> CommandError {
    let usages: Vec<_> = TRACEABLE.iter().map(|one| one.usage).collect();
    CommandError::failed(format!("error: {what} cannot be traced"))
        .hint(format!("what can be traced: {}", usages.join(", ")))
}

/// The one object that is asked for; of a file, too, it has to be named.
fn target(session: &Session, asked: &[Asked]) -> Result<Target, CommandError> {
    let names = asked.iter().flat_map(|asked| match &asked.names {
        Names::Named(names) => names.iter().map(|name| (asked, name.clone())).collect(),
        Names::All => Vec::new(),
    });
    match &names.collect::<Vec<_>>()[..] {
        [(asked, name)] => Ok(Target {
            cluster: session.cluster.clone(),
            resource: asked.resource.clone(),
            namespace: asked.namespace.clone().unwrap_or_default(),
            name: name.clone(),
        }),
        [] => Err(CommandError::usage(
            "the name of an object is missing: trace TYPE/NAME",
        )),
        _ => Err(CommandError::usage("one object is traced at a time")),
    }
}
