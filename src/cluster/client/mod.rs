//! The client: sends GET requests to one cluster, over as few connections as possible.

mod answer;
mod first_request;
mod plugin;
mod request;
mod request_error;
mod request_log;
mod resting_stream;
mod stack;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, DATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use super::kubeconfig::{ClusterConfig, ConfigError, bearer};
use request_log::{LogPrinter, SentRequest};
use stack::{ConnectionSlot, ConnectionTuning, Connections, Stack};

pub(crate) use answer::ResponseBody;
pub(crate) use request::{ApiRequest, platform};
pub use request_error::RequestError;
pub(crate) use request_log::{LogDetail, RequestLog};

/// The limits of times and sizes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time from sending a request to the headers of its response, including the connection and the TLS
    /// handshake.
    pub headers: Duration,
    /// The time between two pieces of a finite body.
    pub quiet: Duration,
    /// The time for the whole of a finite body.
    pub whole: Duration,
    /// The bytes of a finite body.
    pub bytes: usize,
}

impl Default for Limits {
    /// 30 s of silence, five minutes in total, 512 MiB. A page of 500 objects has about 3 MiB, and etcd stores no
    /// object above 1.5 MiB.
    fn default() -> Limits {
        Limits {
            headers: Duration::from_secs(30),
            quiet: Duration::from_secs(30),
            whole: Duration::from_secs(300),
            bytes: 512 << 20,
        }
    }
}

/// A client of one cluster. Its clones share the connections. It sends only GET requests.
#[derive(Clone)]
pub struct Client {
    shared: Arc<ClientShared>,
    /// The credentials of its requests, beside those of the connection.
    authorization: Option<HeaderValue>,
}

struct ClientShared {
    config: ClusterConfig,
    limits: Limits,
    current: RwLock<Arc<Login>>,
    /// Held while credentials are renewed, so that one task does it for all.
    renewing: Mutex<()>,
    skew: Skew,
    log: OnceLock<RequestLog>,
    /// Prints messages for people.
    messages: OnceLock<LogPrinter>,
    /// The end of the last wait that was reported.
    reported_wait: std::sync::Mutex<Option<Instant>>,
}

/// The connections that use one set of credentials.
struct Login {
    connections: Connections,
    /// The connections of logs. An unread log must not disturb a watch.
    log_connections: Connections,
    host: String,
    /// Whether the server has ever accepted these credentials.
    proven: AtomicBool,
    /// Whether these credentials replaced refused ones.
    renewed: bool,
}

impl Client {
    /// Creates the client. This runs the credential plugin, if there is one. The first request opens the first
    /// connection.
    pub async fn new(config: ClusterConfig) -> Result<Client, ConfigError> {
        Client::with_limits(config, Limits::default()).await
    }

    /// Creates a client with other limits. `--request-timeout` reduces them further, but never cuts a running
    /// watch.
    pub async fn with_limits(config: ClusterConfig, limits: Limits) -> Result<Client, ConfigError> {
        let limits = match config.request_timeout {
            None => limits,
            Some(limit) => Limits {
                headers: limit,
                whole: limit,
                ..limits
            },
        };
        let login = Login::new(config.clone(), false).await?;
        Ok(Client {
            shared: Arc::new(ClientShared {
                config,
                limits,
                current: RwLock::new(Arc::new(login)),
                renewing: Mutex::default(),
                skew: Skew::unknown(),
                log: OnceLock::new(),
                messages: OnceLock::new(),
                reported_wait: std::sync::Mutex::default(),
            }),
            authorization: None,
        })
    }

    /// A client of the same cluster without credentials, for the requests of others ([`Client::with_token`]).
    pub(crate) async fn without_login(&self) -> Result<Client, ConfigError> {
        let config = self.shared.config.without_login();
        Client::with_limits(config, self.shared.limits).await
    }

    /// A client whose requests have the token of another user. It shares the connections, which must have no credentials of
    /// their own: [`Client::without_login`].
    pub(crate) fn with_token(&self, token: &str) -> Result<Client, ConfigError> {
        let (_, value) = bearer(token, "the token of a reader".to_owned())?;
        Ok(Client {
            shared: self.shared.clone(),
            authorization: Some(value),
        })
    }

