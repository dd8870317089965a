//! `GuardedFeed` and `RightGuard`: the reader of an open stream is asked about from time to time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::reader::{ReaderToken, WebReader};
use super::rights::{ReadRight, ReaderRights, SourcePlace};
use super::rights_cache::{RightsAnswer, RightsAsker, RightsCache, RightsError, RightsQuestion};
use super::streams::{Feed, Frame};
use super::web_server::{OpenStream, WebServer};

/// How often the rights of the reader of a stream are asked for again. With the age of an answer, a right that is gone shows
/// nothing after half a minute.
const ASKED_AGAIN: Duration = Duration::from_secs(20);

/// How long a stream goes on while the API server does not answer.
const LONGEST_UNASKED: Duration = Duration::from_secs(300);

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
/// narrows with his rights.
pub(super) struct GuardedFeed<F> {
    feed: F,
    asker: StreamAsker,
    open: OpenStream,
    /// When the rights were asked for last, and for which places.
    asked: Instant,
    places: Arc<BTreeSet<SourcePlace>>,
    glances: Interval,
}

impl<F: Feed> GuardedFeed<F> {
    pub(super) fn new(feed: F, asker: StreamAsker, open: OpenStream) -> GuardedFeed<F> {
        let mut glances = interval(GLANCE);
        glances.set_missed_tick_behavior(MissedTickBehavior::Delay);
        GuardedFeed {
            feed,
            asker,
            glances,
            asked: Instant::now(),
            places: open.server.snapshot().places.clone(),
            open,
        }
    }

    pub(super) async fn next(&mut self) -> Option<Frame> {
        if matches!(self.asker.reader, WebReader::Owner) {
            return self.feed.next().await;
        }
        loop {
            tokio::select! {
                biased;
                // A stream that is never idle is asked about, too.
                _ = self.glances.tick() => self.ask_again().await?,
                frame = self.feed.next() => return frame,
            }
        }
    }

    /// Asks for the rights again if they are due; `None` if the stream must end.
    async fn ask_again(&mut self) -> Option<()> {
        let server = self.open.server.clone();
        let places = server.snapshot().places.clone();
        let age = self.asked.elapsed();
        if age < ASKED_AGAIN && places == self.places {
            return Some(());
        }
        let question = self.asker.question(RightsAsker::OpenStream);
        match server.rights(question).await {
            Ok(rights) => {
                self.feed.change_rights(rights);
                self.asked = Instant::now();
                self.places = places;
                Some(())
            }
            // Without an API server there is no news either, but rights must not outlive it for long.
            Err(RightsError::Unavailable(_)) if age < LONGEST_UNASKED => Some(()),
            Err(RightsError::Unavailable(_) | RightsError::UnknownToken) => None,
        }
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
        match self.rights.ask_again(&self.token, &self.right).await {
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
    use tokio::time::timeout;

    use super::super::board::Board;
    use super::super::gate::{AccessToken, Gate};
    use super::super::params::{Params, RowFilter};
    use super::super::rights_cache::RightsSource;
    use super::super::snapshot::testing::{failed_pod, pods, snapshot};
    use super::super::streams::EventFeed;
    use super::*;

    /// What the API server answers: the rights, an unknown token, or nothing at all.
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

    struct ApiServer(Arc<AtomicUsize>);

    impl RightsSource for ApiServer {
        fn answer<'a>(
            &'a self,
            _: &'a ReaderToken,
            _: &'a ReadRight,
        ) -> BoxFuture<'a, Result<RightsAnswer, String>> {
            let answer = ANSWERS[self.0.load(Ordering::Relaxed)];
            Box::pin(async move { answer.map_err(|()| "it is down".to_owned()) })
        }
    }

    struct Open {
        answers: Arc<AtomicUsize>,
        _board: watch::Sender<Board>,
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
        let feed = EventFeed::new(board.subscribe(), filter, None, rights);
        let reader = OpenStream::begin(&server, asker.reader()).expect("there is room");
        Open {
            answers,
            _board: board,
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
}
