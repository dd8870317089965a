//! `logs`: every line of everything that a workload runs.

mod args;
mod live;
mod log_cluster;
mod log_clusters;
mod selected_pods;
#[cfg(test)]
mod testing;
mod timeline;

use super::container_lines::{LineClock, LogFormat, LogLook, LogOutput};
use super::live::cluster_group::{ClusterGroup, GroupOptions};
use super::live::clusters::Clusters;
use super::manifests::ObjectRequest;
use super::versions::{Reach, Since};
use super::{
    Answer, Awaited, CommandError, ConnectionSetup, Context, Ended, ErrorKind, Judge, Output,
    RecordUse, Session, Shutdown, Stop, Terminal, WaitArgs, follow,
};
use crate::cluster::ContextConfig;
use crate::model::ViewExtent;
use crate::render::display::NoTerminal;
use crate::render::style::{Look, Styles};
use crate::status::Rules;
pub(crate) use args::LogsArgs;
use args::LogsPlan;
use live::{LiveLogs, LogsOptions};
use log_cluster::LogSetup;
use selected_pods::RETENTION;
use timeline::TimelineSetup;

pub(crate) fn run(args: &LogsArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        Box::pin(show(args, context, &shutdown)).await
    })
}

/// Shows the logs of containers until they end, or until `shutdown`.
pub(crate) async fn show(
    args: &LogsArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let wait = WaitArgs::without_logs(args.goal.clone());
    let stop = Stop::of(&wait, shutdown, context.env);
    // Flags that do not fit are an error before any request.
    let plan = args.plan()?;
    let contexts = Box::pin(ClusterGroup::contexts(context));
    if let Some(contexts) = stop.in_time(Awaited::Server, contexts).await? {
        return Box::pin(show_several(args, contexts, context, stop)).await;
    }
    let session = Box::pin(Session::connect(context));
    let mut session = stop.in_time(Awaited::Server, session).await?;
    if let Some(memory) = args.memory(&plan, context)? {
        let now = session.clock(context.env);
        let remembered = session.remember(&memory, now, RecordUse::LookBacks);
        let remembered = stop.in_time(Awaited::Server, Box::pin(remembered));
        for note in remembered.await? {
            context.note(&note);
        }
    }
    Box::pin(show_in(session, args, context, stop)).await
}

/// Prints the records of containers once, as of the sources that a session follows already.
pub(crate) async fn print_records(
    args: &LogsArgs,
    session: Session,
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let stop = Stop::at(&Shutdown::never());
    Box::pin(show_in(session, args, context, stop)).await?;
    Ok(())
}

/// Prints the lines of the containers of a session.
async fn show_in(
    session: Session,
    args: &LogsArgs,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let plan = args.plan()?;
    let targets = Box::pin(session.targets(&plan.objects, "logs", context));
    let awaited = Awaited::targets(&plan.objects);
    let targets = stop.in_time(awaited, targets).await;
    let targets = targets.map_err(|error| args.hint_at_container(error))?;
    let requested = session.keys(&targets);
    let model = async { Ok(session.model(&requested, Rules::Spy, RETENTION).await) };
    let mut model = stop.in_time(Awaited::Types, Box::pin(model)).await?;
    stop.wait_for(&requested, Judge::Model);
    model.request(requested);
    let setup = setup(args, &plan, context);
    let cluster = setup.cluster(&session, model, &session.clock(context.env));
    let mut live = live(args, plan, setup, context);
    live.add(cluster, &session);
    let terminal = Terminal::open(context, Output::Lines);
    let run = LogsRun { args, live, stop };
    Box::pin(run.follow((&session).into(), terminal)).await
}

/// Prints the lines of the containers of several clusters.
async fn show_several(
    args: &LogsArgs,
    contexts: Vec<ContextConfig>,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let plan = args.plan()?;
    let request = Box::pin(ObjectRequest::read(&plan.objects, "logs", context));
    let awaited = Awaited::targets(&plan.objects);
    let request = stop.in_time(awaited, request).await?;
    let memory = args.memory(&plan, context)?;
    let options = GroupOptions {
        means_every_kind: false,
        watches: true,
        each_object: false,
        continues: None,
        memory: memory.map(|memory| (memory, RecordUse::LookBacks)),
        past: None,
    };
    let group = ClusterGroup::new(contexts, ConnectionSetup::of(context), request, options);
    stop.wait_for_clusters(&group, Judge::Model);
    let setup = setup(args, &plan, context);
    let live = live(args, plan, setup, context);
    let terminal = Terminal::open(context, Output::Lines);
    let run = LogsRun { args, live, stop };
    Box::pin(run.follow((&group).into(), terminal)).await
}