    /// The configuration of the cluster.
    pub fn config(&self) -> &ClusterConfig {
        &self.shared.config
    }

    /// From now on, compares the server's clock with this one.
    pub(crate) fn compare_clocks(&self, clock: Clock) {
        // The first clock stays: it is the program's.
        let _is_first = self.shared.skew.clock.set(clock);
    }

    /// From now on, logs requests. A client has one log; a second one has no effect.
    pub(crate) fn log_requests(&self, log: RequestLog) {
        let _first_stays = self.shared.log.set(log);
    }

    /// From now on, prints messages, such as one about a long wait.
    pub(crate) fn print_messages(&self, print: LogPrinter) {
        let _first_stays = self.shared.messages.set(print);
    }

    /// Whether credentials are being renewed. A plugin may ask the user a question meanwhile.
    pub(crate) fn is_renewing(&self) -> bool {
        self.shared.renewing.try_lock().is_err()
    }

    /// How far the server's clock is ahead of ours; negative if it is behind, and zero if they agree or if it is
    /// unknown.
    pub(crate) fn skew(&self) -> SignedDuration {
        self.shared.skew.ahead()
    }

    /// Sends a request and reads the whole response.
    pub(crate) async fn get(&self, request: &ApiRequest) -> Result<Bytes, RequestError> {
        self.open(request).await?.whole(&self.shared.limits).await
    }

    /// Sends a request and returns the body of a successful response. Refused credentials are renewed once.
    pub(crate) async fn open(&self, request: &ApiRequest) -> Result<ResponseBody, RequestError> {
        self.open_as(Traffic::Objects, request).await
    }

    /// Like [`Client::open`], for a log. The headers of one that is followed may take for ever: a node sends them with the
    /// first line.
    pub(crate) async fn open_log(
        &self,
        request: &ApiRequest,
        is_followed: bool,
    ) -> Result<ResponseBody, RequestError> {
        let traffic = if is_followed {
            Traffic::FollowedLog
        } else {
            Traffic::Log
        };
        self.open_as(traffic, request).await
    }

    /// Sends a request and returns the answer as it comes, also a refusal, for somebody else who has asked. As in
    /// [`Client::open_log`], a log that is followed has no time limit.
    pub(crate) async fn pass(
        &self,
        request: &ApiRequest,
        follows_log: bool,
    ) -> Result<RawAnswer, RequestError> {
        let login = self.shared.login();
        let sending = Sending {
            traffic: if follows_log {
                Traffic::FollowedLog
            } else {
                Traffic::Objects
            },
            authorization: self.authorization.as_ref(),
        };
        self.shared.exchange(&login, sending, request).await
    }

    /// How long a finite answer may stay silent.
    pub(crate) fn longest_silence(&self) -> Duration {
        self.shared.limits.quiet
    }

    async fn open_as(
        &self,
        traffic: Traffic,
        request: &ApiRequest,
    ) -> Result<ResponseBody, RequestError> {
        let login = self.shared.login();
        let sending = Sending {
            traffic,
            authorization: self.authorization.as_ref(),
        };
        let first = match self.shared.send(&login, sending, request).await {
            // The connection ended during the request, as all do when a server shuts down. A GET is safe to
            // repeat at once.
            Err(RequestError::Cut(_)) => self.shared.send(&login, sending, request).await,
            other => other,
        };
        match first {
            Err(refused) if refused.is_unauthorized() => match self.shared.renew(&login).await? {
                Some(login) => self.shared.send(&login, sending, request).await,
                None => Err(refused),
            },
            other => other,
        }
    }

    /// Like [`Client::get`], for a request that nothing else repeats. It waits as long as the server asks, but no longer than
    /// the limit of a whole answer in total.
    pub(crate) async fn get_patiently(&self, request: &ApiRequest) -> Result<Bytes, RequestError> {
        let end = Instant::now() + self.shared.limits.whole;
        let mut retries = 0;
        loop {
            let error = match self.get(request).await {
                Err(error) => error,
                answer => return answer,
            };
            let wait = error.wait_before_retry(retries);
            let Some(wait) = wait.filter(|wait| Instant::now() + *wait < end) else {
                return Err(error);
            };
            self.report(&error);
            sleep(wait).await;
            retries += 1;
        }
    }

