//! `RecordPush`: sends the record of a cluster to a topic. The files of the record are the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::address::TopicSink;
use super::client::TopicClient;
use super::error::TopicError;
use super::message::{FileLabel, FileSender, TopicMessage, partition_of};
use super::positions::{PositionFile, SentFile, TopicProgress};
use crate::record::{
    ClusterFiles, EntryContent, RecordEntry, RecordTail, StoreError, TailEntry, recorder_of,
};
use crate::sink::{RetryWaits, SinkNote, ToldOutage};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long brokers that are away are left alone at most. A connection costs them little.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How much is sent at once: bytes before compression, and messages.
const WINDOW_BYTES: usize = 512 << 10;
const WINDOW: usize = 500;

/// What sends a record to a topic.
pub struct RecordPush {
    sink: Arc<TopicSink>,
    files: ClusterFiles,
    positions: PositionFile<BTreeMap<String, SentFile>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    notes: mpsc::Sender<SinkNote>,
    progress: TopicProgress,
    waits: RetryWaits,
    outage: ToldOutage,
    client: Option<TopicClient>,
    sent: BTreeMap<String, SentFile>,
    open: BTreeMap<String, FileTail>,
    /// The time of the last messages, in milliseconds. It never goes back.
    time: i64,
    /// Whether the positions of the run before are read.
    has_begun: bool,
    /// Whether it is said that there is no record.
    is_told: bool,
    /// The files of which it is said that they wait.
    told: BTreeSet<String>,
}

/// A file that is being sent.
struct FileTail {
    tail: RecordTail,
    label: FileLabel,
    /// The number of its versions that are not sent.
    left: u64,
}

/// A file of the record.
struct ListedFile {
    name: String,
    path: PathBuf,
    /// Whether its recorder may still write to it.
    may_grow: bool,
}

/// A message, and its entry unless it is the beginning of a file.
struct WindowMessage {
    message: TopicMessage,
    entry: Option<TailEntry>,
}

/// Why nothing is sent at present.
#[derive(Debug, thiserror::Error)]
enum PushError {
    #[error("{0}")]
    Topic(#[from] TopicError),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Position(#[from] io::Error),
}

impl RecordPush {
    /// Sends these files to the topic of a sink. News goes to `notes`.
    pub fn new(
        sink: Arc<TopicSink>,
        files: ClusterFiles,
        positions: PositionFile<BTreeMap<String, SentFile>>,
        clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    ) -> RecordPush {
        let (notes, _nobody) = mpsc::channel(1);
        RecordPush {
            sink,
            files,
            positions,
            clock,
            notes,
            progress: TopicProgress::default(),
            waits: RetryWaits::default(),
            outage: ToldOutage::default(),
            client: None,
            sent: BTreeMap::new(),
            open: BTreeMap::new(),
            time: 0,
            has_begun: false,
            is_told: false,
            told: BTreeSet::new(),
        }
    }

    /// The same, with news that goes to `notes`, and with numbers that others read.
    #[must_use]
    pub fn telling(self, notes: mpsc::Sender<SinkNote>, progress: TopicProgress) -> RecordPush {
        RecordPush {
            notes,
            progress,
            ..self
        }
    }

    /// Sends for as long as it is polled. What is on its way when the future is dropped is sent again.
    pub async fn run(mut self) {
        loop {
            match self.round().await {
                Ok(true) => {}
                Ok(false) => sleep(LOOK).await,
                Err(error) => {
                    self.progress.lock().failed += 1;
                    let cause = error.to_string();
                    if self.outage.is_news(&cause) {
                        self.note(format!("{cause}: the versions wait in the record"));
                    }
                    self.client = None;
                    let wait = self.waits.after_failure(fastrand::f64());
                    sleep(wait.min(LONGEST_WAIT)).await;
                }
            }
        }
    }

