//! `OpenServer`: what is the same for one cluster and for several: the board, the web server, the sinks, and the loop.

use std::future::pending;
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::config::{LoadedConfig, ServeConfig};
use super::entrance::Entrance;
use super::followed_cluster::FollowedCluster;
use super::follower::{Follower, Publisher};
use super::kube_api::KubeApi;
use super::listen::OpenPort;
use super::sinks::{SinkFeed, SinkPlaces, SinkWork};
use super::verb_answers::VerbAnswers;
use crate::commands::{CommandError, Ended, Stop, Subject, Terminal, follow};
use crate::env::Env;
use crate::serve::{Board, PendingQuestion, RightsCache, Snapshot, WebServer, router};

/// A server with an open port that answers nobody yet.
pub(super) struct OpenServer {
    board: watch::Sender<Board>,
    web: WebServer,
    questions: mpsc::Receiver<PendingQuestion>,
    port: OpenPort,
    address: String,
    api: Option<Arc<KubeApi>>,
    sinks: Option<SinkFeed>,
    content: Option<ServeConfig>,
    stop: Stop,
}

impl OpenServer {
    /// A server whose readers see this snapshot first. It runs until `stop`.
    pub(super) fn new(
        first: Snapshot,
        port: OpenPort,
        entrance: Entrance,
        stop: Stop,
    ) -> OpenServer {
        let board = Board::new(fastrand::u32(..).into(), first);
        let (asked, questions) = mpsc::channel(1);
        OpenServer {
            web: WebServer::new(board.subscribe(), entrance.gate, asked),
            board,
            questions,
            port,
            address: entrance.address,
            api: None,
            sinks: None,
            content: None,
            stop,
        }
    }

    /// The same server for readers with rights of their own, if these are asked for.
    pub(super) fn asking(self, rights: Option<Arc<RightsCache>>) -> OpenServer {
        match rights {
            Some(rights) => OpenServer {
                web: self.web.asking(rights),
                ..self
            },
            None => self,
        }
    }

    /// The same server, which also answers this read API of Kubernetes.
    pub(super) fn serving(self, api: Option<Arc<KubeApi>>) -> OpenServer {
        match api {
            Some(api) => OpenServer {
                web: self.web.serving(api.clone()),
                api: Some(api),
                ..self
            },
            None => self,
        }
    }

    /// The same server, which sends changes of state to the sinks of a configuration, and the deliveries.
    pub(super) async fn sending(
        self,
        config: LoadedConfig,
        places: SinkPlaces,
        env: &Env,
    ) -> Result<(OpenServer, SinkWork), CommandError> {
        let board = self.board.subscribe();
        let (work, feed) = SinkWork::open(places, &config, board, env).await?;
        let server = OpenServer {
            web: self.web.with_sinks(feed.counts()),
            sinks: Some(feed),
            content: Some(config.content),
            ..self
        };
        Ok((server, work))
    }

    /// Begins to answer readers. It follows this cluster, or without one those that join.
    pub(super) fn start(
        self,
        only: Option<FollowedCluster>,
        subject: Subject,
        env: &Env,
    ) -> StartedServer {
        let web = Arc::new(self.web);
        let lines = env.requests.clone();
        let router = router(web.clone());
        let answering = self
            .port
            .answer(router, move |note| lines.print(vec![note]));
        let to = Publisher {
            board: self.board,
            web,
            address: self.address,
            sinks: self.sinks,
            packages: self.content.map_or_else(Vec::new, |it| it.packages),
            api: self.api.clone(),
        };
        StartedServer {
            follower: Follower::new(only, subject, to, (env.now)()),
            answering: tokio::spawn(answering),
            questions: self.questions,
            api: self.api,
            stop: self.stop,
        }
    }
}

/// A server that answers readers.
pub(super) struct StartedServer {
    follower: Follower,
    answering: JoinHandle<()>,
    questions: mpsc::Receiver<PendingQuestion>,
    api: Option<Arc<KubeApi>>,
    stop: Stop,
}

impl StartedServer {
    /// Follows the clusters of these answers until the user stops it. `sinks` delivers messages.
    pub(super) async fn run(
        self,
        answers: VerbAnswers<'_>,
        sinks: Option<LocalBoxFuture<'_, ()>>,
        mut terminal: Terminal<'_>,
    ) -> Result<Ended, CommandError> {
        let (mut follower, mut stop) = (self.follower, self.stop);
        let following = follow(&mut follower, answers.clusters, &mut terminal, &mut stop);
        let ended = tokio::select! {
            ended = following => ended,
            () = answers.answer(self.questions) => Ok(Ended::Answered),
            () = deliver(sinks) => Ok(Ended::Answered),
            () = keep_events(self.api.as_deref()) => Ok(Ended::Answered),
        };
        self.answering.abort();
        ended
    }
}

/// Keeps the last events for the watches of readers; without `--api`, it waits.
async fn keep_events(api: Option<&KubeApi>) {
    match api {
        Some(api) => api.keep_events().await,
        None => pending().await,
    }
}

async fn deliver(sinks: Option<LocalBoxFuture<'_, ()>>) {
    match sinks {
        Some(sinks) => sinks.await,
        None => pending().await,
    }
}
