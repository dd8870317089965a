//! The paths that the server answers.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::stream::unfold;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION,
    REFERRER_POLICY, SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tokio::sync::{mpsc, oneshot, watch};

use super::board::Board;
use super::event_ring::EventId;
use super::gate::{Denial, Gate, TokenPlace};
use super::metrics::{ServerCounts, metrics};
use super::page::{NowPage, ObjectPage, POLICY, SCRIPT, View, nothing, page};
use super::params::{ParamError, Params, RowFilter};
use super::snapshot::Snapshot;
use super::streams::{EventFeed, Feed, Frame, ViewFeed};

/// The most streams at a time.
const MAX_READERS: usize = 1_000;

/// How often an idle stream shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A question that needs more than the board: the verb reads the cluster for it.
#[derive(Debug)]
pub struct Question {
    /// The verb whose records answer it.
    pub verb: RecordVerb,
    /// The parameters, which have the names of the flags.
    pub params: Params,
    /// Takes the records, one on each line.
    pub answer: oneshot::Sender<Result<String, QuestionError>>,
}

/// A verb that answers questions with its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordVerb {
    /// What an object is connected to.
    Trace,
    /// What changed in objects.
    Changes,
    /// What containers printed.
    Logs,
}

/// Why a question has no answer.
#[derive(Clone, Debug)]
pub struct QuestionError {
    /// The code of the answer.
    pub code: StatusCode,
    /// The error in the words of the command line, with its hints.
    pub words: String,
}

/// What all requests share.
pub struct WebServer {
    board: watch::Receiver<Board>,
    gate: Gate,
    questions: mpsc::Sender<Question>,
    readers: AtomicUsize,
    denied: [AtomicU64; Denial::ALL.len()],
}

impl WebServer {
    /// Answers from this board. What needs more goes to `questions`.
    pub fn new(
        board: watch::Receiver<Board>,
        gate: Gate,
        questions: mpsc::Sender<Question>,
    ) -> WebServer {
        WebServer {
            board,
            gate,
            questions,
            readers: AtomicUsize::new(0),
            denied: Default::default(),
        }
    }

    /// The number of open streams.
    pub fn readers(&self) -> usize {
        self.readers.load(Ordering::Relaxed)
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.board.borrow().snapshot.clone()
    }

    fn counts(&self) -> ServerCounts {
        ServerCounts {
            readers: self.readers(),
            denied: [0, 1, 2, 3].map(|at: usize| self.denied[at].load(Ordering::Relaxed)),
        }
    }

    fn deny(&self, denial: Denial) -> Response {
        let counts = Denial::ALL.iter().zip(&self.denied);
        for (_, count) in counts.filter(|(of, _)| **of == denial) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let mut response = text(denial.code(), denial.words().to_owned());
        let header = match denial {
            Denial::Method => Some((ALLOW, "GET, HEAD")),
            Denial::Token => Some((WWW_AUTHENTICATE, "Bearer")),
            Denial::Host | Denial::Origin => None,
        };
        let header = header.map(|(name, value)| (name, HeaderValue::from_static(value)));
        response.headers_mut().extend(header);
        response
    }
}

/// The shared part of the server, as handlers take it.
type Shared = State<Arc<WebServer>>;

/// All paths, behind the gate.
pub fn router(server: Arc<WebServer>) -> Router {
    Router::new()
        .route("/", get(now))
        .route("/o/{cluster}/{kind}/{namespace}/{name}", get(object))
        .route("/live", get(live_now))
        .route(
            "/live/o/{cluster}/{kind}/{namespace}/{name}",
            get(live_object),
        )
        .route("/page.js", get(script))
        .route("/spy/v1/status", get(status))
        .route("/spy/v1/trace", get(trace))
        .route("/spy/v1/changes", get(changes))
        .route("/spy/v1/logs", get(logs))
        .route("/spy/v1/events", get(events))
        .route("/metrics", get(all_metrics))
        .route(
            "/livez",
            get(async || text(StatusCode::OK, "ok\n".to_owned())),
        )
        .route("/readyz", get(ready))
        .fallback(async || not_found("error: the server does not have this path\n"))
        .layer(from_fn_with_state(server.clone(), admit))
        .with_state(server)
}

