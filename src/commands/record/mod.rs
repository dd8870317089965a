//! `record`: keeps every version of objects in files.

mod args;
mod manifest;
mod recording;

use std::collections::HashMap;

use super::{Awaited, CommandError, Context, Session, Shutdown, Stop, Terminal, follow};
use crate::commands::Ended;
use crate::commands::live::terminal::Output;
use crate::record::{RecordOptions, Recorder, ResumedSource, Store, last_states};
use crate::source::SourceKey;
pub(crate) use args::RecordArgs;
use manifest::RecorderManifest;
use recording::LiveRecording;

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
    let mut stop = Stop::at(shutdown);
    let connected = Box::pin(Session::connect(context));
    let session = stop.in_time(Awaited::Types, connected).await?;
    let objects = args.objects(context.origin.names_namespace());
    let every = Box::pin(session.targets_or_every_kind(&objects, "record", context));
    let every = args.recorded(stop.in_time(Awaited::Types, every).await?);
    let redactions = args.redactions(&every)?;
    let keys = session.keys(&every.targets);
    if args.print_manifest {
        context.print(&manifest(
            args,
            &session,
            &keys,
            context.origin.names_namespace(),
        ))?;
        return Ok(Ended::Answered);
    }
    let path = args.store.path(context.env)?;
    let cluster = Box::pin(session.recorded_cluster());
    let cluster = stop.in_time(Awaited::Types, cluster).await?;
    for resource in &every.unwatched {
        let name = resource.group_resource();
        context.note(&format!("not recorded: {name}, which cannot be watched"));
    }
    for group in &every.silent {
        context.note(&format!(
            "not recorded: {group}, whose server does not answer"
        ));
    }
    let store = Store::create(&path)?;
    let mut resumed = HashMap::new();
    match last_states(&store.cluster(&cluster.id), &keys) {
        Ok(known) => {
            for (key, known) in known {
                resumed.insert(key.clone(), ResumedSource::of(&known));
                session.mux.resume(key, known);
            }
        }
        Err(error) => context.note(&format!("not resumed: {error}")),
    }
    let recorder = Recorder::start(RecordOptions {
        store,
        cluster,
        retention: args.retention(),
        resumed,
        redactions,
        clock: context.env.now.clone(),
    })?;
    let place = path.display().to_string();
    if !context.env.is_live() {
        context.note(&format!("recording {} in {place}", session.cluster.0));
    }
    let mut terminal = Terminal::open(context, Output::Text);
    let mut recording = LiveRecording::new(keys, recorder, place, terminal.env().now());
    let ended = follow(&mut recording, &session, &mut terminal, &mut stop).await;
    recording.finish(&mut terminal)?;
    ended
}

/// The lines of `--print-manifest`. The recorder runs in the namespace of `-n`, or in that of the context.
fn manifest(
    args: &RecordArgs,
    session: &Session,
    keys: &[SourceKey],
    names_namespace: bool,
) -> Vec<String> {
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
