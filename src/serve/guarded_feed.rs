//! `GuardedFeed` and `RightGuard`: the reader of an open stream is asked about from time to time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, OptionFuture};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::frame::Frame;
use super::reader::{ReaderToken, WebReader};
use super::rights::{ReadRight, ReaderRights, SourcePlace};
use super::rights_cache::{RightsAnswer, RightsAsker, RightsCache, RightsError, RightsQuestion};
use super::streams::Feed;
use super::web_server::{OpenStream, WebServer};

/// How often the rights of the reader of a stream are asked for again. With the age of an answer, a right that is gone shows
/// nothing after half a minute.
const ASKED_AGAIN: Duration = Duration::from_secs(20);

/// How long a stream goes on while the API server does not answer.
const LONGEST_UNASKED: Duration = Duration::from_secs(300);

/// How often a stream looks whether the server reads other places.
const GLANCE: Duration = Duration::from_secs(1);

/// The wait after the first question without an answer. The waits double, up to [`ASKED_AGAIN`].
const FIRST_WAIT: Duration = Duration::from_secs(1);

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
    /// When the API server answered last, and about which places.
    answered: Instant,
    places: Places,
    /// The question that waits for its answer.
    question: Option<BoxFuture<'static, Answer>>,
    /// When the next question may be asked, and the wait after another one without an answer.
    not_before: Instant,
    wait: Duration,
}

/// Where the server reads.
type Places = Arc<BTreeSet<SourcePlace>>;

/// The rights of the reader, and the places that were asked about.
type Answer = (Result<ReaderRights, RightsError>, Places);

impl<F: Feed> GuardedFeed<F> {
    pub(super) fn new(feed: F, asker: StreamAsker, open: OpenStream) -> GuardedFeed<F> {
        let mut glances = interval(GLANCE);
        glances.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let now = Instant::now();
        GuardedFeed {
            feed,
            asker: Arc::new(asker),
            glances,
            answered: now,
            places: open.server.snapshot().places.clone(),
            open,
            question: None,
            not_before: now,
            wait: FIRST_WAIT,
        }
    }

    pub(super) async fn next(&mut self) -> Option<Frame> {
        if matches!(self.asker.reader, WebReader::Owner) {
            return self.feed.next().await;
        }
        loop {
            tokio::select! {
                biased;
                Some(answer) = OptionFuture::from(self.question.as_mut()) => self.take(answer)?,
                // A stream that is never idle is asked about, too.
                _ = self.glances.tick() => self.ask_if_due()?,
                frame = self.feed.next() => return frame,
            }
        }
    }

    /// The next event, if it waits for nothing.
    pub(super) fn next_now(&mut self) -> Option<Frame> {
        self.feed.next_now()
    }

    /// Asks for the rights again if they are due; `None` if the stream must end.
    fn ask_if_due(&mut self) -> Option<()> {
        // Without an API server there is no news either, but rights must not outlive it for long.
        if self.answered.elapsed() >= LONGEST_UNASKED {
            return None;
        }
        let server = self.open.server.clone();
        let places = server.snapshot().places.clone();
        let is_due = self.answered.elapsed() >= ASKED_AGAIN || places != self.places;
        if is_due && self.question.is_none() && Instant::now() >= self.not_before {
            let asker = self.asker.clone();
            let question = async move {
                let question = asker.question(RightsAsker::OpenStream);
                (server.rights(question).await, places)
            };
            self.question = Some(Box::pin(question));
        }
        Some(())
    }

    /// Takes an answer; `None` if the stream must end.
    fn take(&mut self, (rights, places): Answer) -> Option<()> {
        self.question = None;
        match rights {
            Ok(rights) => {
                self.feed.change_rights(rights);
                self.answered = Instant::now();
                self.places = places;
                self.wait = FIRST_WAIT;
            }
            Err(RightsError::Unavailable(_)) => {
                let jitter = fastrand::f64();
                self.not_before = Instant::now() + self.wait.mul_f64(1.0 - jitter / 2.0);
                self.wait = (self.wait * 2).min(ASKED_AGAIN);
            }
            Err(RightsError::UnknownToken) => return None,
        }
        Some(())
    }
}

/// The right that a stream needs.
pub struct RightGuard {
    rights: Arc<RightsCache>,
    token: ReaderToken,
    right: ReadRight,
    /// When it was asked for last, and when the API server granted it last.
    asked: Instant,
    granted: Instant,
}

impl RightGuard {
    /// Guards a right that was just granted.
    pub fn new(rights: Arc<RightsCache>, token: ReaderToken, right: ReadRight) -> RightGuard {
        RightGuard {
            rights,
            token,
            right,
            asked: Instant::now(),
            granted: Instant::now(),
        }
    }

    /// Waits until the right is to be asked for.
    pub async fn due(&self) {
        sleep_until(self.asked + ASKED_AGAIN).await;
    }

    /// Whether the stream may go on. It asks the API server if that is due.
    pub async fn is_granted(&mut self) -> bool {
        if self.asked.elapsed() < ASKED_AGAIN {
            return true;
        }
        self.asked = Instant::now();
        let asker = RightsAsker::OpenStream;
        match self.rights.ask(&self.token, &self.right, asker).await {
            Ok(RightsAnswer::Granted) => {
                self.granted = self.asked;
                true
            }
            Ok(RightsAnswer::Denied | RightsAnswer::Unknown) => false,
            // Without an API server there is no news either, but a right must not outlive it for long.
            Err(_) => self.granted.elapsed() < LONGEST_UNASKED,
        }
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
    use tokio::time::{sleep, timeout};

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