/// Checks a request, and gives each answer the headers that keep browsers from doing more with it.
async fn admit(State(server): Shared, request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let admission = server.gate.check(request.method(), &uri, request.headers());
    let is_page = uri.path() == "/" || uri.path().starts_with("/o/");
    let mut response = match admission {
        Err(denial) => server.deny(denial),
        // The token leaves the address, so that no history and no link has it.
        Ok(TokenPlace::InAddress) if is_page => welcome(&server.gate, &uri),
        Ok(TokenPlace::InAddress | TokenPlace::Known | TokenPlace::Public) => {
            next.run(request).await
        }
    };
    let headers = response.headers_mut();
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (CONTENT_SECURITY_POLICY, POLICY.as_str()),
    ];
    for (name, value) in fixed {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    response
}

/// Keeps the token as a cookie and leads to the same address without it.
fn welcome(gate: &Gate, uri: &Uri) -> Response {
    let query = Params::of(uri).to_query();
    let address = match &*query {
        "" => uri.path().to_owned(),
        query => format!("{}?{query}", uri.path()),
    };
    let headers = [(LOCATION, address), (SET_COOKIE, gate.cookie())];
    (StatusCode::SEE_OTHER, headers, "").into_response()
}

async fn now(State(server): Shared, uri: Uri) -> Response {
    match NowPage::of(&Params::of(&uri)) {
        Ok(view) => html(&view, &server.snapshot()),
        Err(error) => refused(&error),
    }
}

async fn object(State(server): Shared, Path(path): Path<ObjectPath>) -> Response {
    let snapshot = server.snapshot();
    if let Some(view) = ObjectPage::at(path.parts(), &snapshot) {
        return html(&view, &snapshot);
    }
    let words = "This object is not among those that kubectl spy serve follows.";
    let content = (CONTENT_TYPE, "text/html; charset=utf-8");
    (
        StatusCode::NOT_FOUND,
        [content],
        nothing(words).into_string(),
    )
        .into_response()
}

/// The parts of the address of an object.
#[derive(serde::Deserialize)]
struct ObjectPath {
    cluster: String,
    kind: String,
    namespace: String,
    name: String,
}

impl ObjectPath {
    fn parts(&self) -> [&str; 4] {
        [&self.cluster, &self.kind, &self.namespace, &self.name]
    }
}

async fn live_now(State(server): Shared, uri: Uri) -> Response {
    match NowPage::of(&Params::of(&uri)) {
        Ok(view) => live(&server, view),
        Err(error) => refused(&error),
    }
}

async fn live_object(State(server): Shared, Path(path): Path<ObjectPath>) -> Response {
    match ObjectPage::at(path.parts(), &server.snapshot()) {
        Some(view) => live(&server, view),
        None => not_found("error: no such object\n"),
    }
}

fn live(server: &Arc<WebServer>, view: impl View + Send + 'static) -> Response {
    streamed(server, ViewFeed::new(server.board.clone(), view))
}

async fn events(State(server): Shared, uri: Uri, headers: HeaderMap) -> Response {
    let params = Params::of(&uri);
    let filter = params
        .only(&RowFilter::NAMES)
        .and_then(|()| RowFilter::of(&params));
    let filter = match filter {
        Ok(filter) => filter,
        Err(error) => return refused(&error),
    };
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    // Of another sort of id, nothing is known: that is a gap, too.
    let unknown = EventId {
        epoch: 0,
        number: 0,
    };
    let last = last.filter(|id| !id.is_empty());
    let last = last.map(|id| id.parse().unwrap_or(unknown));
    if !server.snapshot().link.is_read {
        return unread();
    }
    let feed = EventFeed::new(server.board.clone(), filter, last);
    streamed(&server, feed)
}

/// One open stream.
struct OpenStream(Arc<WebServer>);

