//! The client: GET requests to one cluster, over as few connections as they fit on.

mod answer;
mod connections;
mod plugin;
mod request;
mod request_error;
mod skew;
mod stack;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use jiff::SignedDuration;
use tokio::sync::Mutex;
use tokio::time::timeout;

pub(crate) use answer::{Answer, api_error};
pub(crate) use request::ApiRequest;
pub use request_error::RequestError;

use super::kubeconfig::{ClusterConfig, ConfigError};
use connections::Connections;
pub(crate) use skew::Clock;
use skew::Skew;
use stack::Stack;

/// How long things may take and how large they may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From sending a request to the headers of its answer: connection and TLS handshake included.
    pub headers: Duration,
    /// Between two pieces of a body that has an end.
    pub quiet: Duration,
    /// For the whole of a body that has an end.
    pub whole: Duration,
    /// The length of a body that has an end.
    pub bytes: usize,
}

impl Default for Limits {
    /// 30 s of silence, five minutes in all, 512 MiB: a page of 500 objects is about 3 MiB, and the
    /// store holds none above 1.5 MiB.
    fn default() -> Limits {
        Limits {
            headers: Duration::from_secs(30),
            quiet: Duration::from_secs(30),
            whole: Duration::from_secs(300),
            bytes: 512 << 20,
        }
    }
}

/// A connection to one cluster. Clones share it. It can do nothing but GET.
#[derive(Clone)]
pub struct Client {
    shared: Arc<ClientShared>,
}

struct ClientShared {
    config: ClusterConfig,
    limits: Limits,
    current: RwLock<Arc<Login>>,
    /// Held while credentials are renewed, so that one does it for all.
    renewing: Mutex<()>,
    skew: Skew,
}

/// Connections under one set of credentials.
struct Login {
    connections: Connections,
    host: String,
    /// Whether these credentials have ever been taken.
    proven: AtomicBool,
    /// Whether they were made because others were refused.
    renewed: bool,
}

impl Client {
    /// Makes the client. Runs the credential plugin, if there is one; the first connection is made
    /// by the first request.
    pub async fn new(config: ClusterConfig) -> Result<Client, ConfigError> {
        Client::with_limits(config, Limits::default()).await
    }

    /// Makes a client with limits of its own. `--request-timeout` narrows them further; it never
    /// cuts a watch that runs.
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
            }),
        })
    }

    /// Which cluster this is.
    pub fn config(&self) -> &ClusterConfig {
        &self.shared.config
    }

    /// Compares the server's clock with this one from now on.
    pub(crate) fn compare_clocks(&self, clock: Clock) {
        self.shared.skew.compare(clock);
    }

    /// How far the server's clock is ahead of the one it is compared with; negative if it is behind, zero if both
    /// agree or nothing tells.
    pub(crate) fn skew(&self) -> SignedDuration {
        self.shared.skew.ahead()
    }

    /// Asks and reads the whole answer.
    pub(crate) async fn get(&self, ask: &ApiRequest) -> Result<Bytes, RequestError> {
        self.open(ask).await?.whole(&self.shared.limits).await
    }

    /// Asks and hands over the body once the server has said yes. Refused credentials are renewed
    /// once.
    pub(crate) async fn open(&self, ask: &ApiRequest) -> Result<Answer, RequestError> {
        let login = self.shared.login();
        let first = match self.shared.send(&login, ask).await {
            // The connection ended under the request: a server that shuts down says so to all. What
            // only reads may be asked again at once.
            Err(RequestError::Cut(_)) => self.shared.send(&login, ask).await,
            other => other,
        };
        match first {
            Err(refused) if refused.is_unauthorized() => match self.shared.renew(&login).await? {
                Some(login) => self.shared.send(&login, ask).await,
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
    fn login(&self) -> Arc<Login> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    async fn send(&self, login: &Login, ask: &ApiRequest) -> Result<Answer, RequestError> {
        let request = ask.request()?;
        let slot = login.connections.slot();
        let response = timeout(self.limits.headers, slot.client.send(request))
            .await
            .map_err(|_| RequestError::Timeout(self.limits.headers))?
            .map_err(|error| request_error::send_error(&error, &login.host))?;
        let (head, body) = response.into_parts();
        self.skew.note(&head.headers);
        let answer = Answer { body, _slot: slot };
        let accepted = head.status != StatusCode::UNAUTHORIZED;
        login.proven.fetch_or(accepted, Ordering::Relaxed);
        if head.status.is_success() {
            Ok(answer)
        } else {
            Err(answer::refusal(ask, &head, answer, &self.limits).await)
        }
    }

    /// Reads files and runs plugins again after `refused` was. `None` if that is of no use: nothing
    /// can be read again, or what was read last was refused from the start.
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
        let kube = config.config().clone();
        let stack = if kube.auth_info.exec.is_some() || kube.auth_info.auth_provider.is_some() {
            // A plugin takes its time, and may ask the user something.
            tokio::task::spawn_blocking(move || Stack::new(kube))
                .await
                .map_err(|error| ConfigError::Credential(error.to_string()))??
        } else {
            Stack::new(kube)?
        };
        Ok(Login {
            connections: Connections::new(stack),
            host: config.server(),
            proven: AtomicBool::new(false),
            renewed,
        })
    }
}
