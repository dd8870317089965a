//! `LogFeeds`: reads the logs of many containers at once, each by its own task.

mod feed;
mod queue;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::transport::Transport;
use crate::logs::{Admission, ContainerLogs, LogReader, ReadOptions};
use crate::source::log::{LogContainer, LogEvent};
use feed::LogTask;
use queue::LogQueue;

/// How many logs that are not followed are read at the same time.
const TURNS: usize = 4;

/// The logs of containers. Dropping it ends every task that it started.
///
/// Nothing is dropped: a task stops reading its answer while its events are not taken.
pub struct LogFeeds {
    transport: Arc<dyn Transport>,
    shared: Arc<SharedFeeds>,
    feeds: BTreeMap<usize, OpenFeed>,
    next: usize,
}

/// The state of a container, for the task that reads its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedStatus {
    /// What the status says about its instances.
    pub container: ContainerLogs,
    /// The node of its Pod.
    pub node: Option<Arc<str>>,
    /// Whether no container of its Pod runs again.
    pub has_ended: bool,
    /// Whether its Pod is gone.
    pub is_gone: bool,
}

/// A log, and the task that reads it.
struct OpenFeed {
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
    /// Follows at most `most` logs at the same time. The others are read in turn.
    pub fn new(transport: Arc<dyn Transport>, most: usize) -> LogFeeds {
        LogFeeds {
            transport,
            shared: Arc::new(SharedFeeds {
                ready: Mutex::default(),
                signal: Notify::new(),
                admission: Mutex::new(Admission::new(most)),
                turns: Semaphore::new(TURNS),
                ends: Mutex::new((Instant::now(), 0)),
                tasks: AtomicUsize::new(0),
                open: AtomicUsize::new(0),
                in_turn: AtomicUsize::new(0),
            }),
            feeds: BTreeMap::new(),
            next: 0,
        }
    }

    /// Begins to read a log. Returns its number. It must be called inside a tokio runtime.
    pub fn open(
        &mut self,
        container: Arc<LogContainer>,
        status: FeedStatus,
        options: ReadOptions,
    ) -> usize {
        let number = self.next;
        self.next += 1;
        let queue = Arc::new(LogQueue::new(number, self.shared.clone()));
        let mut reader = LogReader::new(container, status.container.clone(), options);
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
            transport: self.transport.clone(),
            shared: self.shared.clone(),
            started: Instant::now(),
            place: feed::FeedPlace::Undecided,
        };
        let feed = OpenFeed {
            queue,
            status: sender,
            task: tokio::spawn(task.run()),
        };
        self.feeds.insert(number, feed);
        number
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

/// What the tasks share.
struct SharedFeeds {
    /// The logs with new events.
    ready: Mutex<BTreeSet<usize>>,
    signal: Notify,
    admission: Mutex<Admission>,
    turns: Semaphore,
    /// When the last streams that ended together began to end, and how many they are.
    ends: Mutex<(Instant, u32)>,
    /// How many tasks run.
    tasks: AtomicUsize,
    /// How many logs have a place: those that are followed, and those that are read in turn.
    open: AtomicUsize,
    in_turn: AtomicUsize,
}

/// The streams that end within this time have ended together: a node restarts, or its connection breaks.
const TOGETHER: Duration = Duration::from_millis(200);
/// They are opened again within this time, and one more takes this long.
const SPREAD: Duration = Duration::from_secs(1);
const EACH: Duration = Duration::from_millis(5);

/// The most bytes that wait for the view: of all logs, and of one.
const MOST_WAITING: usize = 16 << 20;
const MOST_OF_A_LOG: usize = 256 << 10;
const LEAST_OF_A_LOG: usize = 32 << 10;

impl SharedFeeds {
    fn ready(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admission(&self) -> MutexGuard<'_, Admission> {
        self.admission
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a log has events.
    fn announce(&self, log: usize) {
        if self.ready().insert(log) {
            self.signal.notify_one();
        }
    }

    /// How many bytes of one log may wait.
    fn allowance(&self) -> usize {
        let logs = self.tasks.load(Ordering::Relaxed).max(1);
        (MOST_WAITING / logs).clamp(LEAST_OF_A_LOG, MOST_OF_A_LOG)
    }

    /// A stream has ended. Returns how much longer to wait before it is opened again, so that many are not opened at once.
    fn spread(&self) -> Duration {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now.duration_since(ends.0) > TOGETHER {
            *ends = (now, 0);
        }
        let limit = (EACH * ends.1).min(SPREAD);
        ends.1 += 1;
        limit.mul_f64(fastrand::f64())
    }
}
