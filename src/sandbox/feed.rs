//! Sends a watch line by line, and applies the fault script to it.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::Stream;
use futures::stream::unfold;

use super::fault::{BadLine, Effect, End, Expiry, Framing, Place};
use super::status::ApiFailure;
use super::watch::{EventType, WatchEvent, WatchSource};
use super::wire::Switch;

/// The next step of a body.
enum FeedStep {
    Send(Bytes),
    /// Lets the bytes sent so far reach the socket.
    Flush,
    Wait(Duration),
    Stall,
    End(End),
}

/// A body that runs these steps.
pub(super) struct WatchFeed {
    source: Option<WatchSource>,
    effects: Vec<Effect>,
    steps: VecDeque<FeedStep>,
    switch: Arc<Switch>,
    /// The number of events sent or replaced so far, without bookmarks.
    sent: usize,
}

impl WatchFeed {
    pub(super) fn watch(
        mut source: WatchSource,
        effects: Vec<Effect>,
        switch: Arc<Switch>,
    ) -> Self {
        for effect in &effects {
            match effect {
                Effect::Replay(count) => source.replay(*count),
                Effect::Skip(count) => source.skip(*count),
                Effect::NoBookmarks => source.bookmarks = None,
                _ => {}
            }
        }
        let mut feed = Self {
            source: Some(source),
            effects,
            steps: VecDeque::new(),
            switch,
            sent: 0,
        };
        feed.check_place(Place::AfterHeaders);
        feed.check_place(Place::AfterEvents(0));
        feed
    }

