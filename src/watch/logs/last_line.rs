//! `LastLineAnswer`: the line that is the last of a log at this moment, as the server answers.

use std::sync::Arc;

use futures::StreamExt;

use crate::logs::{LastLine, LogSplitter};
use crate::source::log::{LogContainer, LogRequest, LogStart};
use crate::watch::transport::{LogAnswer, Transport};

/// What the server answers to the request for the last line of a log.
#[derive(Clone, Debug)]
pub enum LastLineAnswer {
    /// The line, or the last part of it that the node has stored. Of one of more than 1 MiB, its start.
    Line(LastLine),
    /// The log has no line.
    NoLine,
    /// No line that is complete, or no answer.
    Unknown,
}

impl LastLineAnswer {
    /// Requests the last line. It reads no more than 1 MiB.
    pub(super) async fn request(
        transport: Arc<dyn Transport>,
        container: Arc<LogContainer>,
    ) -> LastLineAnswer {
        let request = LogRequest {
            container,
            follow: false,
            previous: false,
            start: LogStart {
                tail: Some(1),
                since: None,
            },
        };
        let Ok(LogAnswer::Bytes(mut chunks)) = transport.log(&request).await else {
            return LastLineAnswer::Unknown;
        };
        let mut splitter = LogSplitter::default();
        while let Some(chunk) = chunks.next().await {
            let Ok(chunk) = chunk else {
                return LastLineAnswer::Unknown;
            };
            splitter.feed(chunk);
            if let Some(part) = splitter.part() {
                return LastLine::of(&part).map_or(LastLineAnswer::Unknown, LastLineAnswer::Line);
            }
        }
        if splitter.rest().is_empty() {
            LastLineAnswer::NoLine
        } else {
            LastLineAnswer::Unknown
        }
    }
}
