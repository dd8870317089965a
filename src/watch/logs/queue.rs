//! `LogQueue`: the events of one log between its task and the view. It is bounded: the task waits for room.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use super::last_line::LastLineAnswer;
use super::shared::SharedFeeds;
use crate::logs::NewestLine;
use crate::source::log::{LogEvent, LogLine};

/// The bytes of an event without its text.
pub(super) const EVENT: usize = size_of::<LogEvent>() + 32;

pub(super) struct LogQueue {
    log: usize,
    shared: Arc<SharedFeeds>,
    inner: Mutex<QueuedEvents>,
    room: Notify,
}

#[derive(Default)]
struct QueuedEvents {
    events: VecDeque<LogEvent>,
    bytes: usize,
    /// At how many bytes the task wants to know that there is room.
    wanted: Option<usize>,
    /// Whether an answer has begun.
    is_opened: bool,
    /// Whether the server may have sent more: its answer was not silent for a while.
    expects_more: bool,
    /// How far the task has read.
    newest: Option<NewestLine>,
    is_over: bool,
}

/// How empty the queue is before another request reads on in its log. Each request costs the node a look through the file.
const EMPTY: usize = 4;

impl LogQueue {
    pub(super) fn new(log: usize, shared: Arc<SharedFeeds>) -> LogQueue {
        LogQueue {
            log,
            shared,
            inner: Mutex::default(),
            room: Notify::new(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, QueuedEvents> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds events. The task has read up to the newest line.
    pub(super) fn push(&self, events: impl Iterator<Item = LogEvent>, newest: Option<NewestLine>) {
        let is_new = {
            let mut inner = self.inner();
            let before = inner.events.len();
            if newest.is_some() {
                inner.newest = newest;
            }
            for event in events {
                let event = compact(event);
                let bytes = weight(&event);
                inner.bytes += bytes;
                self.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
                inner.events.push_back(event);
            }
            inner.events.len() > before
        };
        if is_new {
            self.shared.announce(self.log);
        }
    }

    /// Waits until there is room for more. It is cancel safe.
    pub(super) async fn room(&self) {
        self.at_most(|allowance| allowance).await;
    }

    /// Waits until there is room for most of what may wait. It is cancel safe.
    pub(super) async fn room_for_part(&self) {
        self.at_most(|allowance| allowance / EMPTY).await;
    }

    async fn at_most(&self, most: impl Fn(usize) -> usize) {
        loop {
            let room = self.room.notified();
            {
                let mut inner = self.inner();
                let most = most(self.shared.allowance());
                inner.wanted = (inner.bytes > most).then_some(most);
                if inner.wanted.is_none() {
                    return;
                }
                inner.expects_more = true;
            }
            room.await;
        }
    }

    /// How many more bytes may be pushed.
    pub(super) fn left(&self) -> usize {
        self.shared.allowance().saturating_sub(self.inner().bytes)
    }

    /// Notes that an answer begins, or goes on.
    pub(super) fn expect_more(&self) {
        let mut inner = self.inner();
        inner.is_opened = true;
        inner.expects_more = true;
    }

    /// Notes that the log counts as read up to now.
    pub(super) fn expect_no_more(&self) {
        self.inner().expects_more = false;
    }

    /// Whether an answer has begun.
    pub(super) fn is_opened(&self) -> bool {
        self.inner().is_opened
    }

    /// Whether the server may have sent more than what is here.
    pub(super) fn expects_more(&self) -> bool {
        let inner = self.inner();
        inner.expects_more && !inner.is_over
    }

    /// Whether the log was read up to the line that was its last one. If that is not known, it counts as read when no more is
    /// expected.
    pub(super) fn is_read_up_to(&self, last: &LastLineAnswer) -> bool {
        let inner = self.inner();
        let is_read = match (last, &inner.newest) {
            (LastLineAnswer::Line(last), Some(newest)) => newest.has_reached(last),
            (LastLineAnswer::Line(_), None) => false,
            (LastLineAnswer::NoLine, None) => true,
            (LastLineAnswer::NoLine | LastLineAnswer::Unknown, _) => !inner.expects_more,
        };
        is_read || inner.is_over
    }

    /// Notes that no event follows.
    pub(super) fn close(&self) {
        self.inner().is_over = true;
        self.shared.announce(self.log);
    }

    pub(super) fn pop(&self) -> Option<LogEvent> {
        let mut inner = self.inner();
        let event = inner.events.pop_front()?;
        let bytes = weight(&event);
        inner.bytes -= bytes;
        self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if inner.wanted.is_some_and(|wanted| inner.bytes <= wanted) {
            inner.wanted = None;
            self.room.notify_one();
        }
        Some(event)
    }

    pub(super) fn is_over(&self) -> bool {
        let inner = self.inner();
        inner.is_over && inner.events.is_empty()
    }
}

impl Drop for LogQueue {
    fn drop(&mut self) {
        let bytes = self.inner().bytes;
        self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A part of a chunk keeps the whole chunk in memory, so the text of a line that waits is a copy.
fn compact(event: LogEvent) -> LogEvent {
    match event {
        LogEvent::Line(line) => LogEvent::Line(LogLine {
            text: Bytes::copy_from_slice(&line.text),
            ..line
        }),
        other => other,
    }
}

fn weight(event: &LogEvent) -> usize {
    match event {
        LogEvent::Line(line) => EVENT + line.text.len(),
        LogEvent::Opened(_)
        | LogEvent::Notice(_)
        | LogEvent::Retrying(_)
        | LogEvent::Gap(_)
        | LogEvent::Ended(..)
        | LogEvent::Refused(_)
        | LogEvent::Quiet
        | LogEvent::Polled => EVENT,
    }
}
