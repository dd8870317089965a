//! `TopicClient`: the connections to the partitions of a topic.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rskafka::BackoffConfig;
use rskafka::chrono::DateTime;
use rskafka::client::error::{Error as ClientError, ProtocolError};
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::{ClientBuilder, Credentials, SaslConfig};
use rskafka::record::{Record, RecordAndOffset};
use secrecy::ExposeSecret;
use tokio::time::timeout;

use super::address::{Login, SaslMechanism, TopicAddress, Trust};
use super::error::TopicError;
use super::message::TopicMessage;
use crate::sink::client_tls;

/// How long the client itself waits before it tries again after a lost connection: in all, and each time.
const RETRIES: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(500);
/// How long a request may take, retries included.
const REQUEST: Duration = Duration::from_secs(30);
/// How many bytes are read at once. They are compressed, and take up to thirty times as much.
const FETCH: i32 = 256 << 10;
/// The largest answer, in bytes. The client reserves what a broker announces, and a port with TLS announces anything.
const ANSWER: usize = 32 << 20;
/// How long a broker waits for messages, in milliseconds.
const WAIT: i32 = 100;

/// The partitions of a topic.
pub(super) struct TopicClient {
    partitions: Vec<PartitionClient>,
}

/// A message that was read.
pub(super) struct FetchedMessage {
    pub(super) offset: i64,
    /// In milliseconds since the epoch.
    pub(super) time: i64,
    pub(super) message: TopicMessage,
}

impl TopicClient {
    /// Connects to all partitions.
    pub(super) async fn connect(address: &TopicAddress) -> Result<TopicClient, TopicError> {
        in_time(TopicClient::connected(address)).await
    }

    async fn connected(address: &TopicAddress) -> Result<TopicClient, TopicError> {
        let retries = BackoffConfig {
            max_backoff: RETRY,
            deadline: Some(RETRIES),
            ..BackoffConfig::default()
        };
        let mut builder = ClientBuilder::new(address.brokers.clone())
            .client_id("kubectl-spy")
            .max_message_size(ANSWER)
            .backoff_config(retries);
        if let Some(trust) = &address.security.tls {
            let authority = match trust {
                Trust::System => None,
                Trust::Authority(authority) => Some(&authority[..]),
            };
            let tls = client_tls(authority).map_err(|error| TopicError::Tls(error.to_string()))?;
            builder = builder.tls_config(Arc::new(tls));
        }
        if let Some(login) = &address.security.login {
            builder = builder.sasl_config(sasl(login));
        }
        let client = builder.build().await;
        let client = client.map_err(|error| TopicError::of_first(error, &address.security))?;
        let topics = client.list_topics().await?;
        let topic = topics.into_iter().find(|topic| topic.name == address.topic);
        let no_topic = || TopicError::NoTopic(address.topic.clone());
        let topic = topic.ok_or_else(no_topic)?;
        let mut partitions = Vec::new();
        for number in topic.partitions {
            let unknown = UnknownTopicHandling::Error;
            partitions.push(
                client
                    .partition_client(&topic.name, number, unknown)
                    .await?,
            );
        }
        if partitions.is_empty() {
            return Err(no_topic());
        }
        Ok(TopicClient { partitions })
    }

    /// The number of partitions.
    pub(super) fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Writes messages to a partition, in order. All copies of the topic have them then.
    pub(super) async fn write(
        &self,
        partition: usize,
        messages: &[TopicMessage],
        time: i64,
    ) -> Result<(), TopicError> {
        let Some(client) = self.partitions.get(partition) else {
            return Ok(());
        };
        let timestamp = DateTime::from_timestamp_millis(time).unwrap_or_default();
        let records = messages.iter().map(|message| Record {
            key: Some(message.key.clone().into_bytes()),
            value: message.value.clone(),
            headers: message.headers.clone(),
            timestamp,
        });
        in_time(client.produce(records.collect(), Compression::Gzip)).await?;
        Ok(())
    }

    /// The offset after the last message of a partition.
    pub(super) async fn end(&self, partition: usize) -> Result<i64, TopicError> {
        self.offset(partition, OffsetAt::Latest).await
    }

    async fn offset(&self, partition: usize, at: OffsetAt) -> Result<i64, TopicError> {
        let Some(client) = self.partitions.get(partition) else {
            return Ok(0);
        };
        in_time(client.get_offset(at)).await
    }

    /// Some messages of a partition from an offset on. What the brokers have deleted is passed over.
    pub(super) async fn read(
        &self,
        partition: usize,
        from: i64,
    ) -> Result<Vec<FetchedMessage>, TopicError> {
        let Some(client) = self.partitions.get(partition) else {
            return Ok(Vec::new());
        };
        let fetched = in_time(async {
            match client.fetch_records(from, 1..FETCH, WAIT).await {
                Err(ClientError::ServerError {
                    protocol_error: ProtocolError::OffsetOutOfRange,
                    ..
                }) => Ok(None),
                fetched => fetched.map(Some),
            }
        });
        let (records, _) = if let Some(fetched) = fetched.await? {
            fetched
        } else {
            let first = self.offset(partition, OffsetAt::Earliest).await?;
            in_time(client.fetch_records(first, 1..FETCH, WAIT)).await?
        };
        Ok(records.into_iter().map(FetchedMessage::of).collect())
    }
}

impl FetchedMessage {
    fn of(fetched: RecordAndOffset) -> FetchedMessage {
        let RecordAndOffset { record, offset } = fetched;
        let key = record.key.unwrap_or_default();
        FetchedMessage {
            offset,
            time: record.timestamp.timestamp_millis(),
            message: TopicMessage {
                key: String::from_utf8_lossy(&key).into_owned(),
                value: record.value,
                headers: record.headers,
            },
        }
    }
}

/// The result of a request, unless it takes too long.
async fn in_time<T, E: Into<TopicError>>(
    request: impl Future<Output = Result<T, E>>,
) -> Result<T, TopicError> {
    match timeout(REQUEST, request).await {
        Ok(answered) => answered.map_err(Into::into),
        Err(_) => Err(TopicError::Silence(REQUEST)),
    }
}

fn sasl(login: &Login) -> SaslConfig {
    let password = login.password.expose_secret().to_owned();
    let credentials = Credentials::new(login.user.clone(), password);
    match login.mechanism {
        SaslMechanism::Plain => SaslConfig::Plain(credentials),
        SaslMechanism::ScramSha256 => SaslConfig::ScramSha256(credentials),
        SaslMechanism::ScramSha512 => SaslConfig::ScramSha512(credentials),
    }
}
