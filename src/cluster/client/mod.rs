//! The client: sends GET requests to one cluster, over as few connections as possible.

mod answer;
mod connections;
mod patience;
mod plugin;
mod request;
mod request_error;
mod request_log;
mod skew;
mod stack;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;
mod trusted_server;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use jiff::SignedDuration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

pub(crate) use answer::Answer;
pub(crate) use request::{ApiRequest, platform};
pub use request_error::RequestError;
pub(crate) use request_log::{LogDetail, RequestLog};

use super::kubeconfig::{ClusterConfig, ConfigError};
use connections::Connections;
use request_log::{LogPrinter, SentRequest};
pub(crate) use skew::Clock;
use skew::Skew;
use stack::Stack;

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
        let limits = match config.request_timeout() {
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
        })
    }

    /// The configuration of the cluster.
    pub fn config(&self) -> &ClusterConfig {
        &self.shared.config
    }

    /// From now on, compares the server's clock with this one.
    pub(crate) fn compare_clocks(&self, clock: Clock) {
        self.shared.skew.compare(clock);
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
    pub(crate) async fn open(&self, request: &ApiRequest) -> Result<Answer, RequestError> {
        let login = self.shared.login();
        let first = match self.shared.send(&login, request).await {
            // The connection ended during the request, as all do when a server shuts down. A GET is safe to
            // repeat at once.
            Err(RequestError::Cut(_)) => self.shared.send(&login, request).await,
            other => other,
        };
        match first {
            Err(refused) if refused.is_unauthorized() => match self.shared.renew(&login).await? {
                Some(login) => self.shared.send(&login, request).await,
                None => Err(refused),
            },
            other => other,
        }
    }
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

    async fn send(&self, login: &Login, request: &ApiRequest) -> Result<Answer, RequestError> {
        let sent = request.to_http()?;
        let slot = login.connections.slot();
        let logged = self.log.get().map(|log| {
            let uri = format!("{}{}", self.config.url(), sent.uri());
            let headers = sent.headers().clone();
            (log, SentRequest { uri, headers }, Instant::now())
        });
        let response = timeout(self.limits.headers, slot.client.send(sent))
            .await
            .map_err(|_| RequestError::Timeout(self.limits.headers))
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
        let answer = Answer { body, _slot: slot };
        let accepted = head.status != StatusCode::UNAUTHORIZED;
        login.proven.fetch_or(accepted, Ordering::Relaxed);
        if head.status.is_success() {
            Ok(answer)
        } else {
            Err(answer::refusal(request, &head, answer, &self.limits).await)
        }
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
        let login = &config.config().auth_info;
        let stack = if login.exec.is_some() || login.auth_provider.is_some() {
            // A plugin may take long, and may ask the user a question.
            let config = config.clone();
            tokio::task::spawn_blocking(move || Stack::new(&config))
                .await
                .map_err(|error| ConfigError::Credential(error.to_string()))??
        } else {
            Stack::new(&config)?
        };
        Ok(Login {
            connections: Connections::new(stack),
            host: config.server(),
            proven: AtomicBool::new(false),
            renewed,
        })
    }
}
