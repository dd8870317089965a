//! `LogEnds`: up to which line the logs are read at the end of a wait.

use std::collections::BTreeMap;
use std::future::pending;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};

use super::container_feeds::ContainerFeeds;
use crate::source::log::LogLine;

/// The lines that are the last ones when the wait ends, of the logs of which the server may have sent more than has arrived.
pub(super) struct LogEnds {
    requests: FuturesUnordered<BoxFuture<'static, (usize, Option<LogLine>)>>,
    lines: BTreeMap<usize, LogLine>,
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
            Some((log, line)) => self.lines.extend(line.map(|line| (log, line))),
            None => pending().await,
        }
    }

    /// Whether some of the lines have not arrived. A log whose last line is not known is read until it is silent.
    pub(super) fn are_open(&self, feeds: &ContainerFeeds) -> bool {
        let is_open = |log| match self.lines.get(&log) {
            Some(line) => !feeds.has_line(log, line),
            None => true,
        };
        !self.requests.is_empty()
            || feeds.behind().any(is_open)
            || self.lines.keys().copied().any(is_open)
    }
}