    /// Reports a long wait that the server asks for, once for all requests that wait at the same time.
    pub(crate) fn report(&self, error: &RequestError) {
        let wait = error.wait_before_retry(0).filter(|wait| *wait >= REPORTED);
        let Some(wait) = wait else { return };
        let now = Instant::now();
        let mut reported = self.shared.reported_wait();
        let is_known = reported.is_some_and(|until| until >= now);
        *reported = Some(now + wait);
        if let Some(print) = self.shared.messages.get().filter(|_| !is_known) {
            let seconds = wait.as_secs();
            print(vec![format!(
                "! waiting for {seconds}s, as the server asks: {error}"
            )]);
        }
    }
}

/// What a request reads. It decides about its connection and its time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traffic {
    Objects,
    Log,
    FollowedLog,
}

/// An answer as the server has sent it.
pub(crate) struct RawAnswer {
    /// Its code and headers.
    pub(crate) head: http::response::Parts,
    /// Its body.
    pub(crate) body: ResponseBody,
}

/// How a request is sent.
#[derive(Clone, Copy)]
struct Sending<'a> {
    traffic: Traffic,
    /// Credentials beside those of the connection.
    authorization: Option<&'a HeaderValue>,
}

/// Leaves out the credentials.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("config", &self.shared.config)
            .finish_non_exhaustive()
    }
}

impl RequestError {
    fn is_unauthorized(&self) -> bool {
        matches!(self, RequestError::Api { error, .. } if error.status.code == 401)
    }

    /// How long to wait before the request is sent again after this many retries; `None` if that does not help.
    fn wait_before_retry(&self, retries: u32) -> Option<Duration> {
        let RequestError::Api { error, after } = self else {
            return None;
        };
        match (error.status.code, after) {
            (429 | 500.., Some(after)) if retries < MAX_RETRIES => Some(*after.min(&LONGEST_ASKED)),
            (429 | 502..=504, None) => UNASKED.get(usize::try_from(retries).ok()?).copied(),
            _ => None,
        }
    }
}

impl ClientShared {
    fn reported_wait(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        let reported = self.reported_wait.lock();
        reported.unwrap_or_else(PoisonError::into_inner)
    }

    fn login(&self) -> Arc<Login> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    async fn send(
        &self,
        login: &Login,
        sending: Sending<'_>,
        request: &ApiRequest,
    ) -> Result<ResponseBody, RequestError> {
        let RawAnswer { head, body } = self.exchange(login, sending, request).await?;
        if head.status.is_success() {
            Ok(body)
        } else {
            Err(answer::refusal(request, &head, body, &self.limits).await)
        }
    }

    /// Sends a request and returns the answer, whatever its code is.
    async fn exchange(
        &self,
        login: &Login,
        Sending {
            traffic,
            authorization,
        }: Sending<'_>,
        request: &ApiRequest,
    ) -> Result<RawAnswer, RequestError> {
        let mut sent = request.to_http()?;
        let slot = login.slot(traffic);
        let logged = self.log.get().map(|log| {
            let uri = format!("{}{}", self.config.url(), sent.uri());
            let headers = sent.headers().clone();
            (log, SentRequest { uri, headers }, Instant::now())
        });
        if let Some(value) = authorization {
            sent.headers_mut().insert(AUTHORIZATION, value.clone());
        }
        let sending = slot.client.send(sent);
        let response = match traffic {
            Traffic::Objects | Traffic::Log => timeout(self.limits.headers, sending)
                .await
                .map_err(|_| RequestError::Timeout(self.limits.headers)),
            Traffic::FollowedLog => Ok(sending.await),
        };
        let response = response
            .and_then(|sent| sent.map_err(|error| request_error::send_error(&error, &login.host)));
        let answered = response.map(http::Response::into_parts);
        if let Some((log, sent, begun)) = logged {
            log.note(
                &sent,
                answered.as_ref().map(|(head, _)| head),
                begun.elapsed(),
            );
        }
        let (head, body) = answered?;
        self.skew.note(&head.headers);
        let body = ResponseBody {
            body,
            has_content: head.status != StatusCode::NO_CONTENT,
            _slot: slot,
        };
        let accepted = head.status != StatusCode::UNAUTHORIZED;
        login.proven.fetch_or(accepted, Ordering::Relaxed);
        Ok(RawAnswer { head, body })
    }

