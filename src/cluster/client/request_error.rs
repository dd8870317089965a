//! Why a request got no answer, in the words kubectl has for it.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::client::legacy::Error as HyperError;
use kube::client::AuthError;

use crate::cluster::error::ApiError;
use crate::cluster::kubeconfig::{ConfigError, os_words};
use crate::cluster::request_path::InvalidPart;
use crate::object::json_fault;

/// What became of a request that did not succeed. Its `Display` is a whole line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The server answered with an error.
    #[error("{error}")]
    Api {
        /// The answer.
        error: ApiError,
        /// What `Retry-After` said.
        after: Option<Duration>,
    },
    /// No connection: refused, unreachable, no such host.
    #[error("{0}")]
    Connect(Arc<str>),
    /// The TLS handshake failed.
    #[error("{0}")]
    Tls(Arc<str>),
    /// The connection broke after it had been made.
    #[error("connection lost: {0}")]
    Cut(Arc<str>),
    /// No answer, or not all of it, in this time.
    #[error("Unable to connect to the server: no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// An answer that is not what the API promises.
    #[error("{0}")]
    Decode(Arc<str>),
    /// A request that cannot be made: a name is no segment of a path, or it is too long.
    #[error("{0}")]
    Impossible(Arc<str>),
    /// No credentials: a plugin failed, a token file is gone.
    #[error("{0}")]
    Credential(Arc<str>),
}

impl From<InvalidPart> for RequestError {
    fn from(error: InvalidPart) -> RequestError {
        RequestError::Impossible(format!("error: {error}").into())
    }
}

impl From<ConfigError> for RequestError {
    fn from(error: ConfigError) -> RequestError {
        RequestError::Credential(error.to_string().into())
    }
}

/// Words an error of the parts that are made before any request.
pub(super) fn setup_error(error: &kube::Error) -> ConfigError {
    match error {
        kube::Error::Auth(error) => ConfigError::Credential(credential_words(error)),
        other => ConfigError::invalid(format!("TLS settings of the kubeconfig: {other}")),
    }
}

/// Words an error of sending a request to `host`.
pub(super) fn send_error(error: &kube::Error, host: &str) -> RequestError {
    let parts: Vec<&(dyn Error + 'static)> = causes(error).collect();
    if let Some(auth) = parts
        .iter()
        .find_map(|part| part.downcast_ref::<AuthError>())
    {
        let words = ConfigError::Credential(credential_words(auth)).to_string();
        return RequestError::Credential(words.into());
    }
    let connecting = parts
        .iter()
        .filter_map(|part| part.downcast_ref::<HyperError>())
        .any(HyperError::is_connect);
    if connecting {
        connect_error(&parts, host)
    } else {
        RequestError::Cut(last_words(&parts).into())
    }
}

/// Words an error of reading a body.
pub(super) fn body_error(error: &(dyn Error + 'static)) -> RequestError {
    let parts: Vec<&(dyn Error + 'static)> = causes(error).collect();
    RequestError::Cut(last_words(&parts).into())
}

fn connect_error(parts: &[&(dyn Error + 'static)], host: &str) -> RequestError {
    let unable = |detail: &str| format!("Unable to connect to the server: {detail}").into();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if parts.iter().any(|part| part.to_string() == "dns error") {
        return RequestError::Connect(unable(&format!("dial tcp: lookup {name}: no such host")));
    }
    // hyper-rustls wraps every IO error in one of kind `Other`.
    let error = parts
        .iter()
        .filter_map(|part| part.downcast_ref::<io::Error>())
        .find(|error| error.kind() != io::ErrorKind::Other);
    let Some(error) = error else {
        return RequestError::Connect(unable(&last_words(parts)));
    };
    let dial = |words: &str| RequestError::Connect(unable(&format!("dial tcp {host}: {words}")));
    match error.kind() {
        io::ErrorKind::ConnectionRefused => RequestError::Connect(
            format!(
                "The connection to the server {host} was refused - did you specify the right host or port?"
            )
            .into(),
        ),
        io::ErrorKind::TimedOut => dial("i/o timeout"),
        io::ErrorKind::UnexpectedEof => RequestError::Connect(unable("EOF")),
        io::ErrorKind::HostUnreachable => dial("connect: no route to host"),
        io::ErrorKind::InvalidData => RequestError::Tls(unable(&tls_words(&error.to_string(), name))),
        _ => dial(&os_words(error)),
    }
}

/// rustls's words in Go's, for what people meet and search for.
fn tls_words(text: &str, host: &str) -> String {
    let x509 = |detail: &str| format!("tls: failed to verify certificate: x509: {detail}");
    if text.contains("InvalidContentType") {
        "http: server gave HTTP response to HTTPS client".to_owned()
    } else if text.contains("UnknownIssuer") {
        x509("certificate signed by unknown authority")
    } else if text.contains("not valid for name") || text.contains("NotValidForName") {
        // The name that was looked for: that of `--tls-server-name`, if there is one.
        let name = text.split('"').nth(1).unwrap_or(host);
        x509(&format!("certificate is not valid for {name}"))
    } else if text.contains("xpired")
        || text.contains("NotValidYet")
        || text.contains("not valid yet")
    {
        x509("certificate has expired or is not yet valid")
    } else {
        format!("tls: {text}")
    }
}

/// Words an error of a login at an OIDC provider, of whose answer nothing is shown: it may be a token.
fn credential_words(error: &AuthError) -> String {
    let parsed = causes(error).find_map(|part| part.downcast_ref::<serde_json::Error>());
    match parsed {
        Some(parsed) => format!(
            "auth-provider oidc: what it answered is {}",
            json_fault(parsed)
        ),
        None => format!("auth-provider oidc: {error}"),
    }
}

/// An error and what caused it, the content of wrapped IO errors included.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        // `source` of an IO error passes over the error it wraps.
        Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    }
}

fn last_words(parts: &[&(dyn Error + 'static)]) -> String {
    let io = parts
        .iter()
        .find_map(|part| part.downcast_ref::<io::Error>());
    if io.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof) {
        return "unexpected EOF".to_owned();
    }
    match parts.last() {
        // HTTP/2's GOAWAY without an error code.
        Some(last) if last.to_string().contains("not a result of an error") => {
            "the server closed the connection".to_owned()
        }
        // rustls's, which links to its manual: the server is gone without a farewell. Inside HTTP/2's
        // error there is no IO error to be found.
        Some(last) if last.to_string().contains("close_notify") => "unexpected EOF".to_owned(),
        Some(last) => last
            .downcast_ref::<io::Error>()
            .map_or_else(|| last.to_string(), os_words),
        None => "unknown error".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_failures_read_as_kubectl_prints_them() {
        let check = |text: &str| tls_words(text, "10.0.0.1");
        assert_eq!(
            check("invalid peer certificate: UnknownIssuer"),
            "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        );
        assert_eq!(
            check("received corrupt message of type InvalidContentType"),
            "http: server gave HTTP response to HTTPS client"
        );
        assert_eq!(
            check(
                "invalid peer certificate: certificate not valid for name \"10.0.0.1\"; certificate is only valid for …"
            ),
            "tls: failed to verify certificate: x509: certificate is not valid for 10.0.0.1"
        );
    }

    #[test]
    fn a_killed_server_is_an_end_of_file() {
        let text = "peer closed connection without sending TLS close_notify: \
                    https://docs.rs/rustls/latest/rustls/manual/_03_howto/index.html#unexpected-eof";
        let error: Box<dyn Error> = text.into();
        assert_eq!(last_words(&[&*error]), "unexpected EOF");
    }
}
