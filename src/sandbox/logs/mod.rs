//! The logs of containers: what a kubelet serves behind `GET …/pods/NAME/log`, with its messages.

mod feed;
mod instance;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use super::route::Query;
use super::status::ApiFailure;

pub(super) use feed::{LogFeed, RequestedLog};
pub(super) use instance::{container_of, instance_of};

/// The logs, by the IDs of their containers.
#[derive(Debug, Default)]
pub(super) struct LogStore {
    inner: Mutex<StoredLogs>,
    /// Wakes the followers of logs.
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(super) struct StoredLogs {
    by_id: BTreeMap<String, StoredLog>,
    /// How often all answers were cut.
    cuts: u64,
}

/// The log of one instance.
#[derive(Debug, Default)]
struct StoredLog {
    lines: Vec<StoredLine>,
    /// The lines before this one are in a rotated file.
    first: usize,
}

#[derive(Debug, Clone)]
struct StoredLine {
    time: Timestamp,
    text: Vec<u8>,
}

impl LogStore {
    pub(super) fn lock(&self) -> MutexGuard<'_, StoredLogs> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self) {
        self.changed.send_modify(|changes| *changes += 1);
    }

    /// Appends a line to the log of an instance. No two lines of one log have the same time.
    pub(super) fn append(&self, id: &str, time: Timestamp, text: &[u8]) {
        let mut logs = self.lock();
        let log = logs.by_id.entry(id.to_owned()).or_default();
        let after = log
            .lines
            .last()
            .map(|last| last.time + SignedDuration::from_micros(1));
        let time = after.map_or(time, |after| after.max(time));
        log.lines.push(StoredLine {
            time,
            text: text.to_owned(),
        });
        drop(logs);
        self.announce();
    }

    /// Moves the lines of an instance into a rotated file, which nothing reads.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn rotate(&self, id: &str) {
        let mut logs = self.lock();
        if let Some(log) = logs.by_id.get_mut(id) {
            log.first = log.lines.len();
        }
    }

    /// Ends all answers that go on, as if they were complete.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn cut(&self) {
        self.lock().cuts += 1;
        self.announce();
    }
}

/// The options of a request (`PodLogOptions`).
#[derive(Debug, Clone, Default)]
pub(super) struct LogOptions {
    pub(super) container: Option<String>,
    pub(super) follow: bool,
    pub(super) previous: bool,
    timestamps: bool,
    tail: Option<usize>,
    since: Option<Timestamp>,
}

impl LogOptions {
    pub(super) fn of(query: &Query, now: Timestamp) -> Result<LogOptions, ApiFailure> {
        let since = match query.parsed::<u32>("sinceSeconds")? {
            Some(seconds) => Some(now - SignedDuration::from_secs(seconds.into())),
            None => query.parsed("sinceTime")?,
        };
        Ok(LogOptions {
            container: query.get("container").map(str::to_owned),
            follow: query.flag("follow"),
            previous: query.flag("previous"),
            timestamps: query.flag("timestamps"),
            tail: query.parsed("tailLines")?,
            since,
        })
    }
}

impl StoredLine {
    /// The line as it is sent.
    fn wire(&self, options: &LogOptions) -> Vec<u8> {
        let mut line = Vec::with_capacity(self.text.len() + 32);
        if options.timestamps {
            line.extend(format!("{:.9} ", self.time).bytes());
        }
        line.extend(&self.text);
        line.push(b'\n');
        line
    }
}
