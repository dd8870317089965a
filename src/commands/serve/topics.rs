//! `TopicPushes`: sends the record of the cluster to the topics of the configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::LocalBoxFuture;
use tokio::sync::mpsc;

use crate::commands::CommandError;
use crate::env::Clock;
#[cfg(feature = "kafka")]
use crate::kafka::{PositionFile, RecordPush};
use crate::kafka::{TopicProgress, TopicSink};
#[cfg(feature = "kafka")]
use crate::record::Store;
use crate::serve::SinkCounts;
use crate::sink::SinkNote;

/// Where the record of the cluster is.
#[derive(Clone, Debug)]
pub(super) struct RecordPlace {
    /// The directory of the store.
    pub(super) directory: PathBuf,
    /// The id of the cluster.
    pub(super) cluster: String,
}

/// The topics, and how far each has come. One thread uses them, so the lock is never waited for.
#[derive(Clone)]
pub(super) struct TopicPushes {
    /// `None` if it is not known.
    place: Option<RecordPlace>,
    #[cfg_attr(not(feature = "kafka"), expect(dead_code, reason = "nothing is sent"))]
    clock: Clock,
    topics: Arc<Mutex<Vec<TopicPush>>>,
}

/// A topic, and how far it has come.
#[derive(Clone)]
struct TopicPush {
    sink: Arc<TopicSink>,
    progress: TopicProgress,
}

impl TopicPushes {
    /// No topic yet.
    pub(super) fn new(place: Option<RecordPlace>, clock: Clock) -> TopicPushes {
        TopicPushes {
            place,
            clock,
            topics: Arc::default(),
        }
    }

    /// Fails if there is no record to send to these topics.
    pub(super) fn check(&self, sinks: &[Arc<TopicSink>]) -> Result<(), CommandError> {
        if !sinks.is_empty() && self.place.is_none() {
            let error =
                "error: a topic gets the record, and the directory of the record is not known";
            return Err(CommandError::failed(error).hint("name it with --store"));
        }
        Ok(())
    }

    /// Sends to these topics from now on.
    pub(super) fn set(&self, sinks: &[Arc<TopicSink>]) {
        let mut topics = self.lock();
        let before = std::mem::take(&mut *topics);
        let known = |sink: &Arc<TopicSink>| {
            let same = before.iter().find(|known| known.sink.name == sink.name);
            same.map(|known| known.progress.clone())
        };
        *topics = sinks
            .iter()
            .map(|sink| TopicPush {
                sink: sink.clone(),
                progress: known(sink).unwrap_or_default(),
            })
            .collect();
    }

    /// The numbers of each topic.
    pub(super) fn counts(&self) -> BTreeMap<String, SinkCounts> {
        let topics = self.lock();
        let counts = topics
            .iter()
            .map(|it| (it.sink.name.clone(), it.progress.counts()));
        counts.collect()
    }

    /// What sends to the topics, for as long as it is polled.
    pub(super) fn run(&self, notes: &mpsc::Sender<SinkNote>) -> Vec<LocalBoxFuture<'static, ()>> {
        let Some(place) = &self.place else {
            return Vec::new();
        };
        let topics = self.lock().clone().into_iter();
        topics.map(|topic| self.push(topic, place, notes)).collect()
    }

    #[cfg(feature = "kafka")]
    fn push(
        &self,
        topic: TopicPush,
        place: &RecordPlace,
        notes: &mpsc::Sender<SinkNote>,
    ) -> LocalBoxFuture<'static, ()> {
        let TopicPush { sink, progress } = topic;
        let files = Store::files_at(&place.directory, &place.cluster);
        let positions = PositionFile::of_sink(&place.directory, &place.cluster, &sink.name);
        let push = RecordPush::new(sink, files, positions, self.clock.clone());
        Box::pin(push.telling(notes.clone(), progress).run())
    }

    /// Without the client of Kafka, no configuration names a topic.
    #[cfg(not(feature = "kafka"))]
    #[expect(clippy::unused_self, reason = "nothing is sent")]
    fn push(
        &self,
        _topic: TopicPush,
        _place: &RecordPlace,
        _notes: &mpsc::Sender<SinkNote>,
    ) -> LocalBoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TopicPush>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
