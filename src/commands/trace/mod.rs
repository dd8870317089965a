//! `trace`: what is an object connected to, and where does the chain break? Live, for objects of any kind. Some kinds have a
//! story of their own: where a Service sends traffic, and how a workload rolls out or runs.

mod chain;
mod cluster_traces;
mod connections;
mod object;
mod printed_trace;
mod record;
mod service;
mod story_line;
#[cfg(test)]
mod testing;
mod traced;
mod tracer;
mod workload;

use std::sync::Arc;

use super::flag_values::above_zero;
use super::live::cluster_group::{ClusterGroup, GroupOptions};
use super::live::clusters::Clusters;
use super::manifests::ObjectRequest;
use super::{
    Answer, Awaited, CommandError, ConnectionSetup, Context, Ended, Ending, ErrorKind, Judge,
    ObjectArgs, Output, RecordUse, RequestedTime, Session, Shutdown, Stop, Subject, Terminal,
    UnreadPart, ViewOpening, WaitArgs, WatchArgs, follow, hint_at_record,
};
use crate::cluster::ContextConfig;
use crate::graph::{TraceReach, Way, relation_names};
use crate::object::near;
use crate::source::SourceKey;
use cluster_traces::has_story;
use printed_trace::TraceFormat;
use traced::TraceOptions;
use tracer::{TraceSetup, Tracer};

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
    #[arg(long, value_name = "N", value_parser = above_zero::<u8>)]
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

    /// What the traces are made of, and how they are printed.
    fn setup(&self) -> Result<TraceSetup, CommandError> {
        Ok(TraceSetup {
            format: self.output,
            ending: self.ending(),
            reach: self.reach()?,
            explains: self.explain,
            has_goal: self.wait.has_goal(),
        })
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

pub(crate) fn run(args: &TraceArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        let ended = Box::pin(show(args, context, &shutdown)).await;
        hint_at_record(ended, &args.objects, &args.watch.memory, context).await
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
    if !args.objects.source.is_given() {
        let contexts = Box::pin(ClusterGroup::contexts(context));
        if let Some(contexts) = stop.in_time(Awaited::Server, contexts).await? {
            return Box::pin(show_several(args, contexts, context, stop)).await;
        }
    }
    let session = args.opening().open(&stop, context).await?;
    stop.reads_file = session.is_of_file();
    show_in(session, args, context, stop).await
}

/// Shows the trace of the objects of several clusters.
async fn show_several(
    args: &TraceArgs,
    contexts: Vec<ContextConfig>,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let setup = args.setup()?;
    let request = Box::pin(ObjectRequest::read(&args.objects, "trace", context));
    let request = stop.in_time(Awaited::targets(&args.objects), request);
    let request = request.await?;
    let (at, now) = (args.watch.at, (context.env.now)());
    let memory = args.watch.memory.open(context)?;
    let options = GroupOptions {
        means_every_kind: false,
        watches: setup.ending != Ending::Once,
        each_object: true,
        continues: None,
        memory: memory.map(|memory| (memory, RecordUse::LookBacks)),
        past: at.map(|at| RequestedTime { at, now }),
    };
    let group = ClusterGroup::new(contexts, ConnectionSetup::of(context), request, options);
    if at.is_some() {
        context.env.now = Arc::new(move || now);
    }
    stop.wait_for_clusters(&group, Judge::Model);
    let mut tracer = Tracer::new(setup, (context.env.now)());
    let terminal = Terminal::open(context, args.stdout());
    let mut run = TraceRun {
        args,
        terminal,
        stop,
    };
    let ended = run.follow(&mut tracer, (&group).into()).await??;
    if let Some(error) = tracer.nothing() {
        return Err(error);
    }
    let answer = Answer::from(!tracer.is_well());
    args.wait.conclude(ended, answer, run.stop.unread)
}

/// The verb, ready to read.
struct TraceRun<'a, 't> {
    args: &'a TraceArgs,
    terminal: Terminal<'t>,
    stop: Stop,
}

impl TraceRun<'_, '_> {
    /// Shows traces until the end. Returns how they have ended. It fails if named objects do not exist.
    async fn follow(
        &mut self,
        tracer: &mut Tracer,
        clusters: Clusters<'_>,
    ) -> Result<Result<Ended, CommandError>, CommandError> {
        self.stop.looks_once = self.args.ending() == Ending::Once;
        let end = follow(tracer, clusters, &mut self.terminal, &mut self.stop).await;
        let missing = match &tracer.missing[..] {
            _ if self.args.wait.is_about_presence() => &[],
            missing => missing,
        };
        let absence = self.stop.explain_absence(clusters, missing, &end);
        self.terminal.notify_if(absence.await?)?;
        Ok(end)
    }
}

/// Shows the trace of the objects of a session.
async fn show_in(
    mut session: Session,
    args: &TraceArgs,
    context: &mut Context<'_>,
    stop: Stop,
) -> Result<Ended, CommandError> {
    let setup = args.setup()?;
    let (sources, options) = Box::pin(requested(args, &stop, &session, context)).await?;
    // A file ends, so its objects are traced one after the other.
    let at_once = if session.is_of_file() { 1 } else { usize::MAX };
    let groups: Vec<&[SourceKey]> = sources.chunks(at_once).collect();
    let mut run = TraceRun {
        args,
        terminal: Terminal::open(context, args.stdout()),
        stop,
    };
    let (mut ended, mut unread) = (Ended::Answered, None);
    let mut is_well = true;
    let mut parts: Vec<UnreadPart> = Vec::new();
    for (at, sources) in groups.into_iter().enumerate() {
        if at > 0 {
            session.rewind(run.terminal.env());
            if args.shows_pages(&run.terminal) {
                run.terminal.print(&[String::new()])?;
            }
        }
        run.stop.wait_for(sources, Judge::Model);
        let group = setup.traces(sources, &options, &session);
        let started = (run.terminal.env().now)();
        let mut tracer = Tracer::new(setup.clone(), started).only(group);
        let end = run.follow(&mut tracer, (&session).into()).await?;
        is_well &= tracer.is_well();
        parts.append(&mut run.stop.unread);
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
    mut session: Session,
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let stop = Stop::of(&args.wait, &Shutdown::never(), context.env);
    if let Some(at) = args.watch.at {
        let memory = args.watch.memory.open(context)?;
        let looking = Box::pin(session.look_at(at, memory.as_ref(), context));
        stop.in_time(Awaited::session(&args.objects.source), looking)
            .await?;
    }
    Box::pin(show_in(session, args, context, stop)).await?;
    Ok(())
}

/// The sources of the requested objects, in the order of the request, and what their traces need besides. It fails if there are
/// none.
async fn requested(
    args: &TraceArgs,
    stop: &Stop,
    session: &Session,
    context: &mut Context<'_>,
) -> Result<(Vec<SourceKey>, TraceOptions), CommandError> {
    let reach = args.reach()?;
    let targets = Box::pin(session.targets(&args.objects, "trace", context));
    let awaited = Awaited::targets(&args.objects);
    let mut targets = stop.in_time(awaited, targets).await?;
    if args.ending() != Ending::Once || args.wait.has_goal() {
        context.unread.refuse_manifests()?;
    }
    if args.objects.subject() == Subject::Unnamed {
        // A whole file: the objects with a story show most of the others.
        targets.retain(|target| has_story(&target.resource.group_kind()));
    }
    let types = Box::pin(async { Ok(session.served_types().await) });
    let options = TraceOptions {
        types: stop.in_time(Awaited::Types, types).await?,
        reach,
        is_of_file: session.is_of_file(),
        explains: args.explain,
    };
    let now = session.clock(context.env);
    let sources = Box::pin(session.each_object(&targets, &now));
    let sources = stop.in_time(Awaited::Objects, sources).await?;
    if sources.is_empty() {
        let error = format!("error: {}", session.nothing_matches(&targets));
        return Err(CommandError::failed(error).hint(if session.is_of_file() {
            "name a type or an object: trace TYPE/NAME --from FILE"
        } else {
            "to wait until an object is created, name it: trace TYPE/NAME"
        }));
    }
    Ok((sources, options))
}
