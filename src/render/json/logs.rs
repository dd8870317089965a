//! The records of `logs -o json`.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::RefRecord;
use crate::source::log::LogContainer;

/// A line of a log, or a message about a log.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogRecord<'r> {
    /// [`VERSION`](super::VERSION).
    pub v: u32,
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: LogRecordKind,
    /// The time of the line, by the clock of its node; absent for messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The name of the context.
    pub cluster: &'r str,
    /// The namespace of the Pod.
    pub namespace: &'r str,
    /// The name of the Pod.
    pub pod: &'r str,
    /// The name of the container.
    pub container: &'r str,
    /// The ID of the container's instance; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<&'r str>,
    /// The line. Bytes that are no UTF-8 are replaced by U+FFFD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Cow<'r, str>>,
    /// How many bytes of a very long line are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<u64>,
    /// The line, in place of `line`, if it is a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<&'r RawValue>,
    /// What happened to the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<&'static str>,
    /// The message in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The time of the last line before a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The time of the first line after a gap; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upto: Option<String>,
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogRecordKind {
    /// A line.
    Log,
    /// A log that begins or ends, or that cannot be read.
    Source,
    /// Missing lines.
    Gap,
}

impl<'r> LogRecord<'r> {
    /// A record without content.
    pub fn new(kind: LogRecordKind, container: &'r LogContainer) -> LogRecord<'r> {
        LogRecord {
            v: super::VERSION,
            kind,
            time: None,
            cluster: &container.cluster.0,
            namespace: container.pod.namespace.as_deref().unwrap_or_default(),
            pod: &container.pod.name,
            container: &container.name,
            instance: None,
            line: None,
            cut: None,
            fields: None,
            event: None,
            message: None,
            after: None,
            upto: None,
        }
    }
}

/// Something that happened between the lines.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimelineRecord<'r> {
    /// [`VERSION`](super::VERSION).
    pub v: u32,
    /// `change`, `status` or `event`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// When it happened, or the earliest time of that.
    pub time: String,
    /// The latest time at which it can have happened, if only an interval is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// The field managers behind a change, if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managers: Option<&'r str>,
    /// What happened.
    pub message: &'r str,
}

/// The time of a line with all its digits.
pub fn log_time(time: Timestamp) -> String {
    format!("{time:.9}")
}
