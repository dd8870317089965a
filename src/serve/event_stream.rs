//! `EventStream`: the body of an answer that never ends. What a stream has at a time is one piece of it, so that a burst of events
//! costs one write.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use tokio::time::timeout;

use super::guarded_feed::GuardedFeed;
use super::streams::Feed;

/// How often an idle stream shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A comment, which readers pass over.
const COMMENT: &str = ":\n\n";

/// After how many bytes a piece takes no other event. A reader who does not read keeps one piece in memory.
const PIECE: usize = 8 * 1024;

/// A stream whose reader waits for it.
pub(super) struct EventStream<F> {
    feed: GuardedFeed<F>,
}

impl<F: Feed> EventStream<F> {
    /// The stream of this feed.
    pub(super) fn of(feed: GuardedFeed<F>) -> EventStream<F> {
        EventStream { feed }
    }

    /// The next piece; `None` at the end.
    async fn piece(&mut self) -> Option<String> {
        let Ok(first) = timeout(KEEP_ALIVE, self.feed.next()).await else {
            return Some(COMMENT.to_owned());
        };
        let (mut piece, mut next) = (String::new(), Some(first?));
        while let Some(frame) = next {
            frame.write_to(&mut piece);
            next = (piece.len() < PIECE)
                .then(|| self.feed.next_now())
                .flatten();
        }
        Some(piece)
    }

    /// The answer.
    pub(super) fn answer(self) -> Response {
        let pieces = unfold(self, |mut stream| async move {
            let piece = stream.piece().await?;
            Some((Ok::<_, Infallible>(Bytes::from(piece)), stream))
        });
        let headers = [
            (CONTENT_TYPE, "text/event-stream"),
            (CACHE_CONTROL, "no-cache"),
        ];
        (headers, Body::from_stream(pieces)).into_response()
    }
}
