//! `trace`: what is an object connected to, and where does the chain break? Live, for objects of any kind. Some kinds have a
//! story of their own: where a Service sends traffic, and how a workload rolls out or runs.

mod chain;
mod connections;
mod headline;
mod object;
mod printed_trace;
mod reachable;
mod record;
mod requested;
mod service;
#[cfg(test)]
mod testing;
mod traced;
mod tracer;
mod transitions;
mod workload;

use super::{
    Answer, Awaited, CommandError, Context, Ended, Ending, ErrorKind, Judge, LastChanges,
    ObjectArgs, Output, Session, Shutdown, Stop, Subject, Terminal, UnreadPart, ViewOpening,
    WaitArgs, WatchArgs, follow,
};
use crate::graph::{TraceReach, Way, relation_names};
use crate::object::{GroupKind, near};
use crate::rollout::workload_kind;
use crate::source::SourceKey;
use chain::Chain;
use object::ObjectTrace;
use printed_trace::TraceFormat;
use service::ServiceTrace;
use traced::{TraceOptions, Traced};
use tracer::Tracer;
use workload::WorkloadTrace;

/// Show what an object is connected to, and where the chain breaks
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    objects: ObjectArgs,
    /// Choose the output format
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: TraceFormat,
    /// Show only what is in front of the object and what uses it
    #[arg(long, conflicts_with = "down")]
    up: bool,
    /// Show only what is behind the object and what it uses
    #[arg(long)]
    down: bool,
    /// Follow at most this many relations, one after the other (default: all)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    depth: Option<u8>,
    /// Follow only these relations, for example volume,backend
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    relations: Vec<String>,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    wait: WaitArgs,
    /// Show the rules behind the states, and the documents that they come from
    #[arg(long)]
    explain: bool,
}

const EXAMPLES: &str = "Examples:
  kubectl spy trace svc/api               the Pods that get traffic, and why others do not
  kubectl spy trace deploy/web            the phases of a rollout, live, and what it needs
  kubectl spy trace sts/db                the revisions of a StatefulSet, and what blocks it
  kubectl spy trace secret/db --once      print who uses a Secret and exit
  kubectl spy trace ing -l app=web        each Ingress with a label
  kubectl spy trace ing/web -o mermaid    a picture for a web page; dot is for Graphviz
  kubectl spy trace svc/api --for=ready --timeout=5m
                                          exit when it has ready endpoints
  kubectl get svc,endpointslices,deploy,rs,po -o yaml | kubectl spy trace --once --from -
                                          each Service and workload of a file, in turn";

impl TraceArgs {
    /// How standard output is written.
    fn stdout(&self) -> Output {
        match (self.output, self.ending()) {
            (TraceFormat::Text, Ending::Never) => Output::Text,
            (TraceFormat::Text, Ending::Once)
            | (TraceFormat::Json | TraceFormat::Dot | TraceFormat::Mermaid, _) => Output::Lines,
        }
    }

    /// Whether the output is pages, not single lines.
    fn shows_pages(&self, terminal: &Terminal<'_>) -> bool {
        self.output == TraceFormat::Text && (self.ending() == Ending::Once || terminal.is_live())
    }

    /// The same arguments, with these objects if they name none.
    pub(crate) fn about(mut self, objects: &[&str]) -> TraceArgs {
        self.objects.default_to(objects);
        self
    }

    /// How far to go.
    fn reach(&self) -> Result<TraceReach, CommandError> {
        let spelled = |name: &String| name.trim().replace('-', " ");
        let relations: Vec<String> = self.relations.iter().map(spelled).collect();
        let known = relation_names();
        let is_known = |name: &String| known.contains(&spelled(name).as_str());
        if let Some(unknown) = self.relations.iter().find(|name| !is_known(name)) {
            let error = CommandError::failed(format!("error: no relation is named \"{unknown}\""));
            let near = near(&spelled(unknown), known).into_iter();
            let near: Vec<String> = near.map(|name| name.replace(' ', "-")).collect();
            return Err(error.hint(match &*near.join(", ") {
                "" => "the rows of a trace name their relations, and Tab completes them".to_owned(),
                near => format!("did you mean {near}?"),
            }));
        }
        Ok(TraceReach {
            way: match (self.up, self.down) {
                (true, _) => Way::Up,
                (_, true) => Way::Down,
                (false, false) => Way::Both,
            },
            depth: self.depth.map_or(usize::MAX, usize::from),
            relations,
        })
    }

    /// The view of these traces. What changed before a failure is looked up for one object alone.
    fn tracer(
        &self,
        chains: Vec<Box<dyn Chain>>,
        session: &Session,
        now: jiff::Timestamp,
    ) -> Tracer {
        let is_alone = chains.len() == 1;
        let tracer = Tracer::new(chains, self.output, self.ending(), now);
        match self.output {
            TraceFormat::Text | TraceFormat::Json if is_alone => {
                tracer.looking_back(LastChanges::new(session.past().clone()))
            }
            TraceFormat::Text | TraceFormat::Json | TraceFormat::Dot | TraceFormat::Mermaid => {
                tracer
            }
        }
    }