    /// Sends a window of each file. Returns whether there may be more at once.
    async fn round(&mut self) -> Result<bool, PushError> {
        if !self.has_begun {
            self.sent = self.positions.read()?;
            self.has_begun = true;
        }
        let files = self.files()?;
        if files.is_empty() && !self.is_told {
            self.is_told = true;
            self.note("no record of this cluster: start one with `kubectl spy record`".to_owned());
        }
        let mut has_more = false;
        for file in files {
            match self.open(&file) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    self.give_up(&file, &error)?;
                    continue;
                }
            }
            let sent = self.send(&file).await;
            if sent.is_err() {
                // What has been read of it is read again.
                self.open.remove(&file.name);
            }
            has_more |= sent?;
        }
        let left = self.open.values().map(|file| file.left).sum();
        self.progress.lock().waiting = left;
        Ok(has_more)
    }

    /// The files of the record that are not sent, the oldest first.
    fn files(&mut self) -> Result<Vec<ListedFile>, PushError> {
        let listed = self.files.list()?;
        let named = listed.into_iter().filter_map(|file| {
            let (name, recorder) = recorder_of(&file.path)?;
            Some((name, recorder, file.path))
        });
        let named: Vec<_> = named.collect();
        let is_there = |name: &String| named.iter().any(|(own, ..)| own == name);
        let gone = self.open.keys().filter(|name| !is_there(name));
        let gone: Vec<String> = gone.cloned().collect();
        self.sent.retain(|name, _| is_there(name));
        let is_done = |name: &String| self.sent.get(name).is_some_and(|sent| sent.is_done);
        let files = named
            .iter()
            .enumerate()
            .filter(|(_, (name, ..))| !is_done(name));
        let files = files.map(|(at, (name, recorder, path))| ListedFile {
            name: name.clone(),
            path: path.clone(),
            // A recorder ends a file before it begins the next one.
            may_grow: !named[at + 1..]
                .iter()
                .any(|(_, other, _)| other == recorder),
        });
        let files = files.collect();
        for name in gone {
            let left = self.open.remove(&name).map_or(0, |file| file.left);
            if left > 0 {
                self.progress.lock().dropped += left;
                self.note(format!(
                    "{left} versions are dropped: the record has deleted {name}"
                ));
            }
        }
        Ok(files)
    }

    /// Opens a file where its last window ended. Returns false if it has nothing yet.
    fn open(&mut self, file: &ListedFile) -> Result<bool, StoreError> {
        if self.open.contains_key(&file.name) {
            return Ok(true);
        }
        let position = self.sent.get(&file.name).map(|sent| sent.position);
        let tail = match RecordTail::open(&file.path, position.unwrap_or_default()) {
            Err(StoreError::Empty { .. }) => return Ok(false),
            tail => tail?,
        };
        let label = FileLabel {
            cluster: tail.heading().cluster.id,
            file: file.name.clone(),
        };
        let left = tail.left()?;
        self.open
            .insert(file.name.clone(), FileTail { tail, label, left });
        Ok(true)
    }

    /// A file that cannot be read to its end. Damage stays; everything else may go away.
    fn give_up(&mut self, file: &ListedFile, error: &StoreError) -> Result<(), PushError> {
        let is_damage = matches!(
            error,
            StoreError::Damaged { .. } | StoreError::Foreign { .. }
        );
        if is_damage {
            self.note(format!("{error}: the rest of the file is not sent"));
            self.finish(&file.name)?;
        } else if self.told.insert(file.name.clone()) {
            self.note(format!("{error}: the file waits"));
        }
        Ok(())
    }

    /// Sends the next window of a file. Returns whether there may be more at once.
    async fn send(&mut self, file: &ListedFile) -> Result<bool, PushError> {
        let window = match self.window(&file.name) {
            Ok(window) => window,
            Err(error) => {
                self.open.remove(&file.name);
                self.give_up(file, &error)?;
                return Ok(false);
            }
        };
        if window.is_empty() {
            if !file.may_grow {
                self.finish(&file.name)?;
            }
            return Ok(false);
        }
        let refused = self.write(&file.name, &window).await?;
        self.waits.reset();
        if self.outage.end() {
            self.note("versions are sent again".to_owned());
        }
        let Some(open) = self.open.get_mut(&file.name) else {
            return Ok(false);
        };
        open.left = open.tail.left().unwrap_or_default();
        let sent = SentFile {
            position: open.tail.position(),
            is_done: false,
        };
        self.sent.insert(file.name.clone(), sent);
        self.positions.write(&self.sent)?;
        let mut counts = self.progress.lock();
        counts.delivered += u64::try_from(window.len()).unwrap_or(u64::MAX) - refused;
        counts.refused += refused;
        Ok(true)
    }

    /// The next messages of a file.
    fn window(&mut self, name: &str) -> Result<Vec<WindowMessage>, StoreError> {
        let mut window = Vec::new();
        let Some(FileTail { tail, label, .. }) = self.open.get_mut(name) else {
            return Ok(window);
        };
        let heading = tail.heading();
        let sender = FileSender {
            label,
            cluster: &heading.cluster.name,
            // The beginning of the file is entry 0.
            sent: self
                .sent
                .get(name)
                .map_or(0, |sent| sent.position.number() + 1),
            format: self.sink.format,
        };
        if !self.sent.contains_key(name) {
            let message = sender.begin(&heading);
            window.push(WindowMessage {
                message,
                entry: None,
            });
        }
        let mut bytes = 0;
        while bytes < WINDOW_BYTES && window.len() < WINDOW {
            let Some(entry) = tail.next_entry()? else {
                break;
            };
            let message = sender.entry(&entry);
            bytes += message.size();
            let entry = Some(entry);
            window.push(WindowMessage { message, entry });
        }
        Ok(window)
    }

    /// Writes a window to the partitions. Returns how many versions the brokers have refused.
    async fn write(&mut self, name: &str, window: &[WindowMessage]) -> Result<u64, PushError> {
        let client = match self.client.take() {
            Some(client) => client,
            None => TopicClient::connect(&self.sink.topic).await?,
        };
        self.time = self.time.max((self.clock)().as_millisecond());
        let mut parts: Vec<Vec<&WindowMessage>> = Vec::new();
        parts.resize_with(client.partitions(), Vec::new);
        for message in window {
            parts[partition_of(&message.message.key, client.partitions())].push(message);
        }
        let writer = PartitionWriter {
            client: &client,
            time: self.time,
        };
        let parts = parts
            .iter()
            .enumerate()
            .filter(|(_, part)| !part.is_empty());
        let writing = parts.map(|(partition, part)| writer.write(partition, part));
        let refused: Vec<u64> = try_join_all(writing).await?;
        self.client = Some(client);
        let refused = refused.into_iter().sum();
        if refused > 0 {
            self.note(format!(
                "{refused} versions of {name} are larger than the topic allows: the topic has a message without the object"
            ));
        }
        Ok(refused)
    }

    /// Nothing more comes of a file.
    fn finish(&mut self, name: &str) -> Result<(), PushError> {
        self.open.remove(name);
        self.sent.entry(name.to_owned()).or_default().is_done = true;
        Ok(self.positions.write(&self.sent)?)
    }

    fn note(&self, text: String) {
        let sink = self.sink.name.clone();
        // With more news than anyone reads, the rest is in the metrics.
        let _full = self.notes.try_send(SinkNote { sink, text });
    }
}

