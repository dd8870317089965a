//! The log of a container as plain data: its instances, its lines, and the events of reading it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;

use super::ClusterId;
use crate::object::{ObjectRef, Uid};

/// A container of a Pod, whichever instance of it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogContainer {
    /// The cluster of the Pod.
    pub cluster: ClusterId,
    /// The Pod, uid included.
    pub pod: Arc<ObjectRef>,
    /// The name of the container.
    pub name: Arc<str>,
}

impl LogContainer {
    /// The identity of the Pod.
    pub fn pod_uid(&self) -> Uid {
        self.pod.identity()
    }
}

/// `pod/web-1 app`, as notices name it.
impl fmt::Display for LogContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pod/{} {}", self.pod.name, self.name)
    }
}

/// One run of a container. Each restart makes a new instance, with a log of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogInstance {
    /// The container.
    pub container: Arc<LogContainer>,
    /// The container ID. It alone identifies the instance: the restart count of a status may be one behind.
    pub id: Arc<str>,
    /// How many instances came before it, as far as the status counts them.
    pub attempt: u32,
}

/// How an instance ended, as the status of its Pod says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogExit {
    /// The exit code.
    pub code: i64,
    /// The reason: `Completed`, `Error`, `OOMKilled`. Empty if the status has none.
    pub reason: Arc<str>,
}

/// `Completed`, `exit 137 OOMKilled`.
impl fmt::Display for LogExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.code, &*self.reason) {
            (0, "" | "Completed") => f.write_str("Completed"),
            (code, "" | "Error") => write!(f, "exit {code}"),
            (code, reason) => write!(f, "exit {code} {reason}"),
        }
    }
}

/// One line of a log, or a part of one that is too long to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When the node read it. Times within one log may go back a little.
    pub time: Timestamp,
    /// Its bytes, without the line feed. It may be empty, and it may hold anything.
    pub text: Bytes,
    /// Whether the line ends with these bytes. A line of more than 1 MiB comes in parts, of which only the last one ends it.
    pub ends: bool,
}

/// Lines that cannot be read any more. Without a line after them, it is not known whether there were any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogGap {
    /// The time of the last line before.
    pub after: Timestamp,
    /// The time of the first line after; `None` if there is none.
    pub upto: Option<Timestamp>,
    /// Why lines are missing.
    pub cause: LogGapCause,
}

/// Why lines of a log are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogGapCause {
    /// The node has rotated the log while it was not read, and serves only the newest file.
    Rotated,
    /// The container has restarted more than once, and the node keeps only the last instance.
    Replaced,
    /// The answers ended before the end of the log, again and again.
    Cut,
    /// The log is another one since the last answer.
    Changed,
}

impl LogGapCause {
    /// The cause in words.
    pub fn words(self) -> &'static str {
        match self {
            LogGapCause::Rotated => "log rotated",
            LogGapCause::Replaced => "restarted more than once",
            LogGapCause::Cut => "the answers ended early",
            LogGapCause::Changed => "log rotated, or container restarted",
        }
    }
}

/// Why nothing more is read of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEnd {
    /// It has ended, and its log is read to the end. The exit is unknown if the status has lost it.
    Exited(Option<LogExit>),
    /// Its Pod is gone, and its log was read as far as the node sent it.
    PodGone,
    /// Its log was read once, as requested, while it runs.
    Read,
    /// The request limited the number of bytes.
    Limited,
    /// The rest of its log cannot be read. The text is the node's or the server's.
    Lost(Arc<str>),
}

/// An event while the log of one container is read, in the order of that log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// The first answer about an instance arrived.
    Opened(Arc<LogInstance>),
    /// A line of the instance that was opened last.
    Line(LogLine),
    /// A text that the node sends in place of lines, or what is said about some of them.
    Notice(Arc<str>),
    /// The error of a request that is repeated. If a server goes away, all logs have the same one.
    Retrying(Arc<str>),
    /// Lines are missing.
    Gap(LogGap),
    /// Nothing more is read of the instance.
    Ended(Arc<LogInstance>, LogEnd),
    /// The server refuses the log. With `--follow`, a log that was read before is requested again, until the right is back
    /// and [`LogEvent::Opened`] comes.
    Refused(LogRefusal),
    /// The lines so far have come, and nothing follows them at present.
    Quiet,
    /// The node can follow no more logs, so this one is read in turn from now on.
    Polled,
}

/// The server's refusal to send a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRefusal {
    /// The HTTP status code; 0 if no answer arrived.
    pub code: u16,
    /// The error, in kubectl's words.
    pub text: Arc<str>,
}

/// From where on a request reads a log. All of it, if nothing limits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStart {
    /// At most this many of the newest parts of lines.
    pub tail: Option<u64>,
    /// Only lines since then.
    pub since: Option<LogSince>,
}

/// The earliest time of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSince {
    /// This long ago by the clock of the node, in whole seconds, at least 1.
    Ago(Duration),
    /// This second. Servers ignore fractions.
    Second(i64),
}

/// One request for the log of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRequest {
    /// The container.
    pub container: Arc<LogContainer>,
    /// Whether the answer goes on until the instance ends.
    pub follow: bool,
    /// Whether to read the instance before the present one.
    pub previous: bool,
    /// From where on.
    pub start: LogStart,
}
