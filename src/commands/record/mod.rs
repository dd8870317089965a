//! `record`: keeps every version of objects in files.

mod args;
mod cluster_recorder;
mod manifest;
mod recording;

use super::live::cluster_group::{ClusterGroup, GroupOptions};
use super::live::clusters::Clusters;
use super::manifests::ObjectRequest;
use super::{
    Awaited, CommandError, ConnectionSetup, Context, Session, Shutdown, Stop, Terminal, follow,
};
use crate::cluster::ContextConfig;
use crate::commands::Ended;
use crate::commands::live::terminal::Output;
use crate::record::Store;
use crate::render::text::Text;
use crate::source::SourceKey;
pub(crate) use args::RecordArgs;
use cluster_recorder::{RecordPlan, RecorderSetup, unrecorded};
use manifest::RecorderManifest;
use recording::{LiveRecording, recording_line};

pub(crate) fn run(args: &RecordArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.block_on(async |context| {
        let shutdown = Shutdown::on_signal(context.env)?;
        record(args, context, &shutdown).await
    })
}

async fn record(
    args: &RecordArgs,
    context: &mut Context<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let stop = Stop::at(shutdown);
    if !args.print_manifest {
        let contexts = Box::pin(ClusterGroup::contexts(context));
        if let Some(contexts) = stop.in_time(Awaited::Types, contexts).await? {
            return Box::pin(record_several(args, contexts, context, stop)).await;
        }
    }
    Box::pin(record_one(args, context, stop)).await
}

/// Records one cluster.
async fn record_one(
    args: &RecordArgs,
    context: &mut Context<'_>,
    stop: Stop,
) -> Result<Ended, CommandError> {
    let connected = Box::pin(Session::connect(context));
    let session = stop.in_time(Awaited::Types, connected).await?;
    let objects = args.objects(context.origin.names_namespace());
    let every = Box::pin(session.targets_or_every_kind(&objects, "record", context));
    let every = args.recorded(stop.in_time(Awaited::Types, every).await?);
    let redactions = args.redactions(&every)?;
    let keys = session.keys(&every.targets);
    if args.print_manifest {
        context.print(manifest(
            args,
            &session,
            &keys,
            context.origin.names_namespace(),
        ))?;
        return Ok(Ended::Answered);
    }
    let path = args.store.path(context.env)?;
    let store = Store::create(&path)?;
    let record = Box::pin(session.last_record(&path, &keys));
    let record = stop.in_time(Awaited::Types, record).await?;
    for line in unrecorded(&every) {
        context.note(&line);
    }
    let setup = RecorderSetup {
        args,
        store,
        clock: context.env.now.clone(),
    };
    let plan = RecordPlan {
        record,
        keys,
        redactions,
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
        continues: Some(path.clone()),
        store: None,
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

/// The lines of `--print-manifest`. The recorder runs in the namespace of `-n`, or in that of the context.
fn manifest(
    args: &RecordArgs,
    session: &Session,
    keys: &[SourceKey],
    names_namespace: bool,
) -> Vec<Text> {
    let is_of_one = names_namespace || keys.iter().any(|key| key.namespace().is_some());
    let own = is_of_one.then_some(&*session.namespace);
    let manifest = RecorderManifest {
        keys,
        namespace: &session.namespace,
        image: &args.image,
        arguments: args.words(own),
        max_bytes: args.retention().max_bytes,
    };
    manifest.lines()
}
