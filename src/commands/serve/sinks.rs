//! `SinkWork`: sends changes of state to the sinks of the configuration, and reads the configuration again at SIGHUP.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::config::{LoadedConfig, ServeConfig, SinkType};
use super::followed::Retargeting;
use super::followed_cluster::FollowedCluster;
use super::topics::{RecordPlace, TopicPushes};
use crate::commands::live::clusters::Clusters;
use crate::commands::status::StatusState;
use crate::commands::{CommandError, FailedAnswer, ReloadRequests, Sources};
use crate::env::{Clock, Env};
use crate::model::PackageTool;
use crate::object::{ObjectRef, counted};
use crate::serve::{Board, ServedCluster, ServedRow, SinkCountsSource};
use crate::sink::{
    ClusterRows, OutboxError, RowAbsence, RowCluster, SinkDeliveries, SinkNote, SinkQueue,
    ToldOutage, on_thread,
};
use crate::source::{Select, SourceKey, SourceState};

/// How often the outbox learns that the states are complete.
const KEEP_UP: Duration = Duration::from_secs(30);
/// How much news of the sinks waits for the terminal.
const NEWS: usize = 64;

/// The deliveries to all sinks.
pub(super) struct SinkWork {
    queue: Arc<SinkQueue>,
    clock: Clock,
    /// The file of the configuration.
    config: PathBuf,
    board: watch::Receiver<Board>,
    notes: mpsc::Sender<SinkNote>,
    /// Takes what each new configuration changes.
    reloads: mpsc::Sender<Reload>,
    topics: TopicPushes,
    are_several: bool,
    /// The types that the sinks name, until it is known whether one of several clusters serves them.
    unchecked: RefCell<Vec<SinkType>>,
}

/// Where the work of the sinks is kept.
pub(super) struct SinkPlaces {
    /// The file of the outbox.
    pub(super) outbox: PathBuf,
    /// The record; `None` if it is not known where it is.
    pub(super) record: Option<RecordPlace>,
    /// Whether several clusters are followed.
    pub(super) are_several: bool,
}

impl SinkWork {
    /// The deliveries to the sinks of a configuration. The follower gets the feed.
    pub(super) async fn open(
        places: SinkPlaces,
        config: &LoadedConfig,
        board: watch::Receiver<Board>,
        env: &Env,
    ) -> Result<(SinkWork, SinkFeed), CommandError> {
        let now = env.now();
        let queue = Arc::new(SinkQueue::open(&places.outbox, now)?);
        let (notes, news) = mpsc::channel(NEWS);
        let (send, reloads) = mpsc::channel(NEWS);
        let work = SinkWork {
            queue: queue.clone(),
            clock: env.clock_ahead(env.ahead.clone()),
            config: config.path.clone(),
            board,
            notes,
            reloads: send,
            are_several: places.are_several,
            unchecked: RefCell::default(),
            topics: TopicPushes::new(places.record, env.now.clone()),
        };
        work.use_sinks(&config.content, now).await?;
        let feed = SinkFeed {
            queue,
            topics: work.topics.clone(),
            news,
            reloads,
            waiting: Vec::new(),
            outage: ToldOutage::default(),
            is_due: false,
            writing: None,
            has_waiting_rows: false,
        };
        Ok((work, feed))
    }

