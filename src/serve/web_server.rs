//! `WebServer`: what all requests share: the board, the gate, the rights of readers, and the counts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use tokio::sync::{mpsc, oneshot, watch};

use super::api_path::ApiPath;
use super::board::Board;
use super::gate::{Denial, Gate};
use super::kube_api::{ApiSource, CLUSTERS, is_api_path, status_answer};
use super::metrics::{ServerCounts, SinkCounts};
use super::params::{CLUSTER, Params};
use super::places::{NoPlace, PlaceLimits, ReaderPlace, ReaderPlaces};
use super::reader::WebReader;
use super::rights::{ReadRight, ReaderRights, SourcePlace};
use super::rights_cache::{RightsCache, RightsError, RightsQuestion};
use super::snapshot::Snapshot;
use super::streams::{StreamPace, StreamSource};
use crate::object::well_known_type;

/// The most streams at a time.
const STREAMS: PlaceLimits = PlaceLimits {
    all: 1_000,
    of_one: 100,
};

/// The most questions at a time: those that are being answered, and those that wait for their turn.
const QUESTIONS: PlaceLimits = PlaceLimits { all: 20, of_one: 5 };

/// A question that needs more than the board: the verb reads the cluster for it.
#[derive(Debug)]
pub struct Question {
    /// The verb whose records answer it.
    pub verb: RecordVerb,
    /// The parameters, which have the names of the flags.
    pub params: Params,
    /// Who asks.
    pub reader: WebReader,
}

/// A question whose reader waits for the answer. It has a place until it is dropped.
#[derive(Debug)]
pub struct PendingQuestion {
    /// What is asked.
    pub question: Question,
    /// Takes the answer. It is closed when the reader has gone.
    pub answer: oneshot::Sender<Result<Answered, QuestionError>>,
    _place: ReaderPlace,
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The records, one on each line.
    pub records: String,
    /// The names of the clusters that could not be read, each with the reason in a line.
    pub absences: BTreeMap<Arc<str>, String>,
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

impl RecordVerb {
    /// The path whose questions it answers.
    pub fn endpoint(self) -> ApiPath {
        match self {
            RecordVerb::Trace => ApiPath::Trace,
            RecordVerb::Changes => ApiPath::Changes,
            RecordVerb::Logs => ApiPath::Logs,
        }
    }
}

/// Why a question has no answer.
#[derive(Clone, Debug)]
pub struct QuestionError {
    /// The code of the answer.
    pub code: StatusCode,
    /// The error in the words of the command line, with its hints.
    pub words: String,
    /// The records before the error, one on each line.
    pub records: String,
}

impl QuestionError {
    /// The answer with this body. It says when to ask again, if that may help.
    pub(super) fn answer(&self, body: impl IntoResponse) -> Response {
        let answer = (self.code, body).into_response();
        match self.code {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                NoPlace::later(answer)
            }
            _ => answer,
        }
    }
}

/// Returns what is waiting for each sink and what was sent to it, by its name.
pub type SinkCountsSource = Box<dyn Fn() -> BTreeMap<String, SinkCounts> + Send + Sync>;

/// The shared part of the server, as handlers take it.
pub(super) type Shared = State<Arc<WebServer>>;

/// Who sent a request, as handlers take it.
pub(super) type Asker = Extension<WebReader>;

/// What all requests share.
pub struct WebServer {
    pub(super) board: watch::Receiver<Board>,
    pub(super) gate: Gate,
    /// What readers may read; `None` if only the owner reads.
    rights: Option<Arc<RightsCache>>,
    /// The read API of Kubernetes; `None` without `--api=kubernetes`.
    pub(super) api: Option<Arc<dyn ApiSource>>,
    questions: mpsc::Sender<PendingQuestion>,
    question_places: Arc<ReaderPlaces>,
    sinks: SinkCountsSource,
    readers: Arc<ReaderPlaces>,
    denied: [AtomicU64; Denial::ALL.len()],
}

impl WebServer {
    /// Answers from this board. What needs more goes to `questions`.
    pub fn new(
        board: watch::Receiver<Board>,
        gate: Gate,
        questions: mpsc::Sender<PendingQuestion>,
    ) -> WebServer {
        WebServer {
            board,
            gate,
            rights: None,
            api: None,
            questions,
            question_places: ReaderPlaces::new(QUESTIONS),
            sinks: Box::new(BTreeMap::new),
            readers: ReaderPlaces::new(STREAMS),
            denied: Default::default(),
        }
    }

