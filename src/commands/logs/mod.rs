//! `logs`: every line of everything that a workload runs.

mod args;
mod container_feeds;
mod line_filter;
mod line_order;
mod live;
mod message;
mod names;
mod output;
mod selected_pods;
#[cfg(test)]
mod testing;
mod timeline;
mod unread_logs;

use super::versions::{Reach, Since};
use super::{
    Answer, Awaited, CommandError, Context, Ended, ErrorKind, Judge, Output, Session, Shutdown,
    Stop, Terminal, WaitArgs, follow,
};
use crate::model::ViewExtent;
use crate::render::display::NoTerminal;
use crate::render::style::{Look, Styles};
use crate::source::SourceKey;
use crate::status::Rules;
pub(crate) use args::LogsArgs;
use args::{LogFormat, LogsPlan};
use live::{LiveLogs, LogsOptions};
use output::{LineClock, LogLook, LogOutput};
use selected_pods::{RETENTION, SelectedPods};
use timeline::{ItemBuilder, LogTimeline, TimelinePast};

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
    args.plan()?;
    let session = Box::pin(Session::connect(context));
    let session = stop.in_time(Awaited::Server, session).await?;
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
    let wait = WaitArgs::without_logs(args.goal.clone());
    let targets = Box::pin(session.targets(&plan.objects, "logs", context));
    let awaited = Awaited::targets(&plan.objects);
    let targets = stop.in_time(awaited, targets).await?;
    let requested = session.keys(&targets);
    let model = async { Ok(session.model(&requested, Rules::Spy, RETENTION).await) };
    let model = stop.in_time(Awaited::Types, Box::pin(model)).await?;
    let model = model.showing(if wait.has_goal() {
        ViewExtent::PodsAndStates
    } else {
        ViewExtent::Pods
    });
    let timeline = timeline(&plan, &session, context, &requested);
    stop.wait_for(&requested, Judge::Model);
    stop.looks_once = wait.looks_once();
    let selection = SelectedPods::new(model, requested, args.revisions());
    let feeds = session.mux.logs(&session.cluster, plan.most);
    let feeds = feeds.ok_or_else(|| CommandError::failed("error: logs need a cluster"))?;
    let options = options(args, &plan);
    let output = LogOutput::new(
        look(args, &plan, &session, context),
        plan.filter,
        plan.fields,
    );
    let mut terminal = Terminal::open(context, Output::Lines);
    let mut live = LiveLogs::new(selection, options, feeds, output);
    if let Some(timeline) = timeline {
        live = live.with_timeline(timeline);
    }
    let ended = follow(&mut live, &session, &mut terminal, &mut stop).await;
    let missing = live.missing();
    if is_over(&ended) && !missing.is_empty() && !wait.is_about_presence() {
        let error = session.not_found(&missing).await;
        return Err(error.hint(if wait.has_goal() {
            "to wait until it is created, use a longer --timeout"
        } else {
            "to wait until it is created, add --follow"
        }));
    }
    let absence = stop.explain_absence(&session, &[], &ended);
    terminal.notify_if(absence.await?)?;
    let ended = ended?;
    let failure = live.failure(&stop.unread).filter(|_| {
        let is_decided = wait.has_goal() || args.ignore_errors;
        !is_decided && !matches!(ended, Ended::By(_))
    });
    failure.map_or_else(|| wait.conclude(ended, Answer::Nothing, stop.unread), Err)
}

/// Whether it has ended by itself, met its goal or not.
fn is_over(ended: &Result<Ended, CommandError>) -> bool {
    match ended {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::GoalUnmet,
    }
}

/// What is read, and how.
fn options(args: &LogsArgs, plan: &LogsPlan) -> LogsOptions {
    LogsOptions {
        read: plan.read,
        tail: plan.tail,
        containers: plan.containers.clone(),
        state: args.state,
        order: args.order,
        most: plan.most,
        is_quiet: args.quiet,
        running_timeout: plan.running_timeout,
        has_goal: args.goal.has_goal(),
    }
}

/// How the lines are drawn.
fn look(args: &LogsArgs, plan: &LogsPlan, session: &Session, context: &Context<'_>) -> LogLook {
    LogLook {
        styles: context.look().styles,
        format: plan.format,
        raw: NoTerminal::of(context.env.stdout_tty),
        timestamps: args.has_timestamps(),
        clock: (!plan.timeline.is_empty()).then(|| line_clock(context)),
        prefix: args.has_prefix(),
        namespaces: plan.objects.all_namespaces,
        cluster: session.cluster.0.clone(),
    }
}

/// What is shown between the lines; `None` without `--with`.
fn timeline(
    plan: &LogsPlan,
    session: &Session,
    context: &Context<'_>,
    requested: &[SourceKey],
) -> Option<LogTimeline> {
    if plan.timeline.is_empty() {
        return None;
    }
    let env = &context.env;
    let clock = session.clock(env);
    let look = match plan.format {
        LogFormat::Json => Look {
            styles: Styles::PLAIN,
            ..context.look()
        },
        LogFormat::Short | LogFormat::Raw => context.look(),
    };
    let builder = ItemBuilder::new(plan.timeline, look, env.zone.clone(), &clock);
    let reach = Reach::new(Some(plan.past.unwrap_or(Since::Now)), None, env.now());
    let past = reach.map(|reach| TimelinePast {
        mux: session.mux.clone(),
        reach,
        clock: session.server_clock(),
    });
    Some(LogTimeline::new(builder, requested, past))
}

/// The clock of a timeline.
fn line_clock(context: &Context<'_>) -> LineClock {
    match context.look().width {
        Some(_) => LineClock::TimeOfDay(context.env.zone.clone()),
        None => LineClock::Rfc3339,
    }
}
