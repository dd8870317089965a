//! `Sink`: a receiver of changes of state, and the requests to it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jiff::Timestamp;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::timeout;

use super::attempt::Attempt;
use super::message::{SigningKey, body};
use super::template::TextTemplate;
use super::transition::{Delivery, TransitionFilter};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the head of an answer may take, unless the sink has a limit of its own.
const ANSWER: Duration = Duration::from_secs(30);

/// A receiver of changes of state.
#[derive(Clone, Debug)]
pub struct Sink {
    /// Its name.
    pub name: String,
    /// Which changes it gets.
    pub when: TransitionFilter,
    /// How they are sent.
    pub webhook: Webhook,
}

/// The way to a receiver.
#[derive(Clone)]
pub struct Webhook {
    address: Uri,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    /// How long the head of an answer may take.
    limit: Duration,
    /// Signs each message; `None` without a signature.
    key: Option<SigningKey>,
    /// Makes texts of messages; `None` for records.
    text: Option<TextTemplate>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The path of an address is often a credential.
        f.write_str("Webhook")
    }
}

/// Why there is no way to a receiver.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The text is no address of a server.
    #[error("not an address: expected https://HOST/PATH")]
    Address,
    /// The file has no certificate.
    #[error("no certificate in PEM form")]
    Authority,
    /// The system's certificates cannot be used.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
}

impl Webhook {
    /// The way to this address. `authority` has the certificates to trust, in PEM form; those of the system without it.
    pub fn new(address: &str, authority: Option<&[u8]>) -> Result<Webhook, WebhookError> {
        let address: Uri = address.trim().parse().map_err(|_| WebhookError::Address)?;
        let is_known = matches!(address.scheme_str(), Some("https" | "http"));
        let login = address.authority().map(|it| it.as_str().contains('@'));
        if !is_known || login != Some(false) {
            return Err(WebhookError::Address);
        }
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_connect_timeout(Some(CONNECT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(client_tls(authority)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        Ok(Webhook {
            address,
            client: Client::builder(TokioExecutor::new()).build(connector),
            limit: ANSWER,
            key: None,
            text: None,
        })
    }

    /// The same way, with this limit of an answer.
    #[must_use]
    pub fn with_limit(self, limit: Option<Duration>) -> Webhook {
        Webhook {
            limit: limit.unwrap_or(ANSWER),
            ..self
        }
    }

    /// The same way, with signed messages.
    #[must_use]
    pub fn signing_with(self, key: Option<SigningKey>) -> Webhook {
        Webhook { key, ..self }
    }

    /// The same way, with texts in place of records.
    #[must_use]
    pub fn with_text(self, text: Option<TextTemplate>) -> Webhook {
        Webhook { text, ..self }
    }

    /// Sends a message once. The head of the answer decides; its body is not read.
    pub(super) async fn send(&self, delivery: &Delivery, now: Timestamp) -> Attempt {
        let failed = |cause: String| Attempt::Failed { cause, after: None };
        let request = match self.request(delivery, now) {
            Ok(request) => request,
            Err(error) => return failed(error.to_string()),
        };
        match timeout(self.limit, self.client.request(request)).await {
            Ok(Ok(answer)) => Attempt::of(answer.status(), answer.headers()),
            Ok(Err(error)) => failed(innermost(&error)),
            Err(_) => failed(format!("no answer for {} s", self.limit.as_secs_f64())),
        }
    }

    fn request(&self, delivery: &Delivery, now: Timestamp) -> http::Result<Request<Full<Bytes>>> {
        let body = body(delivery, self.text.as_ref());
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(self.address.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(
                USER_AGENT,
                concat!("kubectl-spy/", env!("CARGO_PKG_VERSION")),
            )
            .header("webhook-id", &delivery.id)
            .header("webhook-timestamp", now.as_second());
        if let Some(key) = &self.key {
            request = request.header("webhook-signature", key.sign(&delivery.id, now, &body));
        }
        request.body(Full::new(Bytes::from(body)))
    }
}

/// The last of the errors that led to one. It has no address in it.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// The settings of TLS for a client. `authority` has the certificates to trust, in PEM form; those of the system without it.
pub fn client_tls(authority: Option<&[u8]>) -> Result<ClientConfig, WebhookError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let Some(authority) = authority else {
        return Ok(config.with_platform_verifier()?.with_no_client_auth());
    };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_slice_iter(authority);
    let certificates: Vec<_> = certificates
        .collect::<Result<_, _>>()
        .map_err(|_| WebhookError::Authority)?;
    let (added, _) = roots.add_parsable_certificates(certificates);
    match added {
        0 => Err(WebhookError::Authority),
        _ => Ok(config.with_root_certificates(roots).with_no_client_auth()),
    }
}
