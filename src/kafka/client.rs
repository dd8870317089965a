//! `TopicClient`: the connections to the partitions of a topic.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rskafka::BackoffConfig;
use rskafka::chrono::DateTime;
use rskafka::client::error::{Error as ClientError, ProtocolError};
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder, Credentials, SaslConfig};
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
/// How often it is looked whether the topic has more partitions.
const LOOK: SignedDuration = SignedDuration::from_mins(1);
/// How long a broker waits for messages, in milliseconds.
const WAIT: i32 = 100;

/// The partitions of a topic.
pub(super) struct TopicClient {
    client: Client,
    topic: String,
    partitions: Vec<PartitionClient>,
    /// When it was last looked for new partitions.
    looked: Option<Timestamp>,
}

/// What one request has brought of a partition.
pub(super) struct FetchedPart {
    /// The offset from which it was read. What was before it is deleted.
    pub(super) from: i64,
    pub(super) messages: Vec<FetchedMessage>,
    /// The offset after the last message that the broker has and gives to readers.
    pub(super) watermark: i64,
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
        let mut client = TopicClient {
            client,
            topic: address.topic.clone(),
            partitions: Vec::new(),
            looked: None,
        };
        client.find_partitions().await?;
        Ok(client)
    }

    /// Whether it is time to look for new partitions.
    pub(super) fn is_look_due(&self, now: Timestamp) -> bool {
        let age = self.looked.map(|looked| now.duration_since(looked).abs());
        age.is_none_or(|age| age >= LOOK)
    }

    /// Connects to the partitions that the topic has got meanwhile.
    pub(super) async fn look(&mut self, now: Timestamp) -> Result<(), TopicError> {
        in_time(self.find_partitions()).await?;
        self.looked = Some(now);
        Ok(())
    }

    async fn find_partitions(&mut self) -> Result<(), TopicError> {
        let topics = self.client.list_topics().await?.into_iter();
        let topic = topics.into_iter().find(|topic| topic.name == self.topic);
        let numbers = topic.map(|topic| topic.partitions).unwrap_or_default();
        if numbers.is_empty() {
            return Err(TopicError::NoTopic(self.topic.clone()));
        }
        self.partitions.truncate(numbers.len());
        for number in numbers.into_iter().skip(self.partitions.len()) {
            let unknown = UnknownTopicHandling::Error;
            let found = self.client.partition_client(&self.topic, number, unknown);
            self.partitions.push(found.await?);
        }
        Ok(())
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
    ) -> Result<FetchedPart, TopicError> {
        let client = self.partitions.get(partition).ok_or(TopicError::Behind)?;
        let fetched = in_time(async {
            match client.fetch_records(from, 1..FETCH, WAIT).await {
                Err(ClientError::ServerError {
                    protocol_error: ProtocolError::OffsetOutOfRange,
                    ..
                }) => Ok(None),
                fetched => fetched.map(Some),
            }
        });
        let (from, (records, watermark)) = if let Some(fetched) = fetched.await? {
            (from, fetched)
        } else {
            let first = self.offset(partition, OffsetAt::Earliest).await?;
            let fetched = in_time(client.fetch_records(first, 1..FETCH, WAIT)).await?;
            (first, fetched)
        };
        Ok(FetchedPart {
            from,
            messages: records.into_iter().map(FetchedMessage::of).collect(),
            watermark,
        })
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