    /// Sends messages for as long as it is polled, and reads the configuration again when the user asks.
    pub(super) async fn run(self, mut reloads: ReloadRequests, mut retargeting: Retargeting<'_>) {
        let clusters = retargeting.clusters;
        let mut beat = interval(KEEP_UP);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let sinks = self.queue.sinks().into_iter();
            let deliveries = sinks.map(|sink| {
                let (queue, clock) = (self.queue.clone(), self.clock.clone());
                SinkDeliveries::new(sink, queue, clock, self.notes.clone())
                    .run()
                    .boxed_local()
            });
            let pushes = self.topics.run(&self.notes);
            let mut running: FuturesUnordered<_> = deliveries.chain(pushes).collect();
            let read_again = async {
                reloads.asked().await;
                self.read_again(&mut retargeting).await
            };
            // Messages are sent while the API server is asked about a new configuration. Nothing but that ends.
            let read = tokio::select! {
                Some(()) = running.next() => continue,
                () = self.keep_up(&mut beat) => continue,
                () = self.check_types(clusters) => continue,
                read = read_again => read,
            };
            drop(running);
            self.tell(read).await;
        }
    }

    /// Tells the outbox that the states of a cluster are complete, while they are.
    async fn keep_up(&self, beat: &mut Interval) {
        let mut outage = ToldOutage::default();
        loop {
            beat.tick().await;
            let snapshot = self.board.borrow().snapshot.clone();
            let current = snapshot.clusters.iter().filter(|it| is_current(it));
            let names: Vec<_> = current.map(|cluster| cluster.name.clone()).collect();
            let (are_several, now) = (self.are_several, (self.clock)());
            let written = self.queue.on_thread(move |queue| {
                let mut clusters = names.iter().map(|name| RowCluster::of(name, are_several));
                clusters.try_for_each(|of| queue.are_known_until(of, now))
            });
            match written.await {
                Err(error) if outage.is_news(&error.to_string()) => {
                    self.note("outbox", error.to_string());
                }
                Err(_) => {}
                Ok(()) => drop(outage.end()),
            }
        }
    }

    /// Once several clusters have all joined, says which types of the sinks none of them serves. One cluster refuses them at once.
    async fn check_types(&self, clusters: Clusters<'_>) {
        let mut board = self.board.clone();
        while clusters.sessions().count() < board.borrow_and_update().snapshot.clusters.len() {
            if board.changed().await.is_err() {
                break;
            }
        }
        for SinkType { word, line } in self.unchecked.take() {
            if is_served_nowhere(clusters, &word).await {
                let place = format!("{}:{line}", self.config.display());
                let text = format!("{place}: no cluster has a resource type {word:?}");
                self.note("config", text);
            }
        }
        pending::<()>().await;
    }

    /// Tells the follower and the user what has become of a new configuration.
    async fn tell(&self, read: Result<Reload, CommandError>) {
        match read {
            Ok(reload) => {
                // The note wakes the follower.
                let _gone = self.reloads.send(reload).await;
                self.note("config", "read again".to_owned());
            }
            Err(error) => {
                let hints = error.hints().iter().map(|hint| format!("; hint: {hint}"));
                let text = format!("{error}{}; the old one stays", hints.collect::<String>());
                self.note("config", text);
            }
        }
    }

    /// Reads the configuration again. A wrong one changes nothing.
    async fn read_again(&self, retargeting: &mut Retargeting<'_>) -> Result<Reload, CommandError> {
        let path = self.config.clone();
        let read = on_thread(move || LoadedConfig::read_again(&path));
        let mut config = read.await?;
        retargeting.find_types(&mut config).await?;
        let state = retargeting.state(&config).await?;
        let config = config.content;
        self.use_sinks(&config, (self.clock)()).await?;
        retargeting.follow(config.kinds);
        Ok(Reload {
            packages: config.packages,
            state,
        })
    }

    /// Sends to the sinks and topics of this configuration from now on. An error changes nothing.
    async fn use_sinks(&self, config: &ServeConfig, now: Timestamp) -> Result<(), CommandError> {
        self.topics.check(&config.topics)?;
        let sinks = config.sinks.iter().cloned().map(Arc::new).collect();
        let set = self
            .queue
            .on_thread(move |queue| queue.set_sinks(sinks, now));
        let dropped = set.await?;
        self.topics.set(&config.topics);
        if self.are_several {
            self.unchecked.replace(config.sink_types());
        }
        for (sink, count) in dropped {
            let is_known = config.sinks.iter().any(|known| known.name == sink);
            let why = if is_known {
                "too old or too many"
            } else {
                "no sink has this name now"
            };
            let count = counted(count, "message is", "messages are");
            self.note(&sink, format!("{count} dropped: {why}"));
        }
        Ok(())
    }

    fn note(&self, sink: &str, text: String) {
        let sink = sink.to_owned();
        let _full = self.notes.try_send(SinkNote { sink, text });
    }
}

