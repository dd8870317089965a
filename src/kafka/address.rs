//! `TopicAddress`: which topic of which brokers, and how to get in.

use std::fmt;
use std::str::FromStr;

use secrecy::SecretString;

use super::message::MessageFormat;

/// What an address of a topic begins with.
const SCHEME: &str = "kafka://";
/// The port of a broker, if the address has none.
const PORT: u16 = 9092;

/// A topic that gets every version of a record.
#[derive(Clone, Debug)]
pub struct TopicSink {
    /// Its name in metrics and messages.
    pub name: String,
    /// Where it is.
    pub topic: TopicAddress,
    /// The form of its messages.
    pub format: MessageFormat,
}

/// A topic.
#[derive(Clone, Debug)]
pub struct TopicAddress {
    /// Some of the brokers, as `HOST:PORT`.
    pub brokers: Vec<String>,
    /// The name of the topic.
    pub topic: String,
    /// How to get in.
    pub security: Security,
}

/// How to get in.
#[derive(Clone, Debug, Default)]
pub struct Security {
    /// Whom to trust; `None` without TLS.
    pub tls: Option<Trust>,
    /// The user; `None` without SASL.
    pub login: Option<Login>,
}

/// Whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those of the system.
    System,
    /// Those that this text in PEM form names.
    Authority(Vec<u8>),
}

/// A user, for SASL.
#[derive(Clone, Debug)]
pub struct Login {
    /// How the password is proved.
    pub mechanism: SaslMechanism,
    /// The name.
    pub user: String,
    /// The password.
    pub password: SecretString,
}

/// How a password is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslMechanism {
    /// The password is sent.
    Plain,
    /// A proof of it is sent (RFC 7677).
    ScramSha256,
    /// The same with a longer hash.
    ScramSha512,
}

/// Why there is no such topic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is no address of a topic.
    #[error("not an address of a topic: expected kafka://HOST:PORT,…/TOPIC")]
    Form,
    /// There is no broker.
    #[error("no broker: expected HOST:PORT")]
    Brokers,
    /// No topic can have this name.
    #[error("no topic can have this name")]
    Topic,
    /// A password would be sent to anybody.
    #[error("PLAIN sends the password itself, so it needs TLS")]
    Exposed,
}

impl TopicAddress {
    /// A topic of these brokers.
    pub fn new(
        brokers: &[String],
        topic: &str,
        security: Security,
    ) -> Result<TopicAddress, AddressError> {
        let brokers: Option<Vec<String>> = brokers.iter().map(|text| broker(text)).collect();
        let brokers = brokers.filter(|all| !all.is_empty());
        let brokers = brokers.ok_or(AddressError::Brokers)?;
        // https://github.com/apache/kafka: `Topic.validate`.
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_name = topic.bytes().all(is_letter) && !matches!(topic, "" | "." | "..");
        if !is_name || topic.len() > 249 {
            return Err(AddressError::Topic);
        }
        let login = security.login.as_ref().map(|login| login.mechanism);
        if login == Some(SaslMechanism::Plain) && security.tls.is_none() {
            return Err(AddressError::Exposed);
        }
        Ok(TopicAddress {
            brokers,
            topic: topic.to_owned(),
            security,
        })
    }

    /// The topic of `kafka://HOST:PORT,…/TOPIC`.
    pub fn parse(text: &str, security: Security) -> Result<TopicAddress, AddressError> {
        let rest = text.strip_prefix(SCHEME).ok_or(AddressError::Form)?;
        let (brokers, topic) = rest.split_once('/').ok_or(AddressError::Form)?;
        let brokers: Vec<String> = brokers.split(',').map(str::to_owned).collect();
        TopicAddress::new(&brokers, topic, security)
    }
}

impl fmt::Display for TopicAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.brokers.join(","), self.topic)
    }
}

impl FromStr for SaslMechanism {
    type Err = ();

    fn from_str(text: &str) -> Result<SaslMechanism, ()> {
        match text {
            "PLAIN" => Ok(SaslMechanism::Plain),
            "SCRAM-SHA-256" => Ok(SaslMechanism::ScramSha256),
            "SCRAM-SHA-512" => Ok(SaslMechanism::ScramSha512),
            _ => Err(()),
        }
    }
}

/// `HOST:PORT` of a broker; `None` if the text has no host or a wrong port.
fn broker(text: &str) -> Option<String> {
    let text = text.trim();
    let is_plain = |text: &str| {
        let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        !text.is_empty() && text.bytes().all(is_of_host)
    };
    // The colons of an IPv6 address are in brackets.
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        Some(_) | None => (text, PORT),
    };
    let is_ipv6 = host.starts_with('[') && host.ends_with(']');
    let is_host = is_plain(host) && (is_ipv6 || !host.contains(':'));
    (is_host && port > 0).then(|| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_brokers_and_a_topic() {
        for (text, expect) in [
            (
                "kafka://b:9092/spy.versions",
                Ok("kafka://b:9092/spy.versions"),
            ),
            ("kafka://a,b:19/t", Ok("kafka://a:9092,b:19/t")),
            ("kafka://[::1]:19/t", Ok("kafka://[::1]:19/t")),
            ("kafka://[::1]/t", Ok("kafka://[::1]:9092/t")),
            ("kafka://b:9092", Err(AddressError::Form)),
            ("http://b/t", Err(AddressError::Form)),
            ("kafka:///t", Err(AddressError::Brokers)),
            ("kafka://me:pass@b/t", Err(AddressError::Brokers)),
            ("kafka://b:0/t", Err(AddressError::Brokers)),
            ("kafka://b:x/t", Err(AddressError::Brokers)),
            ("kafka://::1:9092/t", Err(AddressError::Brokers)),
            ("kafka://b/", Err(AddressError::Topic)),
            ("kafka://b/a/b", Err(AddressError::Topic)),
            ("kafka://b/..", Err(AddressError::Topic)),
        ] {
            let parsed = TopicAddress::parse(text, Security::default());
            let shown = parsed.map(|address| address.to_string());
            assert_eq!(shown, expect.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn a_password_is_sent_only_inside_tls_and_is_never_shown() {
        let address = |mechanism, tls| {
            let login = Login {
                mechanism,
                user: "spy".to_owned(),
                password: "open sesame".into(),
            };
            let login = Some(login);
            TopicAddress::parse("kafka://b/t", Security { tls, login })
        };
        let exposed = address(SaslMechanism::Plain, None);
        assert_eq!(exposed.err(), Some(AddressError::Exposed));
        let proved = address(SaslMechanism::ScramSha512, None).expect("an address");
        let hidden = address(SaslMechanism::Plain, Some(Trust::System)).expect("an address");
        for address in [proved, hidden] {
            assert!(!format!("{address:?} {address}").contains("sesame"));
        }
    }
}