    /// When the verb ends. A picture is one document, so it is printed once.
    fn opening(&self) -> ViewOpening<'_> {
        ViewOpening {
            verb: "trace",
            source: &self.objects.source,
            watch: &self.watch,
            wait: &self.wait,
            ending: self.ending(),
        }
    }

    fn ending(&self) -> Ending {
        match self.output {
            TraceFormat::Dot | TraceFormat::Mermaid => Ending::Once,
            TraceFormat::Text | TraceFormat::Json if self.wait.looks_once() => Ending::Once,
            TraceFormat::Text | TraceFormat::Json => self.watch.ending(&self.objects.source),
        }
    }
}

/// Runs the verb.
pub(crate) fn run(args: &TraceArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        Box::pin(show(args, context, &shutdown)).await
    })
}

/// Shows the trace until `shutdown`.
pub(crate) async fn show(
    args: &TraceArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    args.wait.refuse_logs_without_goal()?;
    let mut stop = Stop::of(&args.wait, shutdown, context.env);
    let session = args.opening().open(&stop, context).await?;
    stop.reads_file = session.is_of_file();
    show_in(session, args, context, stop).await
}

/// Shows the trace of the objects of a session.
async fn show_in(
    mut session: Session,
    args: &TraceArgs,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let chains = Box::pin(chains(args, &stop, &mut session, context)).await?;
    // A file ends, so its objects are traced one after the other.
    let groups: Vec<Vec<Box<dyn Chain>>> = if session.is_of_file() {
        chains.into_iter().map(|chain| vec![chain]).collect()
    } else {
        vec![chains]
    };
    let ending = args.ending();
    let mut terminal = Terminal::open(context, args.stdout());
    let mut ended = Ended::Answered;
    let mut unread = None;
    stop.looks_once = ending == Ending::Once;
    let mut is_well = true;
    let mut parts: Vec<UnreadPart> = Vec::new();
    for (at, chains) in groups.into_iter().enumerate() {
        if at > 0 {
            session.rewind(terminal.env());
            if args.shows_pages(&terminal) {
                terminal.print(&[String::new()])?;
            }
        }
        let sources: Vec<SourceKey> = chains
            .iter()
            .map(|chain| chain.traced().source.clone())
            .collect();
        stop.wait_for(&sources, Judge::Model);
        let mut tracer = args.tracer(chains, &session, (terminal.env().now)());
        let end = follow(&mut tracer, &session, &mut terminal, &mut stop).await;
        is_well &= tracer.is_well();
        let missing = match &tracer.missing[..] {
            _ if args.wait.is_about_presence() => &[],
            missing => missing,
        };
        let absence = stop.explain_absence(&session, missing, &end);
        terminal.notify_if(absence.await?)?;
        parts.append(&mut stop.unread);
        ended = match end {
            // The other objects of the file are traced all the same.
            Err(error) if session.is_of_file() && error.kind() == ErrorKind::Failed => {
                unread.get_or_insert(error);
                continue;
            }
            end => end?,
        };
        if ended != Ended::Answered {
            break;
        }
    }
    match unread {
        Some(error) => Err(error),
        None => args.wait.conclude(ended, Answer::from(!is_well), parts),
    }
}

/// Prints the records of objects once, as of the sources that a session follows already.
pub(crate) async fn print_records(
    args: &TraceArgs,
    session: Session,
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let stop = Stop::of(&args.wait, &Shutdown::never(), context.env);
    Box::pin(show_in(session, args, context, stop)).await?;
    Ok(())
}

/// The traces of the requested objects, in the order of the request.
async fn chains(
    args: &TraceArgs,
    stop: &Stop,
    session: &mut Session,
    context: &mut Context<'_>,
) -> Result<Vec<Box<dyn Chain>>, CommandError> {
    let reach = args.reach()?;
    let targets = Box::pin(session.targets(&args.objects, "trace", context));
    let awaited = Awaited::targets(&args.objects);
    let mut asked = stop.in_time(awaited, targets).await?;
    if args.ending() != Ending::Once || args.wait.has_goal() {
        context.unread.refuse_manifests()?;
    }
    if args.objects.subject() == Subject::Unnamed {
        // A whole file: the objects with a story show most of the others.
        asked.retain(|asked| has_story(&asked.resource.group_kind()));
    }
    let types = Box::pin(async { Ok(session.served_types().await) });
    let options = TraceOptions {
        types: stop.in_time(Awaited::Types, types).await?,
        reach,
        is_of_file: session.is_of_file(),
        explains: args.explain,
    };
    let sources = requested::sources(session, &asked, context.env);
    let sources = stop.in_time(Awaited::Objects, sources).await?;
    let traced = |source| Traced::new(source, options.clone());
    Ok(sources.into_iter().map(traced).map(open).collect())
}

/// The trace of an object.
fn open(traced: Traced) -> Box<dyn Chain> {
    let type_ = traced.source.resource.group_kind();
    match workload_kind(&type_) {
        Some(kind) => Box::new(WorkloadTrace::new(kind, traced)),
        None if is_service(&type_) => Box::new(ServiceTrace::new(traced)),
        None => Box::new(ObjectTrace::new(traced)),
    }
}

/// Whether the objects of a type have a story of their own.
fn has_story(type_: &GroupKind) -> bool {
    workload_kind(type_).is_some() || is_service(type_)
}

fn is_service(type_: &GroupKind) -> bool {
    (&*type_.group, &*type_.kind) == ("", "Service")
}