    /// The same server, which asks about the rights of its readers.
    #[must_use]
    pub fn asking(self, rights: Arc<RightsCache>) -> WebServer {
        WebServer {
            rights: Some(rights),
            ..self
        }
    }

    /// The same server, whose metrics include those of sinks.
    #[must_use]
    pub fn with_sinks(self, sinks: SinkCountsSource) -> WebServer {
        WebServer { sinks, ..self }
    }

    /// The same server, which also answers the read API of Kubernetes.
    #[must_use]
    pub fn serving(self, api: Arc<dyn ApiSource>) -> WebServer {
        WebServer {
            api: Some(api),
            ..self
        }
    }

    /// The answer to a question.
    pub(super) async fn answer(
        &self,
        verb: RecordVerb,
        params: Params,
        reader: WebReader,
    ) -> Result<Answered, QuestionError> {
        let snapshot = self.snapshot();
        let chosen = params.first(CLUSTER).map(str::to_owned);
        if let Some(name) = chosen
            .as_deref()
            .filter(|it| snapshot.cluster_named(it).is_none())
        {
            return Err(QuestionError {
                code: StatusCode::NOT_FOUND,
                words: snapshot.unknown_cluster(name),
                records: String::new(),
            });
        }
        let mut answered = self
            .answer_of_verb(Question {
                verb,
                params,
                reader,
            })
            .await?;
        if chosen.is_none() && snapshot.is_of_several() {
            for cluster in &self.snapshot().clusters {
                if let Some(reason) = cluster.reason() {
                    let known = answered.absences.entry(cluster.name.clone());
                    known.or_insert_with(|| reason.to_owned());
                }
            }
        }
        Ok(answered)
    }

    /// The same, once there is a place for the question.
    async fn answer_of_verb(&self, question: Question) -> Result<Answered, QuestionError> {
        let failed = |code: StatusCode, words: String| QuestionError {
            code,
            words,
            records: String::new(),
        };
        let place = self.question_places.take(question.reader.holder());
        let place = place.map_err(|no_place| {
            let words = no_place.error("questions", "try again in a moment");
            failed(no_place.code(), words)
        })?;
        let (answer, answered) = oneshot::channel();
        let pending = PendingQuestion {
            question,
            answer,
            _place: place,
        };
        let ends = || {
            let words = "error: the server ends\n".to_owned();
            failed(StatusCode::SERVICE_UNAVAILABLE, words)
        };
        let sent = self.questions.send(pending).await;
        sent.map_err(|_| ends())?;
        answered.await.map_err(|_| ends())?
    }

    /// What a reader may read now.
    pub(super) async fn rights(
        &self,
        question: RightsQuestion<'_>,
    ) -> Result<ReaderRights, RightsError> {
        match (&self.rights, question.reader) {
            (Some(cache), _) => cache.rights(question, &self.snapshot()).await,
            (None, WebReader::Owner) => Ok(ReaderRights::Everything),
            (None, WebReader::User(_)) => Err(RightsError::UnknownToken),
        }
    }

    /// What a reader sees now: of a namespace, or of everything.
    pub(super) async fn seen_by(
        &self,
        reader: &WebReader,
        namespace: Option<&str>,
    ) -> Result<Arc<Snapshot>, RightsError> {
        let question = RightsQuestion::of_request(reader, namespace);
        let rights = self.rights(question).await?;
        Ok(self.snapshot().for_reader(&rights))
    }

    /// Fails unless the API server knows the token of a reader.
    pub(super) async fn check(&self, reader: &WebReader) -> Result<(), RightsError> {
        let WebReader::User(token) = reader else {
            return Ok(());
        };
        match (&self.rights, well_known_type("", "Namespace")) {
            (Some(cache), Some(namespaces)) => {
                let known = ReadRight::List(SourcePlace {
                    resource: namespaces.resource.clone(),
                    namespace: None,
                });
                cache.check(token, &known).await
            }
            _ => Err(RightsError::UnknownToken),
        }
    }

