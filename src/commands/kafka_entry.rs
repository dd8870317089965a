//! `KafkaEntry`: a topic as files of the user name it. docs/kafka.md describes its keys.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{CommandError, YamlFile};
use crate::kafka::{AddressError, Login, SaslMechanism, Security, TopicAddress, Trust};

/// A topic as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct KafkaEntry {
    brokers: Vec<String>,
    topic: String,
    tls: bool,
    ca_file: Option<Spanned<PathBuf>>,
    sasl: Option<SaslEntry>,
}

/// `sasl` of a topic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SaslEntry {
    mechanism: Spanned<String>,
    user_file: Spanned<PathBuf>,
    password_file: Spanned<PathBuf>,
}

impl KafkaEntry {
    /// The topic. `named` is the value that errors name.
    pub(crate) fn topic<T>(
        self,
        file: &YamlFile<'_>,
        named: &Spanned<T>,
    ) -> Result<TopicAddress, CommandError> {
        require_kafka()?;
        let (brokers, topic) = (self.brokers.clone(), self.topic.clone());
        let security = self.security(file)?;
        let address = TopicAddress::new(&brokers, &topic, security);
        address.map_err(|error| refused_address(file.error(named, &error), &error))
    }

    /// How to get in, from a file that has nothing else.
    #[cfg(feature = "kafka")]
    pub(crate) fn security_alone(self, file: &YamlFile<'_>) -> Result<Security, CommandError> {
        if !self.brokers.is_empty() || !self.topic.is_empty() {
            let error = file.at_line(1, "the brokers and the topic are those of --from");
            return Err(error.hint("keep only the keys tls, caFile and sasl"));
        }
        self.security(file)
    }

    /// How to get in.
    fn security(self, file: &YamlFile<'_>) -> Result<Security, CommandError> {
        let authority = self.ca_file.as_ref().map(|path| file.authority(path));
        let tls = match authority.transpose()? {
            Some(authority) => Some(Trust::Authority(authority)),
            None => self.tls.then_some(Trust::System),
        };
        let login = self.sasl.map(|entry| entry.login(file)).transpose()?;
        Ok(Security { tls, login })
    }
}

impl SaslEntry {
    fn login(&self, file: &YamlFile<'_>) -> Result<Login, CommandError> {
        let mechanism: Result<SaslMechanism, ()> = self.mechanism.value.parse();
        let mechanism = mechanism.map_err(|()| {
            let error = format!("unknown mechanism \"{}\"", self.mechanism.value);
            let error = file.error(&self.mechanism, error);
            error.hint("use one of SCRAM-SHA-512, SCRAM-SHA-256 and PLAIN")
        })?;
        let line = |path: &Spanned<PathBuf>| -> Result<String, CommandError> {
            let text = String::from_utf8(file.content(path)?);
            let fault = match text
                .as_deref()
                .map(|text| text.trim_end_matches(['\r', '\n']))
            {
                Ok("") => "the file has no text",
                Ok(text) => return Ok(text.to_owned()),
                Err(_) => "the file is not UTF-8",
            };
            let error = format!("{}: {fault}", file.relative(&path.value).display());
            let error = file.error(path, error);
            Err(error.hint("write the user or the password into it"))
        };
        Ok(Login {
            mechanism,
            user: line(&self.user_file)?,
            password: SecretString::from(line(&self.password_file)?),
        })
    }
}

/// An error with what to do about it.
pub(crate) fn refused_address(said: CommandError, error: &AddressError) -> CommandError {
    said.hint(match error {
        AddressError::Form | AddressError::Brokers => "write brokers as HOST:PORT, without a login",
        AddressError::Topic => "a topic has letters, digits, dots, underscores and hyphens",
        AddressError::Exposed => "set tls: true, or use SCRAM-SHA-512",
    })
}

/// Fails if this program was built without the client of Kafka.
pub(crate) fn require_kafka() -> Result<(), CommandError> {
    if cfg!(feature = "kafka") {
        return Ok(());
    }
    let error = CommandError::failed("error: this build has no Kafka");
    Err(error
        .hint("use a released archive, or build it with: cargo install --path . --features kafka"))
}