/// Writes the messages of a window to one partition.
struct PartitionWriter<'c> {
    client: &'c TopicClient,
    /// The time of the messages, in milliseconds.
    time: i64,
}

impl PartitionWriter<'_> {
    /// Writes messages, in order. A version that is too large becomes a message without the object. Returns how many are.
    async fn write(&self, partition: usize, part: &[&WindowMessage]) -> Result<u64, TopicError> {
        let all: Vec<TopicMessage> = part.iter().map(|it| it.message.clone()).collect();
        match self.client.write(partition, &all, self.time).await {
            Err(TopicError::TooLarge) => {}
            written => return written.map(|()| 0),
        }
        let mut refused = 0;
        for message in part {
            let own = std::slice::from_ref(&message.message);
            match self.client.write(partition, own, self.time).await {
                Err(TopicError::TooLarge) => {
                    let small = message.without_object().ok_or(TopicError::TooLarge)?;
                    self.client.write(partition, &[small], self.time).await?;
                    refused += 1;
                }
                written => written?,
            }
        }
        Ok(refused)
    }
}

impl WindowMessage {
    /// What stands in the place of a version that the brokers do not take; `None` for other messages.
    fn without_object(&self) -> Option<TopicMessage> {
        let TailEntry { position, entry } = self.entry.as_ref()?;
        let EntryContent::Version(recorded) = &entry.content else {
            return None;
        };
        let entry = RecordEntry {
            source: entry.source.clone(),
            content: EntryContent::Missing {
                version: recorded.version.version.clone(),
                seen: recorded.seen,
                cause: TopicError::TooLarge.to_string(),
            },
        };
        let position = *position;
        self.message.replaced(&TailEntry { position, entry })
    }
}
