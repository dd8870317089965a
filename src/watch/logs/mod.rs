//! `LogFeeds`: reads the logs of many containers at once, each by its own task.

mod feed;
mod last_line;
mod queue;
mod shared;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::transport::Transport;
use crate::logs::{LogReader, ReadOptions};
use crate::source::ClusterId;
use crate::source::log::{LogContainer, LogEvent, LogLine};
pub use feed::FeedStatus;
use feed::LogTask;
use last_line::last_line;
use queue::LogQueue;
use shared::SharedFeeds;

/// The logs of containers. Dropping it ends every task that it started.
///
/// Nothing is dropped: a task stops reading its answer while its events are not taken.
pub struct LogFeeds {
    clusters: HashMap<ClusterId, Arc<dyn Transport>>,
    shared: Arc<SharedFeeds>,
    feeds: BTreeMap<usize, OpenFeed>,
    next: usize,
}

/// A log, and the task that reads it.
struct OpenFeed {
    container: Arc<LogContainer>,
    transport: Arc<dyn Transport>,
    /// Whether the lines from before it was opened are left out.
    is_of_new_lines: bool,
    queue: Arc<LogQueue>,
    status: watch::Sender<FeedStatus>,
    task: JoinHandle<()>,
}

impl Drop for OpenFeed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How many logs are followed, and how many are read in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedCounts {
    /// Those that are followed.
    pub followed: usize,
    /// Those that are read in turn.
    pub in_turn: usize,
}

impl LogFeeds {
    /// Follows at most `most` logs of all clusters at the same time. The others are read in turn.
    pub fn new(most: usize) -> LogFeeds {
        LogFeeds {
            clusters: HashMap::new(),
            shared: Arc::new(SharedFeeds::new(most)),
            feeds: BTreeMap::new(),
            next: 0,
        }
    }

    /// Adds a cluster whose containers can be read.
    pub fn add_cluster(&mut self, cluster: ClusterId, transport: Arc<dyn Transport>) {
        self.clusters.insert(cluster, transport);
    }

    /// Begins to read a log. Returns its number, or `None` for an unknown cluster. It must be called inside a tokio runtime.
    pub fn open(
        &mut self,
        container: Arc<LogContainer>,
        status: FeedStatus,
        options: ReadOptions,
    ) -> Option<usize> {
        let transport = self.clusters.get(&container.cluster)?.clone();
        let number = self.next;
        self.next += 1;
        let queue = Arc::new(LogQueue::new(number, self.shared.clone()));
        let mut reader = LogReader::new(container.clone(), status.container.clone(), options);
        if status.has_ended {
            reader.pod_finished();
        }
        let (sender, receiver) = watch::channel(status);
        self.shared.tasks.fetch_add(1, Ordering::Relaxed);
        let task = LogTask {
            reader,
            options,
            queue: queue.clone(),
            status: receiver,
            transport: transport.clone(),
            shared: self.shared.clone(),
            started: Instant::now(),
            place: feed::FeedPlace::Undecided,
        };
        let feed = OpenFeed {
            container,
            transport,
            is_of_new_lines: options.start.tail == Some(0),
            queue,
            status: sender,
            task: tokio::spawn(task.run()),
        };
        self.feeds.insert(number, feed);
        Some(number)
    }

    /// Passes the next state of a container to the task of its log.
    pub fn update(&self, log: usize, status: FeedStatus) {
        if let Some(feed) = self.feeds.get(&log) {
            feed.status.send_if_modified(|known| {
                let is_new = *known != status;
                *known = status;
                is_new
            });
        }
    }

    /// Waits until a log has events. It is cancel safe.
    pub async fn ready(&self) {
        loop {
            let signal = self.shared.signal.notified();
            if !self.shared.ready().is_empty() {
                return;
            }
            signal.await;
        }
    }

    /// The logs with events since the last call.
    pub fn take_ready(&self) -> BTreeSet<usize> {
        std::mem::take(&mut *self.shared.ready())
    }

    /// The next event of a log; `None` if there is none at present.
    pub fn take(&self, log: usize) -> Option<LogEvent> {
        self.feeds.get(&log)?.queue.pop()
    }

    /// Whether nothing more comes of a log.
    pub fn is_over(&self, log: usize) -> bool {
        self.feeds.get(&log).is_none_or(|feed| feed.queue.is_over())
    }

    /// The logs of which the server may have sent more than has arrived: lines have come in the last second, or their task waits
    /// until events are taken.
    pub fn behind(&self) -> impl Iterator<Item = usize> {
        let behind = self.feeds.iter().filter(|(_, feed)| feed.queue.is_behind());
        behind.map(|(log, _)| *log)
    }

    /// Requests the last line of each of these logs. `None` if that is not known.
    pub fn last_lines(&self) -> Vec<BoxFuture<'static, (usize, Option<LogLine>)>> {
        let behind = self
            .behind()
            .filter_map(|log| Some((log, self.feeds.get(&log)?)));
        let requests = behind.map(|(log, feed)| {
            let line = last_line(feed.transport.clone(), feed.container.clone());
            line.map(move |line| (log, line)).boxed()
        });
        requests.collect()
    }

    /// Whether a line of a log has arrived, or no more comes.
    pub fn has_line(&self, log: usize, line: &LogLine) -> bool {
        let Some(feed) = self.feeds.get(&log) else {
            return true;
        };
        let has_line = match feed.queue.newest() {
            Some(newest) => newest.time > line.time || newest == *line,
            // The line may be from before.
            None => feed.is_of_new_lines,
        };
        has_line || feed.queue.is_over()
    }

    /// Ends the task of a log, and drops what was not taken.
    pub fn close(&mut self, log: usize) {
        self.feeds.remove(&log);
    }

    /// How many logs are followed, and how many are read in turn.
    pub fn counts(&self) -> FeedCounts {
        let in_turn = self.shared.in_turn.load(Ordering::Relaxed);
        let open = self.shared.open.load(Ordering::Relaxed);
        FeedCounts {
            followed: open.saturating_sub(in_turn),
            in_turn,
        }
    }
}
