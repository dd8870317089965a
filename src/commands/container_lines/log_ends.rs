//! `LogEnds`: up to which line the logs are read at the end of a wait.

use std::collections::BTreeMap;
use std::future::pending;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};

use super::container_feeds::ContainerFeeds;
use crate::watch::logs::LastLineAnswer;

/// The lines that are the last ones when the wait ends, of the logs of which more may come.
pub(super) struct LogEnds {
    requests: FuturesUnordered<BoxFuture<'static, (usize, LastLineAnswer)>>,
    lines: BTreeMap<usize, LastLineAnswer>,
}

impl LogEnds {
    /// Requests these lines.
    pub(super) fn request(feeds: &ContainerFeeds) -> LogEnds {
        LogEnds {
            requests: feeds.last_lines().into_iter().collect(),
            lines: BTreeMap::new(),
        }
    }

    /// Waits until one more is known. It is cancel safe.
    pub(super) async fn answered(&mut self) {
        match self.requests.next().await {
            Some((log, line)) => {
                self.lines.insert(log, line);
            }
            None => pending().await,
        }
    }

    /// Whether a log was not read up to its last line. If that line is not known, the log is read until it is silent.
    pub(super) fn are_open(&self, feeds: &ContainerFeeds) -> bool {
        let is_open = |log| {
            let last = self.lines.get(&log).unwrap_or(&LastLineAnswer::Unknown);
            !feeds.is_read_up_to(log, last)
        };
        let mut logs = feeds.expecting().chain(self.lines.keys().copied());
        !self.requests.is_empty() || logs.any(is_open)
    }
}
