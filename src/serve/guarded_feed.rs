//! `GuardedFeed` and `RightGuard`: the reader of an open stream is asked about from time to time. The first one narrows with all
//! rights, the other one ends with one right.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

use super::asked_again::{AskedAgain, OpenQuestion};
use super::event_ring::Frame;
use super::reader::{ReaderToken, WebReader};
use super::rights::{ReadRight, ReaderRights, SourcePlace};
use super::rights_cache::{RightsAnswer, RightsAsker, RightsCache, RightsError, RightsQuestion};
use super::streams::Feed;
use super::web_server::{OpenStream, WebServer};

/// How often a stream looks whether the server reads other places.
const GLANCE: Duration = Duration::from_secs(1);

/// Who reads a stream, and of which namespace.
pub(super) struct StreamAsker {
    reader: WebReader,
    namespace: Option<String>,
}

impl StreamAsker {
    pub(super) fn new(reader: WebReader, namespace: Option<&str>) -> StreamAsker {
        StreamAsker {
            reader,
            namespace: namespace.map(str::to_owned),
        }
    }

    /// Who reads.
    pub(super) fn reader(&self) -> &WebReader {
        &self.reader
    }

    /// The rights at the begin of the stream.
    pub(super) async fn rights(&self, server: &WebServer) -> Result<ReaderRights, RightsError> {
        server.rights(self.question(RightsAsker::Request)).await
    }

    fn question(&self, asker: RightsAsker) -> RightsQuestion<'_> {
        RightsQuestion {
            reader: &self.reader,
            namespace: self.namespace.as_deref(),
            asker,
        }
    }
}

/// A stream whose reader is asked about from time to time. It ends when the API server does not know his token any more, and
/// narrows with his rights. It goes on while a question waits for its answer.
pub(super) struct GuardedFeed<F> {
    feed: F,
    asker: Arc<StreamAsker>,
    open: OpenStream,
    glances: Interval,
    /// The places that the API server was asked about last.
    places: Places,
    question: AskedAgain<Answer>,
}

/// Where the server reads.
type Places = Arc<BTreeSet<SourcePlace>>;

/// The rights of the reader, and the places that were asked about.
type Answer = (ReaderRights, Places);

impl<F: Feed> GuardedFeed<F> {
    pub(super) fn new(feed: F, asker: StreamAsker, open: OpenStream) -> GuardedFeed<F> {
        let mut glances = interval(GLANCE);
        glances.set_missed_tick_behavior(MissedTickBehavior::Delay);
        GuardedFeed {
            feed,
            asker: Arc::new(asker),
            glances,
            places: open.server.snapshot().places.clone(),
            open,
            question: AskedAgain::new(),
        }
    }

    pub(super) async fn next(&mut self) -> Option<Frame> {
        if matches!(self.asker.reader, WebReader::Owner) {
            return self.feed.next().await;
        }
        let (server, asker) = (&self.open.server, &self.asker);
        let ask = || -> OpenQuestion<Answer> {
            let (server, asker) = (server.clone(), asker.clone());
            Box::pin(async move {
                let places = server.snapshot().places.clone();
                let question = asker.question(RightsAsker::OpenStream);
                Ok((server.rights(question).await?, places))
            })
        };
        loop {
            tokio::select! {
                biased;
                answer = self.question.answer(ask) => {
                    let (rights, places) = answer?;
                    self.feed.change_rights(rights);
                    self.places = places;
                }
                // A stream that is never idle is asked about, too.
                _ = self.glances.tick() => {
                    if server.snapshot().places != self.places {
                        self.question.hurry();
                    }
                }
                frame = self.feed.next() => return frame,
            }
        }
    }

    /// The next event, if it waits for nothing.
    pub(super) fn next_now(&mut self) -> Option<Frame> {
        self.feed.next_now()
    }
}

/// The right that a stream needs. The stream goes on while it is asked for again.
pub struct RightGuard {
    rights: Arc<RightsCache>,
    token: ReaderToken,
    right: ReadRight,
    question: AskedAgain<RightsAnswer>,
    is_lost: bool,
}

impl RightGuard {
    /// Guards a right that was just granted.
    pub fn new(rights: Arc<RightsCache>, token: ReaderToken, right: ReadRight) -> RightGuard {
        RightGuard {
            rights,
            token,
            right,
            question: AskedAgain::new(),
            is_lost: false,
        }
    }

    /// Waits until the stream must end. It is cancel safe.
    pub async fn lost(&mut self) {
        let ask = || -> OpenQuestion<RightsAnswer> {
            let (rights, token, right) =
                (self.rights.clone(), self.token.clone(), self.right.clone());
            Box::pin(async move { rights.ask(&token, &right, RightsAsker::OpenStream).await })
        };
        while !self.is_lost {
            let answer = self.question.answer(ask).await;
            self.is_lost = answer != Some(RightsAnswer::Granted);
        }
    }
}

/// How often an idle stream shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A comment, which readers pass over.
const COMMENT: &str = ":\n\n";

/// After how many bytes a piece takes no other event. A reader who does not read keeps one piece in memory.
const PIECE: usize = 8 * 1024;

