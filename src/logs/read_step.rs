//! `ReadStep`: what a [`LogReader`](super::LogReader) wants next, what it is to read, and how an answer may end.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;

use crate::source::log::{LogRefusal, LogRequest, LogStart};

/// Which instances of a container to read, of those that a node has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadInstances {
    /// The present one.
    #[default]
    Present,
    /// The one before, and no later one.
    Previous,
    /// Both, the older one first.
    Both,
}

/// What to read of each container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether to read on until the Pod is gone. Otherwise, one instance is read once.
    pub follow: bool,
    /// Which instances of a container that exists at the start to read.
    pub instances: ReadInstances,
    /// From where on to read an instance that exists at the start: the number of lines, and the earliest time.
    pub start: LogStart,
    /// Leave out the lines before this time.
    pub since_time: Option<Timestamp>,
    /// Take the first answer for the whole log. Otherwise, another request checks whether it was cut.
    pub unchecked: bool,
    /// Read no more bytes than this.
    pub limit: Option<u64>,
    /// Whether the container is new: its log is read from the first line of its oldest instance.
    pub is_new: bool,
}

/// The next step of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// Send this request, and pass the answer to the reader.
    Open(LogRequest),
    /// Wait for another status of the Pod. With a time: no longer than that.
    Wait(Option<Duration>),
    /// Wait this long before the next attempt.
    Pause(Duration),
    /// Wait for the turn of this log among those that are not followed.
    WaitTurn,
    /// Nothing is left to read.
    Done,
}

/// Whether to read on in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Read on.
    Continue,
    /// Close it, and ask for the next step.
    Stop,
}

/// How an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// Complete, as far as the connection shows. The bytes follow the last line feed.
    Clean(Bytes),
    /// The connection broke.
    Broken(Arc<str>),
    /// The server refused the request, or did not answer.
    Refused(LogRefusal),
    /// The Pod has no node (204).
    Unscheduled,
}
