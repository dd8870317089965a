//! `TopicReader`: reads a topic back into a record.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::address::TopicAddress;
use super::client::{FetchedMessage, TopicClient};
use super::error::TopicError;
use super::message::FileLabel;
use super::order::{Arrival, EntryOrder, FilePlace, OrderedEntry};
use super::partition::PartitionPlace;
use super::positions::PositionFile;
use crate::record::{
    EntryContent, RecordEntry, RecordReplay, RetentionPolicy, Store, StoreError, UndeletedNews,
};

/// How many messages are taken before they are written to the disk.
const BATCH: u64 = 20_000;

/// How far a topic has been read, as it is kept between two runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ReadTopic {
    /// The next offset of each partition.
    offsets: Vec<i64>,
    files: Vec<ReadFile>,
}

/// A file of a record, and how far it has been read.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ReadFile {
    cluster: String,
    file: String,
    next: FilePlace,
}

/// Why a topic cannot be read into a record.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The brokers do not give what is needed. It may go away.
    #[error("{0}")]
    Topic(#[from] TopicError),
    /// The record cannot be written.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// How far it has come cannot be kept.
    #[error("{0}")]
    Position(#[from] io::Error),
    /// Another program reads the topic into the same directory.
    #[error("another kubectl spy reads topics into this directory")]
    InUse,
    /// The record could not be written before, so the next run reads the topic again from there.
    #[error("an earlier write has failed")]
    Broken,
}

/// What was read since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// The versions that are recorded.
    pub versions: u64,
    /// The messages of other programs, or of a newer version of this one.
    pub foreign: u64,
    /// The versions that are missing, each of them a gap.
    pub missing: u64,
    /// The files of which messages are lost, so that the rest of the file is not recorded.
    pub lost: u64,
    /// The clusters, by their ids, with the names under which they were recorded.
    pub clusters: BTreeMap<String, String>,
}

/// What reads a topic.
pub struct TopicReader {
    address: TopicAddress,
    store: Store,
    retention: RetentionPolicy,
    positions: PositionFile<ReadTopic>,
    client: Option<TopicClient>,
    partitions: Vec<PartitionPlace>,
    order: EntryOrder,
    /// The files that have begun in this round. Something of the files before them may still come.
    begun: Vec<FileLabel>,
    /// The same, of the round before.
    begun_before: Vec<FileLabel>,
    replays: BTreeMap<FileLabel, RecordReplay>,
    counts: ReadCounts,
    /// What of it is written to the disk.
    saved: ReadCounts,
    unsaved: u64,
    /// Whether the record could not be written. What has come since the last save is then lost here, so no position after it
    /// is kept: the next run reads it again.
    is_broken: bool,
    /// News for the user.
    notes: Vec<String>,
    undeleted: UndeletedNews,
    /// Held for as long as the reader lives.
    _lock: std::fs::File,
}

impl TopicReader {
    /// Reads into the store in this directory, from where an earlier run has stopped.
    pub fn open(
        address: TopicAddress,
        directory: &Path,
        retention: RetentionPolicy,
    ) -> Result<TopicReader, ReadError> {
        let store = Store::create(directory)?;
        let name = format!(
            "topic-{:08x}",
            crc32fast::hash(address.to_string().as_bytes())
        );
        let lock = lock(&directory.join("topics.lock"))?;
        let positions: PositionFile<ReadTopic> =
            PositionFile::at(&directory.join(format!("{name}.json")));
        let ReadTopic { offsets, files } = positions.read()?;
        let partitions = offsets.into_iter().map(PartitionPlace::at);
        let places = files.into_iter().map(|file| {
            let label = FileLabel {
                cluster: file.cluster,
                file: file.file,
            };
            (label, file.next)
        });
        Ok(TopicReader {
            address,
            store,
            retention,
            positions,
            client: None,
            partitions: partitions.collect(),
            order: EntryOrder::resume(places),
            begun: Vec::new(),
            begun_before: Vec::new(),
            replays: BTreeMap::new(),
            counts: ReadCounts::default(),
            saved: ReadCounts::default(),
            unsaved: 0,
            is_broken: false,
            notes: Vec::new(),
            undeleted: UndeletedNews::default(),
            _lock: lock,
        })
    }

