//! `record`: keeps every version of objects in files.

mod args;
mod cluster_recorder;
mod recording;
#[cfg(feature = "kafka")]
mod topic;

use futures::FutureExt;
use tokio::time::sleep;

use super::live::cluster_group::{ClusterGroup, GroupOptions};
use super::live::clusters::Clusters;
use super::manifests::ObjectRequest;
use super::{
    Awaited, CommandError, ConnectionSetup, Context, InClusterProgram, ProgramParts, Session,
    Shutdown, Stop, Terminal, follow, require_kafka, survive_file_size_limit,
};
use crate::cluster::ContextConfig;
use crate::commands::Ended;
use crate::commands::live::terminal::Output;
use crate::record::Store;
pub(crate) use args::RecordArgs;
use cluster_recorder::{RecordPlan, RecorderSetup, unrecorded};
use recording::{LiveRecording, recording_line};
#[cfg(feature = "kafka")]
use topic::record_topic;

pub(crate) fn run(args: &RecordArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        survive_file_size_limit().map_err(CommandError::failed)?;
        record(args, context, &shutdown).await
    })
}

async fn record(
    args: &RecordArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let stop = Stop::at(shutdown);
    if let Some(topic) = &args.topic.from {
        require_kafka()?;
        return Box::pin(record_topic(args, topic, context, shutdown)).await;
    }
    if args.print_manifest {
        return Box::pin(print_manifest(args, context, &stop)).await;
    }
    let contexts = Box::pin(ClusterGroup::contexts(context));
    match stop.in_time(Awaited::Types, contexts).await? {
        Some(contexts) => Box::pin(record_several(args, contexts, context, stop)).await,
        None => Box::pin(record_one(args, context, stop)).await,
    }
}

/// Without the client of Kafka, there is no topic to read.
#[cfg(not(feature = "kafka"))]
#[expect(clippy::unused_async, reason = "with the client of Kafka, it waits")]
async fn record_topic(
    _args: &RecordArgs,
    topic: &str,
    _context: &mut Context<'_>,
    _shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    Err(CommandError::failed(format!(
        "error: {topic}: this build has no Kafka"
    )))
}

/// Records one cluster.
async fn record_one(
    args: &RecordArgs,
    context: &mut Context<'_>,
    stop: Stop,
) -> Result<Ended, CommandError> {
    // A file in its place is an error before the first request.
    args.store.check(context.env)?;
    let connected = Box::pin(connected(args, context, &stop));
    let (session, plan) = connected.await?;
    let path = args.store.path(context.env)?;
    let setup = RecorderSetup {
        args,
        store: Store::create(&path)?,
        clock: context.env.now.clone(),
    };
    let recorder = setup.start(plan, &session, &mut |text| context.note(text))?;
    let place = path.display().to_string();
    if !context.env.is_live() {
        context.note(&recording_line(&session.cluster, &place));
    }
    let terminal = Terminal::open(context, Output::Text);
    let recording = LiveRecording::new(setup, place, terminal.env().now()).with(recorder);
    run_recording(recording, (&session).into(), terminal, stop).await
}

/// Connects to the cluster. A server that does not answer is tried again without end, as one that goes away later.
async fn connected(
    args: &RecordArgs,
    context: &mut Context<'_>,
    stop: &Stop,
) -> Result<(Session, RecordPlan), CommandError> {
    let mut count = 0;
    loop {
        count += 1;
        let planned = Box::pin(planned(args, context));
        match stop.in_time(Awaited::Types, planned).await {
            Err(error) if error.is_silence() => {
                if count == 1 {
                    context.note(&format!("{error}; retrying"));
                }
                let pause = sleep(ClusterGroup::wait_after(count, true)).map(Ok);
                stop.in_time(Awaited::Types, pause).await?;
            }
            planned => return planned,
        }
    }
}

/// Finds out what to record of the cluster.
async fn planned(
    args: &RecordArgs,
    context: &mut Context<'_>,
) -> Result<(Session, RecordPlan), CommandError> {
    let session = Session::connect(context).await?;
    let objects = args.objects(context.origin.names_namespace());
    let every = session.targets_or_every_kind(&objects, "record", context);
    let every = args.recorded(every.await?)?;
    let redactions = args.redactions(&every)?;
    let keys = session.keys(&every.targets);
    let store = args.store.path(context.env)?;
    Store::create(&store)?;
    let record = session.last_record(&store, &keys).await?;
    let absent = Clusters::from(&session).awaited_namespace(&keys).await;
    for line in unrecorded(&every).chain(absent) {
        context.note(&line);
    }
    let plan = RecordPlan {
        record,
        keys,
        redactions,
    };
    Ok((session, plan))
}

/// Records several clusters, each of which joins when it is connected.
async fn record_several(
    args: &RecordArgs,
    contexts: Vec<ContextConfig>,
    context: &mut Context<'_>,
    stop: Stop,
) -> Result<Ended, CommandError> {
    args.check_redactions()?;
    let objects = args.objects(context.origin.names_namespace());
    let request = Box::pin(ObjectRequest::read(&objects, "record", context));
    let request = stop.in_time(Awaited::Types, request).await?;
    let path = args.store.path(context.env)?;
    let options = GroupOptions {
        means_every_kind: true,
        watches: true,
        each_object: false,
        continues: Some(path.clone()),
        memory: None,
        past: None,
    };
    let setup = RecorderSetup {
        args,
        store: Store::create(&path)?,
        clock: context.env.now.clone(),
    };
    let group = ClusterGroup::new(contexts, ConnectionSetup::of(context), request, options);
    let terminal = Terminal::open(context, Output::Text);
    let place = path.display().to_string();
    let recording = LiveRecording::new(setup, place, terminal.env().now());
    run_recording(recording, (&group).into(), terminal, stop).await
}

/// Records until the end, and writes everything.
async fn run_recording(
    mut recording: LiveRecording<'_>,
    clusters: Clusters<'_>,
    mut terminal: Terminal<'_>,
    mut stop: Stop,
) -> Result<Ended, CommandError> {
    let ended = follow(&mut recording, clusters, &mut terminal, &mut stop).await;
    recording.finish(&mut terminal)?;
    ended
}

/// Prints the objects of a recorder inside the cluster. It runs in the namespace of `-n`, or in that of the context.
async fn print_manifest(
    args: &RecordArgs,
    context: &mut Context<'_>,
    stop: &Stop,
) -> Result<Ended, CommandError> {
    let connected = Box::pin(Session::connect(context));
    let session = stop.in_time(Awaited::Types, connected).await?;
    let names_namespace = context.origin.names_namespace();
    let objects = args.objects(names_namespace);
    let every = Box::pin(session.targets_or_every_kind(&objects, "record", context));
    let every = args.recorded(stop.in_time(Awaited::Types, every).await?)?;
    args.redactions(&every)?;
    let keys = session.keys(&every.targets);
    let is_of_one = names_namespace || keys.iter().any(|key| key.namespace().is_some());
    let own = is_of_one.then_some(&*session.namespace);
    let manifest = InClusterProgram {
        verb: "record",
        keys: &keys,
        namespace: &session.namespace,
        image: &args.image,
        arguments: args.words(own),
        max_bytes: Some(args.retention().max_bytes),
        parts: ProgramParts::default(),
    };
    context.print(manifest.lines()?)?;
    Ok(Ended::Answered)
}