/// Whether every cluster says that it does not serve a type.
async fn is_served_nowhere(clusters: Clusters<'_>, word: &str) -> bool {
    for session in clusters.sessions() {
        let found = session.type_named(word).await;
        // A server that does not answer may have it.
        let answer = found.err().and_then(|error| error.answer());
        if answer != Some(FailedAnswer::UnknownType) {
            return false;
        }
    }
    true
}

/// Whether all objects of a cluster are read and up to date.
pub(super) fn is_current(cluster: &ServedCluster) -> bool {
    cluster.is_read && cluster.trouble.is_none()
}

/// What a new configuration changes.
#[derive(Debug)]
pub(super) struct Reload {
    /// The packages that are reported from now on.
    pub(super) packages: Vec<PackageTool>,
    /// The state of other objects to follow; `None` for the same.
    pub(super) state: Option<Box<StatusState>>,
}

/// What the follower has to do with the sinks.
pub(super) struct SinkFeed {
    queue: Arc<SinkQueue>,
    topics: TopicPushes,
    news: mpsc::Receiver<SinkNote>,
    reloads: mpsc::Receiver<Reload>,
    /// The news that is not printed yet.
    waiting: Vec<SinkNote>,
    /// What was told of an outbox that cannot be written.
    outage: ToldOutage,
    /// Whether to compare all states again, though no object has changed.
    is_due: bool,
    /// What is on its way into the outbox.
    writing: Option<BoxFuture<'static, WriteResult>>,
    /// Whether rows wait until it is there.
    has_waiting_rows: bool,
}

/// How many messages of each sink made room, or why nothing is written.
type WriteResult = Result<BTreeMap<String, u64>, OutboxError>;

impl SinkFeed {
    /// What is waiting for each sink and what was sent to it, for the metrics.
    pub(super) fn counts(&self) -> SinkCountsSource {
        let (queue, topics) = (self.queue.clone(), self.topics.clone());
        Box::new(move || {
            let mut counts = queue.counts();
            counts.extend(topics.counts());
            counts
        })
    }

    /// Waits for news, or until rows that wait can be written. The caller may drop the future at any point.
    pub(super) async fn wait(&mut self) {
        loop {
            let written = async {
                match &mut self.writing {
                    Some(writing) => writing.await,
                    None => pending().await,
                }
            };
            let is_awaited = tokio::select! {
                Some(note) = self.news.recv() => {
                    self.waiting.push(note);
                    true
                }
                written = written => self.end_write(written),
            };
            if is_awaited {
                return;
            }
        }
    }

    /// The news since the last call, one line each.
    pub(super) fn take_news(&mut self) -> Vec<String> {
        let lines = std::mem::take(&mut self.waiting).into_iter();
        lines
            .map(|note| format!("{}: {}", note.sink, note.text))
            .collect()
    }

    /// An object of a cluster is new or has changed.
    pub(super) fn note(&self, cluster: RowCluster<'_>, row: &Arc<ServedRow>) {
        self.queue.note(cluster, row);
    }

    /// The states of sources have changed, so objects may be known to be gone.
    pub(super) fn look_again(&mut self) {
        self.is_due = true;
    }

    /// Whether to compare all states again.
    pub(super) fn take_due(&mut self) -> bool {
        let is_due = std::mem::take(&mut self.is_due);
        if !is_due && self.writing.is_none() {
            // The last comparison wrote all it had.
            self.outage.end();
        }
        is_due
    }