    /// The answer to a request that is refused: a `Status` on the paths of the API server.
    pub(super) fn deny_at(&self, path: &str, denial: Denial) -> Response {
        let plain = self.deny(denial);
        let is_of_api = is_api_path(path) || path.starts_with(CLUSTERS);
        if self.api.is_none() || !is_of_api {
            return plain;
        }
        let (reason, message) = match denial {
            Denial::Method => (
                "MethodNotAllowed",
                "this server only reads: the server does not allow this method on the requested resource",
            ),
            Denial::Token => ("Unauthorized", "Unauthorized"),
            Denial::Host | Denial::Origin | Denial::Impersonation => (
                "Forbidden",
                denial.words().trim_start_matches("error: ").trim_end(),
            ),
        };
        let mut answer = status_answer(plain.status(), reason, message);
        let headers = plain.headers().iter();
        let kept = headers.filter(|(name, _)| **name != CONTENT_TYPE);
        for (name, value) in kept {
            answer.headers_mut().append(name.clone(), value.clone());
        }
        answer
    }

    /// The answer to a reader whose rights are not known.
    pub(super) fn unknown(&self, error: &RightsError) -> Response {
        self.unknown_at("", error)
    }

    /// The same for a path.
    pub(super) fn unknown_at(&self, path: &str, error: &RightsError) -> Response {
        match error {
            RightsError::UnknownToken => self.deny_at(path, Denial::Token),
            RightsError::Unavailable(error) => {
                let words = format!(
                    "{error}\nhint: the API server decides what you may read: try again in a moment\n"
                );
                NoPlace::later(text(StatusCode::SERVICE_UNAVAILABLE, words))
            }
        }
    }

    /// Where a new stream reads.
    pub(super) fn stream_source(&self) -> StreamSource {
        StreamSource {
            board: self.board.clone(),
            pace: StreamPace::among(self.readers.clone()),
        }
    }

    /// The number of open streams.
    pub fn readers(&self) -> usize {
        self.readers.taken()
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.board.borrow().snapshot.clone()
    }

    pub(super) fn counts(&self) -> ServerCounts {
        ServerCounts {
            readers: self.readers(),
            denied: self
                .denied
                .each_ref()
                .map(|count| count.load(Ordering::Relaxed)),
            sinks: (self.sinks)(),
        }
    }

    pub(super) fn deny(&self, denial: Denial) -> Response {
        let counts = Denial::ALL.iter().zip(&self.denied);
        for (_, count) in counts.filter(|(of, _)| **of == denial) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let mut response = text(denial.code(), self.gate.words(denial).to_owned());
        let values: &[&str] = match denial {
            Denial::Method => &["GET, HEAD"],
            Denial::Token => self.gate.challenges(),
            Denial::Host | Denial::Origin | Denial::Impersonation => &[],
        };
        let name = match denial {
            Denial::Method => ALLOW,
            Denial::Token | Denial::Host | Denial::Origin | Denial::Impersonation => {
                WWW_AUTHENTICATE
            }
        };
        for value in values {
            let value = HeaderValue::from_static(value);
            response.headers_mut().append(name.clone(), value);
        }
        response
    }
}

/// One open stream.
pub(super) struct OpenStream {
    pub(super) server: Arc<WebServer>,
    _place: ReaderPlace,
}

impl OpenStream {
    /// A stream of this reader. It fails if there are too many.
    pub(super) fn begin(
        server: &Arc<WebServer>,
        reader: &WebReader,
    ) -> Result<OpenStream, NoPlace> {
        let place = server.readers.take(reader.holder())?;
        Ok(OpenStream {
            server: server.clone(),
            _place: place,
        })
    }
}

/// An answer for people.
pub(super) fn text(code: StatusCode, words: String) -> Response {
    let content = (CONTENT_TYPE, "text/plain; charset=utf-8");
    (code, [content], words).into_response()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use http::header::RETRY_AFTER;

    use super::super::gate::AccessToken;
    use super::*;

    #[test]
    fn a_reader_whose_rights_are_not_known_yet_asks_again() {
        let board = Board::new(7, Snapshot::default());
        let address: SocketAddr = "127.0.0.1:1".parse().expect("an address");
        let gate = Gate::own(AccessToken::random().expect("random"), address, "http");
        let (questions, _waiting) = mpsc::channel(1);
        let server = WebServer::new(board.subscribe(), gate, questions);
        let unavailable = RightsError::Unavailable("error: it is down".to_owned());
        for (error, code, is_later) in [
            (unavailable, 503, true),
            (RightsError::UnknownToken, 401, false),
        ] {
            let answer = server.unknown(&error);
            assert_eq!(answer.status(), code);
            assert_eq!(answer.headers().contains_key(RETRY_AFTER), is_later);
        }
    }
}