    /// Reads files and runs plugins again after the server refused `refused`. `None` if that cannot help: nothing
    /// can be read again, or the server refused the last renewal from the start.
    async fn renew(&self, refused: &Arc<Login>) -> Result<Option<Arc<Login>>, RequestError> {
        let _one_for_all = self.renewing.lock().await;
        let current = self.login();
        if !Arc::ptr_eq(&current, refused) {
            return Ok(Some(current));
        }
        if refused.renewed && !refused.proven.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let Some(config) = self.config.reload() else {
            return Ok(None);
        };
        let login = Arc::new(Login::new(config?, true).await?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = login.clone();
        Ok(Some(login))
    }
}

impl Login {
    async fn new(config: ClusterConfig, renewed: bool) -> Result<Login, ConfigError> {
        let stack = if config.runs_plugin() {
            // A plugin may take long, and may ask the user a question.
            let config = config.clone();
            tokio::task::spawn_blocking(move || Stack::new(&config))
                .await
                .map_err(|error| ConfigError::Credential(error.to_string()))??
        } else {
            Stack::new(&config)?
        };
        let stack = Arc::new(stack);
        Ok(Login {
            connections: Connections::new(&stack, ConnectionTuning::OBJECTS)?,
            log_connections: Connections::new(&stack, ConnectionTuning::LOGS)?,
            host: config.server(),
            proven: AtomicBool::new(false),
            renewed,
        })
    }

    fn slot(&self, traffic: Traffic) -> ConnectionSlot {
        match traffic {
            Traffic::Objects => self.connections.slot(),
            Traffic::Log | Traffic::FollowedLog => self.log_connections.slot(),
        }
    }
}

/// How often a request is sent again, as in client-go.
const MAX_RETRIES: u32 = 10;
/// The longest wait that a `Retry-After` can cause.
const LONGEST_ASKED: Duration = Duration::from_secs(60);
/// The waits for a server that cannot handle a request now, and does not say when it can.
const UNASKED: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(1)];
/// A shorter wait is not reported.
const REPORTED: Duration = Duration::from_secs(3);

/// Gives the time of this machine, or the one to show. Waits use tokio's clock.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Clocks that differ by less agree, because a `Date` has whole seconds and a response takes time.
const AGREED: SignedDuration = SignedDuration::from_secs(5);

/// The known difference of the clocks.
struct Skew {
    clock: OnceLock<Clock>,
    /// The least number of milliseconds by which the server's clock is ahead. A response arrives after its
    /// `Date`, which also lacks the fraction of a second. So the largest difference is the most precise.
    ahead: AtomicI64,
}

impl Skew {
    fn unknown() -> Skew {
        Skew {
            clock: OnceLock::new(),
            ahead: AtomicI64::new(i64::MIN),
        }
    }

    /// Takes the `Date` of a response that has just arrived.
    fn note(&self, headers: &HeaderMap) {
        let Some(clock) = self.clock.get() else {
            return;
        };
        if let Some(date) = date(headers) {
            let ahead = date.as_millisecond() - clock().as_millisecond();
            self.ahead.fetch_max(ahead, Ordering::Relaxed);
        }
    }

    /// How far the server's clock is ahead; negative if it is behind, and zero if both agree or if it is unknown.
    fn ahead(&self) -> SignedDuration {
        match self.ahead.load(Ordering::Relaxed) {
            i64::MIN => SignedDuration::ZERO,
            ahead => Some(SignedDuration::from_millis(ahead))
                .filter(|ahead| ahead.abs() >= AGREED)
                .unwrap_or_default(),
        }
    }
}

fn date(headers: &HeaderMap) -> Option<Timestamp> {
    let text = headers.get(DATE)?.to_str().ok()?;
    DateTimeParser::new().parse_timestamp(text).ok()
}