/// The verb, ready to read.
struct LogsRun<'a> {
    args: &'a LogsArgs,
    live: LiveLogs,
    stop: Stop,
}

impl LogsRun<'_> {
    /// Prints lines until the end.
    async fn follow(
        self,
        clusters: Clusters<'_>,
        mut terminal: Terminal<'_>,
    ) -> Result<Ended, CommandError> {
        let LogsRun {
            args,
            mut live,
            mut stop,
        } = self;
        let wait = WaitArgs::without_logs(args.goal.clone());
        stop.looks_once = wait.looks_once();
        let ended = follow(&mut live, clusters, &mut terminal, &mut stop).await;
        let missing = live.missing();
        if is_over(&ended)
            && !wait.is_about_presence()
            && let Some(error) = clusters.not_found(&missing).await
        {
            return Err(error.hint(if wait.has_goal() {
                "to wait until it is created, use a longer --timeout"
            } else {
                "to wait until it is created, add --follow"
            }));
        }
        let absence = stop.explain_absence(clusters, &[], &ended);
        terminal.notify_if(absence.await?)?;
        let ended = ended?;
        terminal.notify_if(live.without_previous())?;
        let failure = live.failure(&stop.unread).filter(|_| {
            let is_decided = wait.has_goal() || args.ignore_errors;
            !is_decided && !matches!(ended, Ended::By(_))
        });
        failure.map_or_else(|| wait.conclude(ended, Answer::Nothing, stop.unread), Err)
    }
}

/// Whether it has ended by itself, met its goal or not.
fn is_over(ended: &Result<Ended, CommandError>) -> bool {
    match ended {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::GoalUnmet,
    }
}

/// The view, before any cluster has joined.
fn live(args: &LogsArgs, plan: LogsPlan, setup: LogSetup, context: &Context<'_>) -> LiveLogs {
    let look = LogLook {
        styles: context.look().styles,
        format: plan.format,
        is_of_notes: false,
        raw: NoTerminal::of(context.env.stdout_tty),
        timestamps: args.has_timestamps(),
        clock: (!plan.timeline.is_empty()).then(|| line_clock(context)),
        prefix: args.has_prefix(),
        namespaces: plan.objects.all_namespaces,
    };
    let options = LogsOptions {
        read: plan.read,
        tail: plan.tail,
        containers: plan.containers,
        state: args.state,
        order: args.order,
        most: plan.most,
        is_quiet: args.quiet,
        running_timeout: plan.running_timeout,
        has_goal: args.goal.has_goal(),
        ignores_errors: args.ignore_errors,
    };
    let output = LogOutput::new(look, plan.filter, plan.fields);
    LiveLogs::new(setup, options, output)
}

/// What the view of each cluster is made of.
fn setup(args: &LogsArgs, plan: &LogsPlan, context: &Context<'_>) -> LogSetup {
    let look = match plan.format {
        LogFormat::Json => Look {
            styles: Styles::PLAIN,
            ..context.look()
        },
        LogFormat::Short | LogFormat::Raw => context.look(),
    };
    let timeline = (!plan.timeline.is_empty()).then(|| TimelineSetup {
        parts: plan.timeline,
        look,
        zone: context.env.zone.clone(),
        reach: Reach::new(
            Some(plan.past.unwrap_or(Since::Now)),
            None,
            context.env.now(),
        ),
        is_followed: plan.read.follow,
    });
    LogSetup {
        extent: if args.goal.has_goal() {
            ViewExtent::PodsAndStates
        } else {
            ViewExtent::Pods
        },
        revisions: args.revisions(),
        timeline,
        now: context.env.now.clone(),
    }
}

/// The clock of a timeline.
fn line_clock(context: &Context<'_>) -> LineClock {
    match context.look().width {
        Some(_) => LineClock::TimeOfDay(context.env.zone.clone()),
        None => LineClock::Rfc3339,
    }
}
