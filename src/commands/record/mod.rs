//! `record`: keeps every version of objects in files.

mod args;
mod recording;

use std::collections::HashMap;

use super::{
    Awaited, CommandError, Context, EveryKind, ObjectArgs, Session, Shutdown, Stop, Terminal,
    follow,
};
use crate::commands::Ended;
use crate::commands::live::terminal::Output;
use crate::record::{RecordOptions, Recorder, Store, last_states};
pub(crate) use args::RecordArgs;
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
    let path = args.store.path(context.env)?;
    let connected = Box::pin(Session::connect(context));
    let session = stop.in_time(Awaited::Types, connected).await?;
    let objects = args.objects(context.origin.names_namespace());
    let every = Box::pin(session.targets_or_every_kind(&objects, "record", context));
    let every = recorded(stop.in_time(Awaited::Types, every).await?, &objects);
    let keys = session.keys(&every.targets);
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
                resumed.insert(key.clone(), known.at);
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

/// The kinds to record. Without a TYPE, some are left out: Leases are most of all writes, `EndpointSlices` have what
/// Endpoints have, and metrics have no versions.
fn recorded(mut every: EveryKind, objects: &ObjectArgs) -> EveryKind {
    if objects.objects.is_empty() {
        let is_left_out = |group: &str, plural: &str| {
            matches!(
                (group, plural),
                ("coordination.k8s.io", "leases") | ("", "endpoints")
            ) || group.ends_with("metrics.k8s.io")
        };
        every.targets.retain(|target| {
            let resource = &target.resource;
            !is_left_out(&resource.group, &resource.plural)
        });
        every
            .unwatched
            .retain(|resource| !is_left_out(&resource.group, &resource.plural));
    }
    every
}