    /// What the next new configuration changes.
    pub(super) fn take_reload(&mut self) -> Option<Reload> {
        self.reloads.try_recv().ok()
    }

    /// Compares the rows of a cluster with the last known states, and begins to write what is new. One write is on its way at a
    /// time: until it has ended, it returns false, and the newest rows of the cluster are due then.
    pub(super) fn take_rows(
        &mut self,
        of: &ClusterRows<'_>,
        at: &FollowedObjects<'_>,
        now: Timestamp,
    ) -> bool {
        self.has_waiting_rows = self.writing.is_some();
        if self.has_waiting_rows {
            return false;
        }
        let new = self.queue.compare(of, |object| at.absence(object), now);
        let written = new.map(|new| self.queue.on_thread(move |queue| queue.write(&new)));
        self.writing = written.map(FutureExt::boxed);
        true
    }

    /// A write has ended. An error is news, and the next call compares the states again. Returns whether someone waits for that.
    fn end_write(&mut self, written: WriteResult) -> bool {
        self.writing = None;
        let known = self.waiting.len();
        match written {
            Ok(dropped) => self
                .waiting
                .extend(dropped.into_iter().map(|(sink, count)| {
                    let count = counted(count, "message is", "messages are");
                    let text = format!("{count} dropped: too old or too many");
                    SinkNote { sink, text }
                })),
            Err(error) => {
                self.is_due = true;
                // The same error at once would be no news.
                self.has_waiting_rows = false;
                let (sink, text) = ("outbox".to_owned(), error.to_string());
                if self.outage.is_news(&text) {
                    self.waiting.push(SinkNote { sink, text });
                }
            }
        }
        std::mem::take(&mut self.has_waiting_rows) || self.waiting.len() > known
    }
}

/// What decides whether an object without a row is gone.
pub(super) struct FollowedObjects<'s> {
    pub(super) sources: &'s Sources,
    pub(super) cluster: &'s FollowedCluster,
}

impl FollowedObjects<'_> {
    /// Why an object has no row.
    fn absence(&self, object: &ObjectRef) -> RowAbsence {
        let model = &self.cluster.served.state.model;
        if model.object(&object.identity()).is_some() {
            return RowAbsence::Unfollowed;
        }
        let is_up =
            |state: &SourceState| matches!(state, SourceState::Live | SourceState::Polling { .. });
        let sources = self.sources.states().filter(|(key, _)| covers(key, object));
        let sources = sources.filter(|(key, _)| self.cluster.is(&key.cluster));
        let found = sources.map(|(key, state)| match key.select {
            _ if !is_up(state) => RowAbsence::Unread,
            Select::Selector(_) => RowAbsence::Unselected,
            Select::All | Select::Name(_) => RowAbsence::Deleted,
        });
        let found: Vec<RowAbsence> = found.collect();
        let surest = [
            RowAbsence::Deleted,
            RowAbsence::Unselected,
            RowAbsence::Unread,
        ];
        let known = surest.into_iter().find(|absence| found.contains(absence));
        known.unwrap_or(RowAbsence::Unfollowed)
    }
}

/// Whether a source would have an object if that had the labels.
fn covers(key: &SourceKey, object: &ObjectRef) -> bool {
    let is_there = key.namespace().is_none() || key.namespace() == object.namespace.as_deref();
    let is_named = key.select.name().is_none_or(|name| *name == *object.name);
    key.resource.group_kind() == object.group_kind() && is_there && is_named
}

impl From<OutboxError> for CommandError {
    fn from(error: OutboxError) -> CommandError {
        let message = CommandError::failed(format!("error: {error}"));
        match error {
            OutboxError::InUse { .. } => {
                message.hint("name another file with outbox: in the configuration")
            }
            OutboxError::Newer { .. } => {
                message.hint("use the newer version, or name another file with outbox:")
            }
            OutboxError::Io { .. } | OutboxError::Sqlite { .. } => message,
        }
    }
}
