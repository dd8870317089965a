//! `TailReader`: reads the last lines of a few instances, with one request each.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::unwell_instance::{UnwellInstance, UnwellInstanceKey};
use crate::logs::{LogPlace, ReadInstances, ReadOptions};
use crate::source::log::{LogEnd, LogEvent, LogLine, LogRefusal, LogStart};
use crate::watch::logs::{FeedStatus, LogFeeds};

/// The logs that are being read.
pub(super) struct TailReader {
    feeds: LogFeeds,
    open: BTreeMap<usize, OpenTail>,
}

struct OpenTail {
    unwell: UnwellInstance,
    wanted: usize,
    lines: VecDeque<LogLine>,
    problem: Option<LogRefusal>,
    deadline: Instant,
}

/// What was read of an instance.
#[derive(Debug)]
pub(super) struct ReadTail {
    pub(super) unwell: UnwellInstance,
    /// Its last lines.
    pub(super) lines: Vec<LogLine>,
    /// Why there are none.
    pub(super) problem: Option<LogRefusal>,
}

impl TailReader {
    pub(super) fn new(feeds: LogFeeds) -> TailReader {
        TailReader {
            feeds,
            open: BTreeMap::new(),
        }
    }

    /// Begins to read so many of the last lines. After the time, there are none.
    pub(super) fn open(&mut self, unwell: UnwellInstance, wanted: usize, patience: Duration) {
        let instances = if unwell.place == LogPlace::Previous {
            ReadInstances::Previous
        } else {
            ReadInstances::Present
        };
        let options = ReadOptions {
            instances,
            start: LogStart {
                tail: Some(wanted as u64),
                since: None,
            },
            unchecked: true,
            ..ReadOptions::default()
        };
        let (container, status) = (unwell.container.clone(), unwell.status.clone());
        let Some(log) = self.feeds.open(container, status, options) else {
            return;
        };
        let tail = OpenTail {
            unwell,
            wanted,
            lines: VecDeque::new(),
            problem: None,
            deadline: Instant::now() + patience,
        };
        self.open.insert(log, tail);
    }

    /// Passes on the newest status of an instance that is being read.
    pub(super) fn update(&mut self, key: &UnwellInstanceKey, status: &FeedStatus) {
        for (log, tail) in &self.open {
            if tail.unwell.key() == *key {
                self.feeds.update(*log, status.clone());
            }
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.open.is_empty()
    }

    /// Gives up what is being read, except these instances.
    pub(super) fn keep(&mut self, is_kept: impl Fn(&UnwellInstanceKey) -> bool) {
        let dropped = self.open.iter();
        let dropped = dropped.filter(|(_, tail)| !is_kept(&tail.unwell.key()));
        let dropped: Vec<usize> = dropped.map(|(log, _)| *log).collect();
        for log in dropped {
            self.open.remove(&log);
            self.feeds.close(log);
        }
    }

    /// Waits until an instance is read. Without any, it never ends. It is cancel safe.
    pub(super) async fn next(&mut self) -> ReadTail {
        loop {
            if let Some(done) = self.take_done() {
                return done;
            }
            let deadline = self.open.values().map(|tail| tail.deadline).min();
            let is_late = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.feeds.ready() => {}
                () = is_late => {}
            }
        }
    }

    fn take_done(&mut self) -> Option<ReadTail> {
        let now = Instant::now();
        let _all_are_looked_at = self.feeds.take_ready();
        for (log, tail) in &mut self.open {
            while let Some(event) = self.feeds.take(*log) {
                tail.take(event);
            }
        }
        let mut open = self.open.iter();
        let done = open.find(|(log, tail)| self.feeds.is_over(**log) || now >= tail.deadline);
        let log = *done?.0;
        let is_late = !self.feeds.is_over(log);
        self.feeds.close(log);
        let tail = self.open.remove(&log)?;
        let text = "no answer in time";
        let late = is_late.then(|| LogRefusal {
            code: 0,
            text: text.into(),
        });
        Some(ReadTail {
            unwell: tail.unwell,
            lines: tail.lines.into(),
            problem: tail.problem.or(late),
        })
    }
}

impl OpenTail {
    fn take(&mut self, event: LogEvent) {
        match event {
            LogEvent::Line(line) => {
                self.lines.push_back(line);
                if self.lines.len() > self.wanted {
                    self.lines.pop_front();
                }
            }
            LogEvent::Refused(refusal) => self.problem = Some(refusal),
            LogEvent::Ended(_, LogEnd::Lost(text)) => {
                self.problem = Some(LogRefusal { code: 0, text });
            }
            LogEvent::Ended(
                _,
                LogEnd::Exited(_) | LogEnd::PodGone | LogEnd::Read | LogEnd::Limited,
            )
            | LogEvent::Opened(_)
            | LogEvent::Notice(_)
            | LogEvent::Retrying(_)
            | LogEvent::Gap(_)
            | LogEvent::Quiet
            | LogEvent::Polled => {}
        }
    }
}

impl fmt::Debug for TailReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.open.values().map(|tail| tail.unwell.key());
        f.debug_list().entries(open).finish()
    }
}
