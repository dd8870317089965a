//! Kafka: a record in a topic, written by the recorders of many clusters and read back by anyone.
//!
//! A message is an entry of a file of a record: a version of an object, or an event of a source. The key of a version is the
//! uid, so a topic has the versions of an object in order. [`RecordPush`] sends what the files have, and remembers how far it
//! has come. [`TopicReader`] reads the messages of all partitions, and [`EntryOrder`] brings them into the order of the files
//! again. The client of Kafka is behind the feature `kafka`.

mod address;
#[cfg(feature = "kafka")]
mod client;
#[cfg(feature = "kafka")]
mod error;
mod message;
mod order;
#[cfg(feature = "kafka")]
mod partition;
mod positions;
#[cfg(feature = "kafka")]
mod pull;
#[cfg(feature = "kafka")]
mod push;
#[cfg(feature = "kafka")]
mod push_files;
#[cfg(feature = "kafka")]
mod queue;

pub use address::{AddressError, Login, SaslMechanism, Security, TopicAddress, TopicSink, Trust};
#[cfg(feature = "kafka")]
pub use error::TopicError;
pub use message::{
    FileLabel, FileSender, MessageContent, MessageFormat, ReceivedMessage, TopicMessage,
    partition_of,
};
pub use order::{Arrival, EntryOrder, FilePlace, OrderedEntry};
pub use positions::{PositionFile, SentFile, TopicProgress};
#[cfg(feature = "kafka")]
pub use pull::{ReadCounts, ReadError, TopicReader};
#[cfg(feature = "kafka")]
pub use push::RecordPush;
