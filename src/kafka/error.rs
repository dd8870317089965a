//! `TopicError`: what goes wrong with a topic, in words that name the cause.

use std::error::Error;
use std::time::Duration;

use rskafka::client::error::{Error as ClientError, ProtocolError};

use super::address::Security;

/// How brokers refuse a user, and what it means.
const REFUSALS: [(&str, &str); 3] = [
    (
        "SaslAuthenticationFailed",
        "the broker refuses the user, the password or the mechanism",
    ),
    (
        "UnsupportedSaslMechanism",
        "the broker does not have this mechanism",
    ),
    (
        "IllegalSaslState",
        "the broker expects no login on this port",
    ),
];
/// What rustls says about a broker, and what it means.
const TLS_FAULTS: [(&str, &str); 9] = [
    (
        "UnknownIssuer",
        "the broker has a certificate of an unknown authority",
    ),
    // Another authority has the same name, such as the one before a renewal.
    (
        "BadSignature",
        "the broker has a certificate of an unknown authority",
    ),
    ("xpired", "the certificate of the broker has expired"),
    (
        "not valid yet",
        "the certificate of the broker is not valid yet",
    ),
    (
        "tls handshake eof",
        "the broker ends the TLS handshake: its port may have no TLS",
    ),
    (
        "InvalidContentType",
        "the broker does not answer with TLS: its port may have no TLS",
    ),
    // None is sent, so none can be bad. Java says it in this way.
    (
        "fatal alert: BadCertificate",
        "the broker asks for a client certificate, which is not supported",
    ),
    (
        "fatal alert: CertificateRequired",
        "the broker asks for a client certificate, which is not supported",
    ),
    (
        "Invalid Hostname",
        "TLS needs brokers with names or IPv4 addresses",
    ),
];
/// How an end of a connection is told.
const ENDS: [&str; 3] = ["early eof", "reset by peer", "Broken pipe"];

/// What goes wrong with a topic.
#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    /// No broker shows this topic.
    #[error("the brokers have no topic {0}, or the user may not see it")]
    NoTopic(String),
    /// The brokers do not take a message of this size.
    #[error("the message is larger than the topic allows")]
    TooLarge,
    /// There is no TLS that both sides accept.
    #[error("{0}")]
    Tls(String),
    /// The brokers refuse the user, or what the user does.
    #[error("{0}")]
    Access(String),
    /// The broker ends the connection, with a guess at the cause.
    #[error("the broker closes the connection{0}")]
    Closed(&'static str),
    /// The broker does not answer in this time.
    #[error("no answer for {} s", .0.as_secs())]
    Silence(Duration),
    /// Another broker has taken over a partition, and does not have all messages yet.
    #[error("the broker does not give the newest messages yet")]
    Behind,
    /// Everything else. It may go away.
    #[error("{0}")]
    Failed(String),
}

impl TopicError {
    /// The error of the first connection, which shows what the security lacks.
    pub(super) fn of_first(error: ClientError, security: &Security) -> TopicError {
        // It is the first request, before TLS or a login could be the cause of anything else.
        let is_greeting = error.to_string().contains("cannot sync versions");
        match TopicError::from(error) {
            TopicError::Closed(_) if is_greeting && security.tls.is_none() => {
                TopicError::Closed(": its port may need `tls`")
            }
            TopicError::Closed(_) if !is_greeting && security.login.is_none() => {
                TopicError::Closed(": it may need a login (`sasl`)")
            }
            error => error,
        }
    }

    /// The error of these words. The client has types of its own for few errors.
    fn of_words(text: &str) -> TopicError {
        if let Some((code, words)) = REFUSALS.iter().find(|(code, _)| text.contains(code)) {
            return TopicError::Access(format!("{words} ({code})"));
        }
        if let Some((_, words)) = TLS_FAULTS.iter().find(|(part, _)| text.contains(part)) {
            return TopicError::Tls((*words).to_owned());
        }
        if let Some((_, fault)) = text.split_once("invalid peer certificate: ") {
            return TopicError::Tls(format!(
                "the certificate of the broker cannot be used: {fault}"
            ));
        }
        if ENDS.iter().any(|end| text.contains(end)) {
            return TopicError::Closed("");
        }
        // How often it was tried and through which layers the error came helps nobody.
        let cause = text.rsplit("Source: ").next().unwrap_or(text);
        let cause = cause.rsplit("Cannot read data: ").next().unwrap_or(cause);
        let cause = cause
            .trim_start_matches("Multiple errors occured: ")
            .replace("error connecting to broker", "broker")
            .replace("IO Error: ", "");
        TopicError::Failed(cause)
    }
}

impl From<ClientError> for TopicError {
    fn from(error: ClientError) -> TopicError {
        match &error {
            ClientError::ServerError { protocol_error, .. } => match protocol_error {
                ProtocolError::MessageTooLarge | ProtocolError::RecordListTooLarge => {
                    TopicError::TooLarge
                }
                ProtocolError::TopicAuthorizationFailed => TopicError::Access(format!(
                    "the user may not do this with the topic ({protocol_error})"
                )),
                _ => TopicError::Failed(format!("the broker says {protocol_error}")),
            },
            error => {
                let mut innermost: &dyn Error = error;
                while let Some(source) = innermost.source() {
                    innermost = source;
                }
                TopicError::of_words(&innermost.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_cause_and_not_its_way() {
        let retried = "all retries failed: Retry exceeded deadline. Source: ";
        let broker = "error connecting to broker \"b:9092\": IO Error: ";
        for (text, expect) in [
            (
                "Sasl handshake failed: API error: SaslAuthenticationFailed",
                "the broker refuses the user, the password or the mechanism (SaslAuthenticationFailed)",
            ),
            (
                "Connection is poisoned: Cannot read framed message: Cannot read data: early eof",
                "the broker closes the connection",
            ),
            (
                &format!("{broker}invalid peer certificate: UnknownIssuer"),
                "the broker has a certificate of an unknown authority",
            ),
            (
                &format!("{broker}invalid peer certificate: certificate not valid for name \"b\""),
                "the certificate of the broker cannot be used: certificate not valid for name \"b\"",
            ),
            (
                "cannot sync versions: Request error: Cannot read data: received fatal alert: NoRenegotiation",
                "received fatal alert: NoRenegotiation",
            ),
            (
                &format!("{broker}Connection refused (os error 111)"),
                "broker \"b:9092\": Connection refused (os error 111)",
            ),
            (
                &format!("Multiple errors occured: {broker}no route, {broker}no route"),
                "broker \"b:9092\": no route, broker \"b:9092\": no route",
            ),
        ] {
            for text in [text.to_owned(), format!("{retried}{text}")] {
                assert_eq!(TopicError::of_words(&text).to_string(), expect, "{text}");
            }
        }
    }
}
