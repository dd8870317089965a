//! `changes`: shows each version of each object as a diff, with its writer.

mod args;
mod divider;
mod fold;
mod formats;
mod line_style;
mod live;
mod output;
mod run;
mod schemas;

use std::sync::Arc;

use super::live::cluster_group::{ClusterGroup, GroupOptions};
use super::live::clusters::Clusters;
use super::manifests::ObjectRequest;
use super::{
    Awaited, CommandError, ConnectionSetup, Context, Ended, ErrorKind, Judge, RecordUse,
    RequestedTime, Session, Shutdown, Stop, Terminal, follow, hint_at_record,
};
use crate::cluster::ContextConfig;
use crate::env::shifted;
use crate::model::Retention;
use crate::status::Rules;
pub(crate) use args::ChangesArgs;
use live::{LiveChanges, NewCluster};

pub(crate) fn run(args: &ChangesArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        let ended = show(args, context, &shutdown).await;
        hint_at_record(ended, &args.objects, &args.watch.memory, context).await
    })
}

/// Shows changes until `shutdown`.
pub(crate) async fn show(
    args: &ChangesArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    args.wait.refuse_logs_without_goal()?;
    args.wait.refuse_streams_without_pods()?;
    let stop = Stop::of(&args.wait, shutdown, context.env);
    if !args.objects.source.is_given() {
        let contexts = Box::pin(ClusterGroup::contexts(context));
        if let Some(contexts) = stop.in_time(Awaited::Server, contexts).await? {
            return Box::pin(show_several(args, contexts, context, stop)).await;
        }
    }
    Box::pin(show_one(args, context, stop)).await
}

/// Shows the changes of one cluster or file.
async fn show_one(
    args: &ChangesArgs,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let session = open_session(args, &stop, context).await?;
    stop.reads_file = session.is_of_file();
    show_in(session, args, context, stop).await
}

/// Prints the records of objects once, as of the sources that a session follows already.
pub(crate) async fn print_records(
    args: &ChangesArgs,
    mut session: Session,
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let stop = Stop::of(&args.wait, &Shutdown::never(), context.env);
    read_record(args, &mut session, &stop, context).await?;
    Box::pin(show_in(session, args, context, stop)).await?;
    Ok(())
}

/// Shows the changes of the objects of a session.
async fn show_in(
    session: Session,
    args: &ChangesArgs,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let awaited = Awaited::targets(&args.objects);
    let every = if args.means_every_kind() {
        let kinds = Box::pin(session.targets_or_every_kind(&args.objects, "changes", context));
        stop.in_time(awaited, kinds).await?
    } else {
        let targets = Box::pin(session.targets(&args.objects, "changes", context));
        let targets = stop.in_time(awaited, targets).await;
        targets.map_err(|error| args.with_hint(error))?.into()
    };
    if !args.is_once() || args.wait.has_goal() {
        context.unread.refuse_manifests()?;
    }
    args.check_since(shifted((context.env.now)(), session.ahead()()))?;
    let keys = session.keys(&every.targets);
    let mut changes = LiveChanges::new(args, context.env.now.clone());
    let (model, judge) = if args.wait.needs_judgement() {
        let model = async { Ok(session.model(&keys, Rules::Spy, Retention::None).await) };
        let model = stop.in_time(Awaited::Types, Box::pin(model)).await?;
        (Some(model), Judge::Model)
    } else {
        (None, Judge::Versions)
    };
    stop.wait_for(&keys, judge);
    changes.add(NewCluster {
        place: 0,
        label: None,
        session: &session,
        every: &every,
        keys,
        model,
    });
    follow_to_the_end(changes, &session, context, stop).await
}

