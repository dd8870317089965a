//! `ServedGroup`: a server of several clusters. Each joins when it is connected; one that fails is tried again and stops no other.

use std::sync::Arc;

use futures::FutureExt;

use super::args::ServeArgs;
use super::config::{LoadedConfig, kinds_of};
use super::entrance::entrance;
use super::followed::{Retargeting, with_kinds};
use super::kube_api::KubeApi;
use super::listen::Auth;
use super::open_server::OpenServer;
use super::sinks::SinkPlaces;
use super::verb_answers::VerbAnswers;
use crate::cluster::ContextConfig;
use crate::commands::live::cluster_group::{ClusterGroup, GroupOptions};
use crate::commands::manifests::ObjectRequest;
use crate::commands::{
    Awaited, CommandError, ConnectionSetup, Context, Ended, Judge, Output, RecordUse,
    ReloadRequests, Stop, Subject, Terminal,
};
use crate::serve::{ServedCluster, Snapshot};

/// The clusters of the selected contexts, and the configuration.
pub(super) struct ServedGroup {
    pub(super) contexts: Vec<ContextConfig>,
    pub(super) config: Option<LoadedConfig>,
}

impl ServedGroup {
    /// Serves them until the user stops it.
    pub(super) async fn serve(
        self,
        args: &ServeArgs,
        context: &mut Context<'_>,
        mut stop: Stop,
    ) -> Result<Ended, CommandError> {
        self.check(args)?;
        let port = args.listen.open().await?;
        let objects = with_kinds(&args.objects(), kinds_of(self.config.as_ref()))?;
        let subject = objects.subject();
        let request = Box::pin(ObjectRequest::read(&objects, "serve", context));
        let request = stop.in_time(Awaited::Types, request).await?;
        let memory = args.memory.open(context)?;
        let options = GroupOptions {
            means_every_kind: subject == Subject::Unnamed,
            watches: true,
            each_object: false,
            continues: None,
            memory: memory.map(|memory| (memory, RecordUse::LookBacks)),
            past: None,
        };
        let setup = ConnectionSetup::of(context);
        let group = ClusterGroup::new(self.contexts, setup, request, options);
        stop.wait_for_clusters(&group, Judge::Model);
        let entrance = entrance(args, &port, context)?;
        let printed = entrance.printed.clone();
        let names: Vec<Arc<str>> = group.clusters().map(|id| id.0.clone()).collect();
        let first = Snapshot {
            cluster: names.join(",").into(),
            clusters: names.iter().cloned().map(ServedCluster::alone).collect(),
            ..Snapshot::default()
        };
        let api = args.api.map(|_| KubeApi::new(group.mux.clone(), names));
        let api = api.map(Arc::new);
        let mut server = OpenServer::new(first, port, entrance, stop).serving(api);
        let mut sinks = None;
        if let Some(config) = self.config {
            let retargeting = Retargeting::new((&group).into(), &args.objects(), &config, context);
            let places = outbox_of_several(args, &config, context)?;
            let (sending, work) = server.sending(config, places, context.env).await?;
            let reloads = ReloadRequests::listen(context.env)?;
            sinks = Some(work.run(reloads, retargeting).boxed_local());
            server = sending;
        }
        let started = server.start(None, subject, context.env);
        let answers = VerbAnswers::new(args.memory.words(), (&group).into(), None, context);
        let mut terminal = Terminal::open(context, Output::Text);
        terminal.print(&[printed])?;
        Box::pin(started.run(answers, sinks, terminal)).await
    }

    /// Fails for what a server of several clusters does not do.
    fn check(&self, args: &ServeArgs) -> Result<(), CommandError> {
        if args.listen.auth == Auth::Kube {
            let error = "--auth=kube is for one cluster: each cluster knows its own tokens";
            return Err(CommandError::usage(error)
                .hint("run one server for each cluster, or use the printed token"));
        }
        let config = self.config.as_ref();
        if config.is_some_and(|config| !config.content.topics.is_empty()) {
            let error = "a topic of Kafka gets the record of one cluster, and several contexts are selected";
            return Err(
                CommandError::usage(error).hint("run one server with the topic for each cluster")
            );
        }
        Ok(())
    }
}

/// Where messages wait: in the file of the configuration, or in one beside the records.
fn outbox_of_several(
    args: &ServeArgs,
    config: &LoadedConfig,
    context: &Context<'_>,
) -> Result<SinkPlaces, CommandError> {
    let outbox = match &config.content.outbox {
        Some(path) => path.clone(),
        None => args
            .memory
            .directory(context.env)?
            .join("outbox-clusters.sqlite"),
    };
    Ok(SinkPlaces {
        outbox,
        record: None,
        are_several: true,
    })
}
