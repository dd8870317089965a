//! Why a request has no response, in kubectl's words.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::client::legacy::Error as HyperError;
use jiff::Timestamp;
use kube::client::AuthError;
use rustls::CertificateError;
use rustls::pki_types::UnixTime;

use crate::cluster::ApiError;
use crate::cluster::kubeconfig::{ConfigError, os_words};
use crate::cluster::request_path::InvalidPart;
use crate::object::json_fault;

/// The error of a request. Its `Display` is a whole line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The server answered with an error.
    #[error("{error}")]
    Api {
        /// The response.
        error: ApiError,
        /// The value of `Retry-After`.
        after: Option<Duration>,
    },
    /// No connection: refused, unreachable, no such host, or a TLS handshake that failed.
    #[error("{0}")]
    Connect(Arc<str>),
    /// The connection broke after it had been established.
    #[error("connection lost: {0}")]
    Cut(Arc<str>),
    /// The response was missing or incomplete after this time.
    #[error("Unable to connect to the server: no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// The response is not what the API promises.
    #[error("{0}")]
    Decode(Arc<str>),
    /// The request is impossible: a name is not a path segment, or the request is too long.
    #[error("{0}")]
    Impossible(Arc<str>),
    /// No credentials are available: a plugin failed, or a token file is missing.
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

pub(super) fn setup_error(error: &kube::Error) -> ConfigError {
    match error {
        kube::Error::Auth(error) => ConfigError::Credential(credential_words(error)),
        other => ConfigError::invalid(format!("TLS settings of the kubeconfig: {other}")),
    }
}

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
    // hyper-rustls wraps every IO error in another one of kind `Other`.
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
        io::ErrorKind::InvalidData => {
            let tls = parts.iter().find_map(|part| part.downcast_ref::<rustls::Error>());
            let words = tls.and_then(date_words);
            RequestError::Connect(unable(&words.unwrap_or_else(|| tls_words(&error.to_string(), name))))
        }
        _ => dial(&os_words(error)),
    }
}

/// Go's words for a certificate that is not valid now, with the dates.
fn date_words(error: &rustls::Error) -> Option<String> {
    let rustls::Error::InvalidCertificate(fault) = error else {
        return None;
    };
    let (now, order, limit) = match fault {
        CertificateError::ExpiredContext { time, not_after } => (time, "after", not_after),
        CertificateError::NotValidYetContext { time, not_before } => (time, "before", not_before),
        _ => return None,
    };
    let date = |time: &UnixTime| Timestamp::from_second(i64::try_from(time.as_secs()).ok()?).ok();
    let (now, limit) = (date(now)?, date(limit)?);
    Some(format!(
        "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time {now} is \
         {order} {limit}"
    ))
}

/// Go's words for common rustls errors, because people know and search for those.
fn tls_words(text: &str, host: &str) -> String {
    let x509 = |detail: &str| format!("tls: failed to verify certificate: x509: {detail}");
    if text.contains("InvalidContentType") {
        "http: server gave HTTP response to HTTPS client".to_owned()
    } else if text.contains("UnknownIssuer") {
        x509("certificate signed by unknown authority")
    } else if text.contains("not valid for name") || text.contains("NotValidForName") {
        // rustls quotes the expected name, which is that of `--tls-server-name` if it is set.
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

/// The message for a failed login at an OIDC provider. It contains nothing of the response, which may be a token.
fn credential_words(error: &AuthError) -> String {
    let parsed = causes(error).find_map(|part| part.downcast_ref::<serde_json::Error>());
    match parsed {
        Some(parsed) => format!("auth-provider oidc: its answer is {}", json_fault(parsed)),
        None => format!("auth-provider oidc: {error}"),
    }
}

/// An error and its causes, including errors inside IO errors.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        // `source` of an IO error skips the error that it wraps.
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
        // rustls's error with a link to its manual: the server closed the connection without a notice. Inside an
        // HTTP/2 error there is no IO error to look for.
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
    fn tls_errors_have_kubectls_messages() {
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
    fn a_killed_server_is_an_unexpected_eof() {
        let text = "peer closed connection without sending TLS close_notify: \
                    https://docs.rs/rustls/latest/rustls/manual/_03_howto/index.html#unexpected-eof";
        let error: Box<dyn Error> = text.into();
        assert_eq!(last_words(&[&*error]), "unexpected EOF");
    }
}