impl OpenStream {
    /// `None` if there are too many.
    fn begin(server: &Arc<WebServer>) -> Option<OpenStream> {
        server.readers.fetch_add(1, Ordering::Relaxed);
        let reading = OpenStream(server.clone());
        (server.readers() <= MAX_READERS).then_some(reading)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

fn sent(frame: Frame) -> Event {
    let event = Event::default().event(frame.name).data(frame.data);
    match frame.id {
        Some(id) => event.id(id.to_string()),
        None => event,
    }
}

fn streamed(server: &Arc<WebServer>, feed: impl Feed) -> Response {
    let Some(reader) = OpenStream::begin(server) else {
        let words = format!("error: more than {MAX_READERS} streams are open\n");
        return text(StatusCode::SERVICE_UNAVAILABLE, words);
    };
    let frames = unfold((feed, reader), |(mut feed, reader)| async move {
        let frame = feed.next().await?;
        Some((Ok::<_, Infallible>(sent(frame)), (feed, reader)))
    });
    let alive = KeepAlive::new().interval(KEEP_ALIVE);
    Sse::new(frames).keep_alive(alive).into_response()
}

async fn script() -> Response {
    let content = (CONTENT_TYPE, "text/javascript; charset=utf-8");
    ([content], SCRIPT).into_response()
}

/// The records of `status -o json`.
async fn status(State(server): Shared, uri: Uri) -> Response {
    let params = Params::of(&uri);
    let known = [&RowFilter::NAMES[..], &["explain"]].concat();
    let asked = params.only(&known).and_then(|()| {
        let filter = RowFilter::of(&params)?;
        Ok((filter, params.has("explain")?))
    });
    let (filter, explains) = match asked {
        Ok(asked) => asked,
        Err(error) => return refused(&error),
    };
    let snapshot = server.snapshot();
    if !snapshot.link.is_read {
        return unread();
    }
    if let Some(absent) = filter.absent(&snapshot) {
        let words = format!(
            "error: \"{absent}\" not found among the followed objects\n\
             hint: name it when you start kubectl spy serve, or see /spy/v1/status\n"
        );
        return text(StatusCode::NOT_FOUND, words);
    }
    let mut body = String::new();
    for row in filter.rows(&snapshot) {
        body.push_str(&row.json(explains));
        body.push('\n');
    }
    records(body)
}

/// The records of `trace -o json`.
async fn trace(State(server): Shared, uri: Uri) -> Response {
    ask(&server, RecordVerb::Trace, &uri).await
}

/// The records of `changes -o json`.
async fn changes(State(server): Shared, uri: Uri) -> Response {
    ask(&server, RecordVerb::Changes, &uri).await
}

/// The records of `logs -o json`.
async fn logs(State(server): Shared, uri: Uri) -> Response {
    ask(&server, RecordVerb::Logs, &uri).await
}

async fn ask(server: &WebServer, verb: RecordVerb, uri: &Uri) -> Response {
    let (answer, answered) = oneshot::channel();
    let params = Params::of(uri);
    let question = Question {
        verb,
        params,
        answer,
    };
    if server.questions.try_send(question).is_err() {
        let words = "error: too many questions at a time\nhint: try again in a moment\n";
        return text(StatusCode::SERVICE_UNAVAILABLE, words.to_owned());
    }
    match answered.await {
        Ok(Ok(lines)) => records(lines),
        Ok(Err(QuestionError { code, words })) => text(code, words),
        Err(_) => text(
            StatusCode::SERVICE_UNAVAILABLE,
            "error: the server ends\n".to_owned(),
        ),
    }
}

async fn all_metrics(State(server): Shared) -> Response {
    let text = metrics(&server.board.borrow(), &server.counts());
    let content = (CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    ([content], text).into_response()
}

async fn ready(State(server): Shared) -> Response {
    if server.snapshot().link.is_read {
        return text(StatusCode::OK, "ok\n".to_owned());
    }
    let words = "not ready: the cluster is not read yet\n";
    text(StatusCode::SERVICE_UNAVAILABLE, words.to_owned())
}

fn html(view: &impl View, snapshot: &Snapshot) -> Response {
    match view.of(snapshot) {
        Some(shown) => {
            let content = (CONTENT_TYPE, "text/html; charset=utf-8");
            ([content], page(&shown, view, snapshot).into_string()).into_response()
        }
        None => not_found("error: no such object\n"),
    }
}

fn records(lines: String) -> Response {
    let content = (CONTENT_TYPE, "application/x-ndjson; charset=utf-8");
    ([content], lines).into_response()
}

fn text(code: StatusCode, words: String) -> Response {
    let content = (CONTENT_TYPE, "text/plain; charset=utf-8");
    (code, [content], words).into_response()
}

/// Nothing is known yet: an empty answer would look like an empty cluster.
fn unread() -> Response {
    let words = "error: the cluster is not read yet\nhint: wait until /readyz answers ok\n";
    text(StatusCode::SERVICE_UNAVAILABLE, words.to_owned())
}

fn refused(error: &ParamError) -> Response {
    text(StatusCode::BAD_REQUEST, format!("error: {error}\n"))
}

fn not_found(words: &str) -> Response {
    text(StatusCode::NOT_FOUND, words.to_owned())
}
