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
use crate::source::log::{LogContainer, LogEvent};
pub use feed::FeedStatus;
use feed::LogTask;
pub use last_line::LastLineAnswer;
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
    queue: Arc<LogQueue>,
    status: watch::Sender<FeedStatus>,
    task: JoinHandle<()>,
}

/// Of how many logs the last line is requested at the same time.
const MOST_LAST_LINES: usize = 200;

impl OpenFeed {
    /// Whether its answer has begun, and its container runs.
    fn may_grow(&self) -> bool {
        let status = self.status.borrow();
        self.queue.is_opened() && status.container.is_running && !status.is_gone
    }
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

    /// The logs of which the server may have sent more than has arrived: lines have come in the last second, their task waits
    /// until events are taken, or they are read in turn.
    pub fn expecting(&self) -> impl Iterator<Item = usize> {
        let logs = self.feeds.iter();
        let expecting = logs.filter(|(_, feed)| feed.queue.expects_more());
        expecting.map(|(log, _)| *log)
    }

    /// Requests the last line of these logs, and of those whose containers run and that were opened: of 200 at most.
    pub fn last_lines(&self) -> Vec<BoxFuture<'static, (usize, LastLineAnswer)>> {
        let logs = self.feeds.iter();
        let (expecting, silent): (Vec<_>, Vec<_>) = logs
            .filter(|(_, feed)| feed.queue.expects_more() || feed.may_grow())
            .partition(|(_, feed)| feed.queue.expects_more());
        let logs = expecting.into_iter().chain(silent).take(MOST_LAST_LINES);
        let requests = logs.map(|(log, feed)| {
            let log = *log;
            let answer = LastLineAnswer::request(feed.transport.clone(), feed.container.clone());
            answer.map(move |answer| (log, answer)).boxed()
        });
        requests.collect()
    }

    /// Whether a log was read up to the line that was its last one, or no more comes. A log that was opened with `--since` must
    /// have a line since then.
    pub fn is_read_up_to(&self, log: usize, last: &LastLineAnswer) -> bool {
        let feed = self.feeds.get(&log);
        feed.is_none_or(|feed| feed.queue.is_read_up_to(last))
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