    /// What was read since the start.
    pub fn counts(&self) -> &ReadCounts {
        &self.counts
    }

    /// The news since the last call.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Reads everything that the topic has now, and writes it to the disk. Returns whether there was anything. After an error of
    /// the brokers, the next call goes on.
    pub async fn round(&mut self, now: Timestamp) -> Result<bool, ReadError> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => TopicClient::connect(&self.address).await?,
        };
        self.begin_round(&mut client, now).await?;
        let mut is_new = false;
        while let Some((at, message, arrival)) = self.next(&client).await? {
            is_new = true;
            self.take(at, &message, arrival)?;
            self.unsaved += 1;
            if self.unsaved >= BATCH {
                self.save(now)?;
            }
        }
        for (label, entry) in self.order.end_round() {
            is_new = true;
            self.apply(&label, entry)?;
        }
        let begun = std::mem::take(&mut self.begun);
        for label in std::mem::replace(&mut self.begun_before, begun) {
            is_new = true;
            self.end_before(&label)?;
        }
        if is_new {
            self.save(now)?;
        }
        self.client = Some(client);
        Ok(is_new)
    }

    /// Notes where the partitions end. Before that it looks for new ones, now and then and before an entry is called lost.
    async fn begin_round(
        &mut self,
        client: &mut TopicClient,
        now: Timestamp,
    ) -> Result<(), TopicError> {
        self.add_partitions(client);
        if client.is_look_due(now) || self.order.is_in_doubt() {
            for (at, partition) in self.partitions.iter_mut().enumerate() {
                partition.look(client.end(at).await?);
            }
            client.look(now).await?;
            self.add_partitions(client);
        }
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            if partition.begin_round(client.end(at).await?) {
                self.notes.push(format!(
                    "partition {at} has less than was read of it: it is another one, and is read from its beginning"
                ));
            }
        }
        Ok(())
    }

    fn add_partitions(&mut self, client: &TopicClient) {
        self.partitions
            .resize_with(client.partitions(), PartitionPlace::default);
    }

    /// Writes the rest, and ends the files. If the record could not be written, they stay as they are. Returns what is written.
    pub fn finish(mut self, now: Timestamp) -> Result<ReadCounts, ReadError> {
        if !self.is_broken {
            self.save(now)?;
            for (_, replay) in std::mem::take(&mut self.replays) {
                replay.finish()?;
            }
        }
        Ok(self.saved)
    }

    /// The oldest message of all partitions in this round, and which partition it is from.
    async fn next(
        &mut self,
        client: &TopicClient,
    ) -> Result<Option<(usize, FetchedMessage, Arrival)>, TopicError> {
        let mut oldest: Option<(i64, usize)> = None;
        for (at, partition) in self.partitions.iter_mut().enumerate() {
            while let Some(offset) = partition.to_fetch() {
                partition.add(client.read(at, offset).await?)?;
            }
            let next = partition.next_time().map(|time| (time, at));
            oldest = oldest.into_iter().chain(next).min();
        }
        Ok(oldest.and_then(|(_, at)| {
            let (message, arrival) = self.partitions.get_mut(at)?.next()?;
            Some((at, message, arrival))
        }))
    }

    /// Takes a message of a partition.
    pub(super) fn take(
        &mut self,
        at: usize,
        fetched: &FetchedMessage,
        arrival: Arrival,
    ) -> Result<(), StoreError> {
        let Some(message) = fetched.message.read() else {
            self.counts.foreign += 1;
            return Ok(());
        };
        let (label, number) = (message.label.clone(), message.number);
        let mut begun = self.begun.iter().chain(&self.begun_before);
        if self.order.is_over(&label) && !begun.any(|begun| label.is_before(begun)) {
            return Ok(());
        }
        for entry in self.order.take(message, arrival) {
            let is_begin = matches!(entry, OrderedEntry::Begin(_));
            self.apply(&label, entry)?;
            match arrival {
                Arrival::Before(_) if is_begin => self.end_before(&label)?,
                Arrival::Since if is_begin => self.begun.push(label.clone()),
                Arrival::Before(_) | Arrival::Since => {}
            }
        }
        if let Some(partition) = self.partitions.get_mut(at)
            && self.order.waits(&label, number)
        {
            partition.wait(fetched.offset, label, number);
        }
        Ok(())
    }

    fn apply(&mut self, label: &FileLabel, entry: OrderedEntry) -> Result<(), StoreError> {
        let written = self.write(label, entry);
        self.is_broken |= written.is_err();
        written
    }

    fn write(&mut self, label: &FileLabel, entry: OrderedEntry) -> Result<(), StoreError> {
        match entry {
            OrderedEntry::Begin(heading) => {
                let cluster = &heading.cluster;
                let known = (cluster.id.clone(), cluster.name.clone());
                self.counts.clusters.extend([known]);
                let replay = RecordReplay::begin(&self.store, heading, label.recorder())?;
                self.replays.insert(label.clone(), replay);
            }
            OrderedEntry::Entry(entry) => self.record(label, &entry)?,
            OrderedEntry::Lost { count } => {
                self.counts.lost += 1;
                self.notes.push(format!(
                    "{count} or more messages of {} are not in the topic: the rest of it is not recorded",
                    label.file
                ));
                self.end_files(|known| known == label)?;
            }
        }
        Ok(())
    }

    /// Ends the files of a recorder before this one. Everything of them has been read.
    fn end_before(&mut self, label: &FileLabel) -> Result<(), StoreError> {
        for (label, entry) in self.order.forget_before(label) {
            self.apply(&label, entry)?;
        }
        let ended = self.end_files(|known| known.is_before(label));
        self.is_broken |= ended.is_err();
        ended
    }

    fn record(&mut self, label: &FileLabel, entry: &RecordEntry) -> Result<(), StoreError> {
        if !self.replays.contains_key(label) {
            let (cluster, recorder) = (&label.cluster, label.recorder());
            let Some(resumed) = RecordReplay::resume(&self.store, cluster, recorder)? else {
                return Ok(());
            };
            self.replays.insert(label.clone(), resumed);
        }
        let Some(replay) = self.replays.get_mut(label) else {
            return Ok(());
        };
        replay.take(entry)?;
        let known = (label.cluster.clone(), entry.source.cluster.0.to_string());
        self.counts.clusters.extend([known]);
        match entry.content {
            EntryContent::Version(_) => self.counts.versions += 1,
            EntryContent::Missing { .. } => self.counts.missing += 1,
            EntryContent::Mark { .. } | EntryContent::Reached { .. } => {}
        }
        Ok(())
    }

    fn end_files(&mut self, ends: impl Fn(&FileLabel) -> bool) -> Result<(), StoreError> {
        let labels: Vec<FileLabel> = self.replays.keys().cloned().collect();
        for label in labels.iter().filter(|label| ends(label)) {
            self.replays
                .remove(label)
                .map_or(Ok(()), RecordReplay::finish)?;
        }
        Ok(())
    }

    /// Writes everything to the disk, and then how far it has come.
    fn save(&mut self, now: Timestamp) -> Result<(), ReadError> {
        if self.is_broken {
            return Err(ReadError::Broken);
        }
        self.unsaved = 0;
        let mut written: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for (label, replay) in &mut self.replays {
            let file = replay.save().inspect_err(|_| self.is_broken = true)?;
            written.entry(&label.cluster).or_default().push(file);
        }
        let mut retained = Ok(());
        for (cluster, written) in written {
            let files = self.store.cluster(cluster);
            retained = retained.and(self.retention.apply(&files, &written, now));
        }
        if !self.replays.is_empty() {
            let undeleted = retained.err().map(|error| error.to_string());
            self.notes.extend(self.undeleted.line(undeleted.as_deref()));
        }
        self.saved = self.counts.clone();
        // What still comes of a file that has ended would be taken for a part of the next one.
        if !self.begun.is_empty() || !self.begun_before.is_empty() {
            return Ok(());
        }
        let order = &self.order;
        let partitions = self.partitions.iter_mut();
        let offsets = partitions
            .map(|partition| partition.resume_offset(|label, number| order.waits(label, number)))
            .collect();
        let files = self.order.places().map(|(label, next)| ReadFile {
            cluster: label.cluster.clone(),
            file: label.file.clone(),
            next,
        });
        self.positions.write(&ReadTopic {
            offsets,
            files: files.collect(),
        })?;
        Ok(())
    }
}