    /// The body of any other answer: all of it, or half of it and a fault.
    pub(super) fn whole(body: &Bytes, effects: &[Effect], switch: Arc<Switch>) -> Self {
        let mut steps = VecDeque::from([FeedStep::Send(body.clone()), FeedStep::End(End::Clean)]);
        for effect in effects {
            let (at, last) = match effect {
                Effect::Cut { at, end } => (*at, FeedStep::End(*end)),
                Effect::Stall { at } => (*at, FeedStep::Stall),
                _ => continue,
            };
            let half = if at == Place::AfterHeaders {
                Bytes::new()
            } else {
                body.slice(..body.len() / 2)
            };
            steps = VecDeque::from([FeedStep::Send(half), FeedStep::Flush, last]);
        }
        Self {
            source: None,
            effects: Vec::new(),
            steps,
            switch,
            sent: 0,
        }
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send {
        unfold(Some(self), |feed| async {
            let mut feed = feed?;
            match feed.next().await? {
                Ok(bytes) => Some((Ok(bytes), Some(feed))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            match self.steps.pop_front() {
                Some(FeedStep::Send(bytes)) if bytes.is_empty() => {}
                Some(FeedStep::Send(bytes)) => return Some(Ok(bytes)),
                Some(FeedStep::Flush) => tokio::task::yield_now().await,
                Some(FeedStep::Wait(delay)) => tokio::time::sleep(delay).await,
                Some(FeedStep::Stall) => std::future::pending().await,
                Some(FeedStep::End(End::Clean)) => return None,
                Some(FeedStep::End(end)) => {
                    self.switch.throw(end);
                    return Some(Err(io::ErrorKind::ConnectionReset.into()));
                }
                None => {
                    let event = self.source.as_mut()?.next().await?;
                    self.plan(&event);
                }
            }
        }
    }

    fn plan(&mut self, event: &WatchEvent) {
        if event.kind == EventType::Bookmark {
            let line = self.line(event);
            self.send(line);
            return;
        }
        let delays = self.effects.iter().filter_map(|effect| match effect {
            Effect::Slow(delay) => Some(FeedStep::Wait(*delay)),
            _ => None,
        });
        self.steps.extend(delays);
        if self.cut_within(event) {
            return;
        }
        let mut lines = self.spoiled(event).unwrap_or_else(|| self.line(event));
        self.sent += 1;
        let together = self.has_framing(Framing::Together);
        while let Some(next) = self
            .source
            .as_mut()
            .filter(|_| together)
            .and_then(WatchSource::ready)
        {
            lines.extend(self.line(&next));
            self.sent += 1;
        }
        self.send(lines);
        self.check_place(Place::AfterEvents(self.sent));
    }

    /// Plans the faults at this place between events.
    fn check_place(&mut self, place: Place) {
        let mut planned = Vec::new();
        for effect in &self.effects {
            let failure = match effect {
                Effect::Cut { at, end } if *at == place => {
                    planned.extend([FeedStep::Flush, FeedStep::End(*end)]);
                    continue;
                }
                Effect::Stall { at } if *at == place => {
                    planned.extend([FeedStep::Flush, FeedStep::Stall]);
                    continue;
                }
                Effect::ErrorEvent { after, code } if Place::AfterEvents(*after) == place => {
                    Some(ApiFailure::by_code(*code, None))
                }
                Effect::Expire(Expiry::InStream(after)) if Place::AfterEvents(*after) == place => {
                    self.source.as_ref().map(WatchSource::expired)
                }
                _ => None,
            };
            if let Some(failure) = failure {
                let line = self.line(&WatchEvent::error(&failure));
                planned.extend([FeedStep::Send(Bytes::from(line)), FeedStep::End(End::Clean)]);
            }
        }
        self.steps.extend(planned);
    }

    /// Plans half of the event and the fault in its middle. Returns false without such a fault.
    fn cut_within(&mut self, event: &WatchEvent) -> bool {
        let here = Place::MidLine(self.sent);
        let last = self.effects.iter().find_map(|effect| match effect {
            Effect::Cut { at, end } if *at == here => Some(FeedStep::End(*end)),
            Effect::Stall { at } if *at == here => Some(FeedStep::Stall),
            _ => None,
        });
        let Some(last) = last else { return false };
        let mut line = self.line(event);
        line.truncate(line.len() / 2);
        self.steps
            .extend([FeedStep::Send(Bytes::from(line)), FeedStep::Flush, last]);
        true
    }

    /// The bad line that replaces this event, if one is due.
    fn spoiled(&self, event: &WatchEvent) -> Option<Vec<u8>> {
        let bad = self.effects.iter().find_map(|effect| match effect {
            Effect::BadLine { after, line } if *after == self.sent => Some(line),
            _ => None,
        })?;
        let mut line = self.line(event);
        match bad {
            BadLine::Garbage => line = b"<!-- not JSON at all -->\n".to_vec(),
            BadLine::Truncated => {
                line.truncate(line.len() / 2);
                line.push(b'\n');
            }
            BadLine::NotUtf8 => {
                let middle = line.len() / 2;
                line.splice(middle..middle, [0xff, 0xfe]);
            }
            BadLine::Long(size) => {
                let end = line.len() - 2;
                let padding = size.saturating_sub(line.len());
                let pad = format!(",\"padding\":\"{}\"}}\n", "x".repeat(padding));
                line.splice(end.., pad.into_bytes());
            }
            BadLine::UnknownType => {
                let object = String::from_utf8_lossy(&event.object);
                line = format!("{{\"type\":\"RENAMED\",\"object\":{object}}}\n").into_bytes();
            }
        }
        Some(line)
    }

    fn line(&self, event: &WatchEvent) -> Vec<u8> {
        let (kind, object) = (event.kind.as_str(), String::from_utf8_lossy(&event.object));
        let mut line = if self.has_framing(Framing::ObjectFirst) {
            format!(r#"{{"object":{object},"type":"{kind}"}}"#)
        } else {
            format!(r#"{{"type":"{kind}","object":{object}}}"#)
        };
        let is_crlf = self.has_framing(Framing::Crlf);
        line.push_str(if is_crlf { "\r\n" } else { "\n" });
        if self.has_framing(Framing::BlankLines) {
            line.push('\n');
        }
        line.into_bytes()
    }

    fn has_framing(&self, framing: Framing) -> bool {
        self.effects.contains(&Effect::Framing(framing))
    }

    fn send(&mut self, line: Vec<u8>) {
        let bytes = if self.has_framing(Framing::Gzip) {
            gzip(&line)
        } else {
            Bytes::from(line)
        };
        let size = self.effects.iter().find_map(|effect| match effect {
            Effect::Framing(Framing::Split(size)) => Some((*size).max(1)),
            _ => None,
        });
        for start in (0..bytes.len()).step_by(size.unwrap_or(bytes.len()).max(1)) {
            let end = size.map_or(bytes.len(), |size| bytes.len().min(start + size));
            self.steps
                .extend([FeedStep::Send(bytes.slice(start..end)), FeedStep::Flush]);
        }
    }
}

pub(super) fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
    Bytes::from(done.unwrap_or_default())
}
