//! `trace`: what is an object connected to, and where does the chain break? Live, for objects of any kind. Some kinds have a
//! story of their own: where a Service sends traffic, and how a workload rolls out or runs.

mod chain;
mod connections;
mod headline;
mod object;
mod printed_trace;
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
    Answer, CommandError, Context, Ended, Ending, ErrorKind, Judge, LastChanges, ObjectArgs,
    Output, Session, Shutdown, Stop, Subject, Terminal, UnreadPart, WaitArgs, WatchArgs, follow,
};
use crate::graph::{TraceReach, Way, relation_names};
use crate::object::Resource;
use crate::source::SourceKey;

use chain::Chain;
use object::ObjectTrace;
use printed_trace::TraceFormat;
use traced::{TraceOptions, Traced};
use tracer::Tracer;
use workload::WorkloadTrace;

/// Show what an object is connected to, and where the chain breaks
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
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
  kubectl spy trace sts/db                the revisions of a StatefulSet, and what blocks its rollout
  kubectl spy trace secret/db --once      print who uses a Secret and exit
  kubectl spy trace ing -l app=web        each Ingress with a label
  kubectl spy trace ing/web -o mermaid    a picture for a web page; dot is for Graphviz
  kubectl spy trace svc/api --for=ready --timeout=5m
                                          exit when it has ready endpoints
  kubectl get svc,endpointslices,deploy,rs,po -o yaml | kubectl spy trace --once --from -
                                          each Service and workload of a file, in turn";

/// A type with a story of its own.
struct Story {
    group: &'static str,
    kind: &'static str,
    open: fn(SourceKey) -> Box<dyn Chain>,
}

/// All types with a story.
const STORIES: [Story; 6] = [
    Story {
        group: "",
        kind: "Service",
        open: |source| Box::new(service::ServiceTrace::new(source)),
    },
    Story {
        group: "apps",
        kind: "Deployment",
        open: |source| Box::new(WorkloadTrace::of_deployment(Traced::new(source))),
    },
    Story {
        group: "apps",
        kind: "StatefulSet",
        open: |source| Box::new(WorkloadTrace::of_stateful_set(Traced::new(source))),
    },
    Story {
        group: "apps",
        kind: "DaemonSet",
        open: |source| Box::new(WorkloadTrace::of_daemon_set(Traced::new(source))),
    },
    Story {
        group: "batch",
        kind: "Job",
        open: |source| Box::new(WorkloadTrace::of_job(Traced::new(source))),
    },
    Story {
        group: "batch",
        kind: "CronJob",
        open: |source| Box::new(WorkloadTrace::of_cron_job(Traced::new(source))),
    },
];

impl Args {
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
    pub(crate) fn about(mut self, objects: &[&str]) -> Args {
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
            let known: Vec<String> = known.iter().map(|name| name.replace(' ', "-")).collect();
            let error = CommandError::failed(format!("error: no relation is named \"{unknown}\""));
            return Err(error.hint(format!("use some of {}", known.join(", "))));
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

    /// When the verb ends. A picture is one document, so it is printed once.
    fn ending(&self) -> Ending {
        match self.output {
            TraceFormat::Dot | TraceFormat::Mermaid => Ending::Once,
            TraceFormat::Text | TraceFormat::Json if self.wait.looks_once() => Ending::Once,
            TraceFormat::Text | TraceFormat::Json => self.watch.ending(),
        }
    }
}

/// Runs the verb.
pub(crate) fn run(args: &Args, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        show(args, context, &shutdown).await
    })
}

/// Shows the trace until `shutdown`.
pub(crate) async fn show(
    args: &Args,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut stop = args.wait.stop(shutdown);
    let mut session = open_session(args, context).await?;
    let chains = chains(args, &stop, &mut session, context).await?;
    // A file ends, so its objects are traced one after the other.
    let groups: Vec<Vec<Box<dyn Chain>>> = if session.is_of_file() {
        chains.into_iter().map(|chain| vec![chain]).collect()
    } else {
        vec![chains]
    };
    if args.wait.has_goal() && groups.iter().any(|chains| chains.len() > 1) {
        let error = CommandError::usage("trace --for waits for one object");
        return Err(error.hint("to wait for several, use `kubectl spy status`"));
    }
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
        stop.wait_for(&args.wait, &sources, Judge::Model);
        let is_alone = chains.len() == 1;
        let mut tracer = Tracer::new(chains, args.output, ending, terminal.env().now());
        let shows_last_change = matches!(args.output, TraceFormat::Text | TraceFormat::Json);
        if shows_last_change && is_alone {
            tracer = tracer.looking_back(LastChanges::new(session.mux.clone()));
        }
        let end = follow(&mut tracer, &session, &mut terminal, &mut stop).await;
        is_well &= tracer.is_well();
        parts.append(&mut stop.unread);
        if !tracer.missing.is_empty() && !args.wait.is_about_presence() {
            return Err(session.not_found(&tracer.missing).await);
        }
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

/// The cluster or the file to read.
async fn open_session(args: &Args, context: &mut Context<'_>) -> Result<Session, CommandError> {
    let mut session = Session::open(context, &args.objects.source).await?;
    if args.ending() == Ending::Once {
        session.list_only(context.env);
    }
    Ok(session)
}

/// The traces of the requested objects, in the order of the request.
async fn chains(
    args: &Args,
    stop: &Stop,
    session: &mut Session,
    context: &mut Context<'_>,
) -> Result<Vec<Box<dyn Chain>>, CommandError> {
    let reach = args.reach()?;
    let targets = Box::pin(session.targets(&args.objects, "trace", context));
    let mut asked = args.wait.in_time(stop, targets).await?;
    if args.objects.subject() == Subject::Unnamed {
        // A whole file: the objects with a story show most of the others.
        asked.retain(|asked| story(&asked.resource).is_some());
    }
    let options = TraceOptions {
        types: session.served_types().await,
        reach,
        is_of_file: session.is_of_file(),
    };
    let sources = requested::sources(session, &asked, context.env).await?;
    let chains = sources.into_iter().map(|source| {
        let mut chain = open(source);
        chain.traced_mut().set(options.clone());
        chain.traced_mut().explains = args.explain;
        chain
    });
    Ok(chains.collect())
}

/// The trace of the object of a source.
fn open(source: SourceKey) -> Box<dyn Chain> {
    match story(&source.resource) {
        Some(open) => open(source),
        None => Box::new(ObjectTrace::new(source)),
    }
}

/// The function that opens the trace of a type with a story.
fn story(resource: &Resource) -> Option<fn(SourceKey) -> Box<dyn Chain>> {
    let kind = resource.group_kind();
    let mut known = STORIES.iter();
    let found = known.find(|one| one.group == &*kind.group && one.kind == &*kind.kind);
    found.map(|one| one.open)
}