/// Shows the changes of several clusters.
async fn show_several(
    args: &ChangesArgs,
    contexts: Vec<ContextConfig>,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let request = Box::pin(ObjectRequest::read(&args.objects, "changes", context));
    let request = stop.in_time(Awaited::targets(&args.objects), request);
    let request = request.await?;
    let (at, now) = (args.watch.at, (context.env.now)());
    args.check_since(now)?;
    let memory = args.watch.memory.open(context)?;
    let memory = memory.filter(|_| at.is_some() || args.uses_store());
    let options = GroupOptions {
        means_every_kind: args.means_every_kind(),
        watches: at.is_none(),
        each_object: false,
        continues: None,
        memory: memory.map(|memory| (memory, RecordUse::Everything)),
        past: at.map(|at| RequestedTime { at, now }),
    };
    let group = ClusterGroup::new(contexts, ConnectionSetup::of(context), request, options);
    if at.is_some() {
        context.env.now = Arc::new(move || now);
    }
    let changes = LiveChanges::new(args, context.env.now.clone());
    let judge = if args.wait.needs_judgement() {
        Judge::Model
    } else {
        Judge::Versions
    };
    stop.wait_for_clusters(&group, judge);
    follow_to_the_end(changes, &group, context, stop).await
}

/// Prints changes until something stops it, and what follows the last version.
async fn follow_to_the_end<'c>(
    mut changes: LiveChanges<'_>,
    clusters: impl Into<Clusters<'c>>,
    context: &mut Context<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let (args, clusters) = (changes.args, clusters.into());
    stop.looks_once = args.is_once();
    let mut terminal = Terminal::open(context, args.output.output());
    let ended = follow(&mut changes, clusters, &mut terminal, &mut stop).await;
    if ended.is_ok() {
        changes.close(&mut terminal).await?;
        let are_named = changes.keys().any(|key| key.named_object().is_some());
        terminal.notify_if(args.vain_question(are_named).map(str::to_owned))?;
    }
    let missing = changes.missing(&stop, &ended);
    let absence = stop.explain_absence(clusters, &missing, &ended).await?;
    terminal.notify_if(absence)?;
    let answer = changes.answer(&stop);
    let unread = changes.unread().into_iter().chain(stop.unread);
    let ended = ended.map_err(|error| match (clusters, error.kind()) {
        // The requested objects of several clusters are resolved as each joins.
        (Clusters::Several(_), ErrorKind::Usage) => args.with_hint(error),
        _ => error,
    })?;
    args.wait.conclude(ended, answer, unread)
}

/// The cluster or the file to read. A pipe is read as it comes, unless everything is printed at once.
async fn open_session(
    args: &ChangesArgs,
    stop: &Stop,
    context: &mut Context<'_>,
) -> Result<Session, CommandError> {
    let source = &args.objects.source;
    let opened = async {
        if args.is_once() {
            Session::open(context, source).await
        } else {
            Session::follow(context, source).await
        }
    };
    let opened = stop.in_time(Awaited::session(source), Box::pin(opened));
    let mut session = opened.await?;
    args.wait.refuse_nothing(&session, "changes")?;
    read_record(args, &mut session, stop, context).await?;
    Ok(session)
}

/// Lays the record under the server, or looks at a time in the past.
async fn read_record(
    args: &ChangesArgs,
    session: &mut Session,
    stop: &Stop,
    context: &mut Context<'_>,
) -> Result<(), CommandError> {
    let source = &args.objects.source;
    let mut memory = None;
    if session.has_server() {
        memory = args.watch.memory.open(context)?;
    }
    if let Some(at) = args.watch.at {
        let looking = Box::pin(session.look_at(at, memory.as_ref(), context));
        stop.in_time(Awaited::session(source), looking).await?;
    } else if let Some(memory) = memory.filter(|_| args.uses_store()) {
        let now = context.env.now.clone();
        let remembered = session.remember(&memory, now, RecordUse::Everything);
        let remembered = stop.in_time(Awaited::session(source), Box::pin(remembered));
        for note in remembered.await? {
            context.note(&note);
        }
    }
    Ok(())
}