/// The body of an answer that never ends. What a stream has at a time is one piece of it, so that a burst of events costs one write.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;
    use futures::future::BoxFuture;
    use tokio::sync::{mpsc, watch};
    use tokio::time::{Instant, sleep, timeout};

    use super::super::asked_again::{ASKED_AGAIN, LONGEST_UNASKED};
    use super::super::board::Board;
    use super::super::gate::{AccessToken, Gate};
    use super::super::params::{Params, RowFilter};
    use super::super::rights_cache::RightsSource;
    use super::super::snapshot::testing::{failed_pod, pods, snapshot};
    use super::super::streams::EventFeed;
    use super::*;

    /// What the API server answers: the rights, an unknown token, or an error.
    const ANSWERS: [Result<RightsAnswer, ()>; 4] = [
        Ok(RightsAnswer::Granted),
        Ok(RightsAnswer::Denied),
        Ok(RightsAnswer::Unknown),
        Err(()),
    ];
    const GRANTED: usize = 0;
    const DENIED: usize = 1;
    const UNKNOWN: usize = 2;
    const DOWN: usize = 3;
    /// It answers nothing for longer than a request may take.
    const SILENT: usize = 4;

    struct ApiServer(Arc<AtomicUsize>);

    impl RightsSource for ApiServer {
        fn answer<'a>(
            &'a self,
            _: &'a ReaderToken,
            _: &'a ReadRight,
        ) -> BoxFuture<'a, Result<RightsAnswer, String>> {
            let answer = ANSWERS.get(self.0.load(Ordering::Relaxed)).copied();
            Box::pin(async move {
                if answer.is_none() {
                    sleep(Duration::from_secs(30)).await;
                }
                answer
                    .unwrap_or(Err(()))
                    .map_err(|()| "it is down".to_owned())
            })
        }
    }

    struct Open {
        answers: Arc<AtomicUsize>,
        board: watch::Sender<Board>,
        feed: GuardedFeed<EventFeed>,
    }

    /// A stream of a reader who may list everything so far.
    async fn open() -> Open {
        let mut all = snapshot(vec![failed_pod("web", "it fails")]);
        all.places = Arc::new(BTreeSet::from([SourcePlace {
            resource: pods(),
            namespace: None,
        }]));
        let board = Board::new(7, all);
        let answers = Arc::new(AtomicUsize::new(GRANTED));
        let address: SocketAddr = "127.0.0.1:1".parse().expect("an address");
        let gate = Gate::own(AccessToken::random().expect("random"), address, "http");
        let (questions, _waiting) = mpsc::channel(1);
        let rights = Arc::new(RightsCache::new(Arc::new(ApiServer(answers.clone()))));
        let server = Arc::new(WebServer::new(board.subscribe(), gate, questions).asking(rights));
        let token = ReaderToken::new("alice").expect("a token");
        let asker = StreamAsker::new(WebReader::User(token), None);
        let rights = asker.rights(&server).await.expect("an answer");
        let filter = RowFilter::of(&Params::default()).expect("no parameter");
        let feed = EventFeed::new(server.stream_source(), filter, None, rights);
        let reader = OpenStream::begin(&server, asker.reader()).expect("there is room");
        Open {
            answers,
            board,
            feed: GuardedFeed::new(feed, asker, reader),
        }
    }

    /// The names of the events that the stream has now.
    fn now(feed: &mut GuardedFeed<EventFeed>) -> Vec<&'static str> {
        let mut names = Vec::new();
        while let Some(Some(frame)) = feed.next().now_or_never() {
            names.push(frame.name);
        }
        names
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_narrows_with_the_rights_of_its_reader() {
        let mut open = open().await;
        assert_eq!(now(&mut open.feed), ["status", "synced"]);
        open.answers.store(DENIED, Ordering::Relaxed);
        let begun = Instant::now();
        let frame = open.feed.next().await.expect("it goes on");
        assert_eq!(
            (frame.name, &*frame.data),
            ("synced", r#"{"v":1,"count":0}"#)
        );
        assert!(
            begun.elapsed() <= Duration::from_secs(30),
            "{:?}",
            begun.elapsed()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_with_the_token_of_its_reader() {
        let mut open = open().await;
        assert_eq!(now(&mut open.feed), ["status", "synced"]);
        open.answers.store(UNKNOWN, Ordering::Relaxed);
        let ended = timeout(ASKED_AGAIN + GLANCE * 2, open.feed.next()).await;
        assert_eq!(ended, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_outlives_a_short_outage_of_the_api_server() {
        let mut open = open().await;
        assert_eq!(now(&mut open.feed), ["status", "synced"]);
        open.answers.store(DOWN, Ordering::Relaxed);
        assert!(
            timeout(LONGEST_UNASKED.saturating_sub(GLANCE * 2), open.feed.next())
                .await
                .is_err()
        );
        let ended = timeout(GLANCE * 4, open.feed.next()).await;
        assert_eq!(ended, Ok(None));
    }
    #[tokio::test(start_paused = true)]
    async fn a_stream_shows_news_while_the_api_server_is_silent() {
        let mut open = open().await;
        assert_eq!(now(&mut open.feed), ["status", "synced"]);
        open.answers.store(SILENT, Ordering::Relaxed);
        let begun = Instant::now();
        while begun.elapsed() < LONGEST_UNASKED.saturating_sub(GLANCE * 8) {
            let idle = timeout(Duration::from_secs(7), open.feed.next()).await;
            assert!(idle.is_err(), "{idle:?}");
            let row = Arc::new(failed_pod("web", "it fails again"));
            open.board.send_modify(|board| board.announce(&row, None));
            let news = timeout(Duration::from_millis(1), open.feed.next()).await;
            assert_eq!(news.ok().flatten().map(|frame| frame.name), Some("status"));
        }
        let ended = timeout(GLANCE * 9, open.feed.next()).await;
        assert_eq!(ended, Ok(None));
    }
}