/// The right to read topics into a directory.
fn lock(path: &Path) -> Result<std::fs::File, ReadError> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.create(true).append(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(ReadError::InUse),
        Err(std::fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::kafka::client::FetchedPart;
    use crate::kafka::message::tests::{label, version};
    use crate::kafka::queue::tests::Folder;
    use crate::kafka::{FileSender, MessageFormat, Security, TopicMessage};
    use crate::record::{RecordHeading, RecordedCluster};

    fn now() -> Timestamp {
        "2026-03-02T12:00:00Z".parse().expect("a time")
    }

    fn open(directory: &Path) -> TopicReader {
        let address = TopicAddress::parse("kafka://localhost:9092/records", Security::default());
        let retention = RetentionPolicy {
            keep: Duration::from_secs(1 << 40),
            max_bytes: 1 << 40,
        };
        let reader = TopicReader::open(address.expect("an address"), directory, retention);
        reader.expect("a reader")
    }

    fn begin() -> OrderedEntry {
        let cluster = RecordedCluster {
            id: "c1".to_owned(),
            name: "test".to_owned(),
            server: "localhost:6443".to_owned(),
        };
        OrderedEntry::Begin(RecordHeading {
            cluster,
            started: now(),
            redactions: Vec::new(),
        })
    }

    /// A message of a file: its number, and what was in the topic before.
    fn message(file: &str, number: i64, sent: i64) -> TopicMessage {
        let label = label(file);
        let sender = FileSender {
            label: &label,
            cluster: "prod",
            sent,
            format: MessageFormat::default(),
        };
        if number > 0 {
            return sender.entry(&version(number, "web"));
        }
        sender.begin(&RecordHeading {
            cluster: RecordedCluster {
                id: "c1".to_owned(),
                name: "prod".to_owned(),
                server: String::new(),
            },
            started: "2026-03-02T12:00:00Z".parse().expect("a time"),
            redactions: Vec::new(),
        })
    }

    /// A version of an object whose name cannot be packed.
    fn noisy_version(number: i64) -> OrderedEntry {
        let mut random = fastrand::Rng::with_seed(number.unsigned_abs());
        let noise = std::iter::repeat_with(|| random.alphanumeric()).take(30);
        OrderedEntry::Entry(version(number, &noise.collect::<String>()).entry)
    }

    /// Two recorders of one cluster, of which the older one has sent nothing for a while.
    #[test]
    fn a_file_that_is_not_at_its_end_is_not_deleted() {
        let directory = std::env::temp_dir().join(format!("spy-pull-two-{}", std::process::id()));
        let mut reader = open(&directory);
        reader.retention.max_bytes = 1;
        for name in ["20260302T120000000-one", "20260302T120001000-two"] {
            let label = label(name);
            reader.apply(&label, begin()).expect("begun");
            reader.apply(&label, noisy_version(3)).expect("taken");
        }
        let later = "2100-01-01T00:00:00Z".parse().expect("a time");
        reader.save(later).expect("written");
        let files = reader.store.cluster("c1").list().expect("files");
        assert_eq!(files.len(), 2);
        reader.finish(later).expect("written");
        std::fs::remove_dir_all(&directory).expect("removed");
    }

    /// A full disk: what does not fit is read again by the next run, from the position of the last save.
    #[test]
    fn a_full_disk_moves_no_position_and_damages_no_file() {
        let directory = std::env::temp_dir().join(format!("spy-pull-{}", std::process::id()));
        let mut reader = open(&directory);
        let label = label("20260302T120000000-other");
        reader.apply(&label, begin()).expect("begun");
        reader.apply(&label, noisy_version(3)).expect("taken");
        reader.save(now()).expect("written");
        let positions = reader.positions.clone();
        let saved = || serde_json::to_string(&positions.read().expect("positions")).expect("JSON");
        let before = saved();
        reader.partitions.push(PartitionPlace::at(402));
        for number in 4..404 {
            reader.apply(&label, noisy_version(number)).expect("taken");
        }
        reader.replays[&label].limit_pages(1);
        assert!(reader.save(now()).is_err());
        assert!(reader.save(now()).is_err(), "a hole that nobody sees");
        let counts = reader.finish(now()).expect("nothing left to do");
        assert_eq!(counts.versions, 1, "only what is on the disk");
        assert_eq!(saved(), before);
        let mut next = open(&directory);
        next.apply(&label, noisy_version(4)).expect("a whole file");
        next.finish(now()).expect("written");
        std::fs::remove_dir_all(&directory).expect("removed");
    }

    /// Reads a topic with these partitions from where the run before has stopped, and stops.
    fn run(folder: &Folder, partitions: &[&[(&str, i64, i64)]]) -> (ReadTopic, ReadCounts) {
        let address = TopicAddress::parse("kafka://127.0.0.1:1/spy", Security::default());
        let retention = RetentionPolicy {
            keep: std::time::Duration::MAX,
            max_bytes: u64::MAX,
        };
        let reader = TopicReader::open(address.expect("an address"), folder.path(), retention);
        let mut reader = reader.expect("a reader");
        reader
            .partitions
            .resize_with(partitions.len(), PartitionPlace::default);
        for (at, messages) in partitions.iter().enumerate() {
            let end = i64::try_from(messages.len()).expect("few");
            reader.partitions[at].look(end);
            reader.partitions[at].begin_round(end);
            let all = messages.iter().enumerate();
            let all = all.map(|(offset, (file, number, sent))| FetchedMessage {
                offset: i64::try_from(offset).expect("few"),
                time: *number,
                message: message(file, *number, *sent),
            });
            if let Some(from) = reader.partitions[at].to_fetch() {
                let part = FetchedPart {
                    from,
                    messages: all.filter(|it| it.offset >= from).collect(),
                    watermark: end,
                };
                reader.partitions[at].add(part).expect("in order");
            }
            while reader.partitions[at].next_time().is_some() {
                let (message, arrival) = reader.partitions[at].next().expect("a message");
                reader.take(at, &message, arrival).expect("recorded");
            }
        }
        assert!(reader.order.end_round().is_empty());
        let positions = reader.positions.clone();
        let counts = reader.finish(Timestamp::UNIX_EPOCH).expect("written");
        (positions.read().expect("positions"), counts)
    }

    #[test]
    fn a_sender_that_stops_amid_a_window_holds_only_its_own_partition() {
        let folder = Folder::new("held");
        // The second entry of the file is not there yet.
        let first: &[_] = &[("f-a", 0, 0), ("f-a", 2, 1)];
        let second: &[_] = &[("g-b", 0, 0), ("g-b", 1, 1), ("g-b", 2, 1)];
        let (read, counts) = run(&folder, &[first, second]);
        assert_eq!((read.offsets, counts.versions), (vec![1, 3], 2));
        let places = serde_json::to_string(&read.files[0].next).expect("a number");
        assert_eq!((read.files.len(), &*places), (2, "1"));
        // The rest of the window comes when another run reads.
        let more = [second, &[("f-a", 1, 1)]].concat();
        let (read, counts) = run(&folder, &[first, &more]);
        assert_eq!((read.offsets, counts.versions), (vec![2, 4], 2));
        assert_eq!(counts.lost, 0);
    }
}
