//! `last_line`: the line that is the last of a log at this moment.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use memchr::memchr;

use crate::logs::timed_line;
use crate::source::log::{LogContainer, LogLine, LogRequest, LogStart};
use crate::watch::transport::{LogAnswer, Transport};

/// Requests the last line of a log, or the last part of it that the node has stored. `None` if there is none, or if the server
/// does not answer with a line.
pub(super) async fn last_line(
    transport: Arc<dyn Transport>,
    container: Arc<LogContainer>,
) -> Option<LogLine> {
    let request = LogRequest {
        container,
        follow: false,
        previous: false,
        start: LogStart {
            tail: Some(1),
            since: None,
        },
    };
    let LogAnswer::Bytes(mut chunks) = transport.log(&request).await.ok()? else {
        return None;
    };
    let mut answer = BytesMut::new();
    while let Some(chunk) = chunks.next().await {
        answer.extend_from_slice(&chunk.ok()?);
    }
    let line = &answer[..memchr(b'\n', &answer)?];
    let (time, text) = timed_line(line)?;
    Some(LogLine {
        time,
        text: Bytes::copy_from_slice(&line[text..]),
        ends: true,
    })
}
