//! `RecordPush`: sends the record of a cluster to a topic. The files of the record are the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::try_join_all;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::address::TopicSink;
use super::client::TopicClient;
use super::error::TopicError;
use super::message::{TopicMessage, partition_of};
use super::positions::{PositionFile, SentFile, TopicProgress};
use super::push_files::{FilesError, PushFiles, WindowMessage};
use super::queue::QueuedFile;
use crate::record::{ClusterFiles, StoreError};
use crate::sink::{RetryWaits, SinkNote, ToldOutage, on_thread};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long brokers that are away are left alone at most. A connection costs them little.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What sends a record to a topic.
pub struct RecordPush {
    sink: Arc<TopicSink>,
    /// One thread at a time uses them, so the lock is never waited for.
    files: Arc<Mutex<PushFiles>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    notes: mpsc::Sender<SinkNote>,
    progress: TopicProgress,
    waits: RetryWaits,
    outage: ToldOutage,
    client: Option<TopicClient>,
    /// The time of the last messages, in milliseconds. Those of the next window have a later one.
    time: i64,
    /// Whether it is said that there is no record.
    is_told: bool,
    /// The files of which it is said that they wait.
    told: BTreeSet<String>,
}

/// Why nothing is sent at present.
#[derive(Debug, thiserror::Error)]
enum PushError {
    #[error("{0}")]
    Topic(#[from] TopicError),
    #[error("{0}")]
    Files(#[from] FilesError),
}

impl From<io::Error> for PushError {
    fn from(error: io::Error) -> PushError {
        PushError::Files(error.into())
    }
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
        let files = PushFiles::new(files, positions, sink.format);
        RecordPush {
            sink,
            files: Arc::new(Mutex::new(files)),
            clock,
            notes,
            progress: TopicProgress::default(),
            waits: RetryWaits::default(),
            outage: ToldOutage::default(),
            client: None,
            time: 0,
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

    /// Does work with the files on another thread: a slow disk delays nobody else.
    async fn with_files<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut PushFiles) -> T + Send + 'static,
    ) -> T {
        let (files, progress) = (self.files.clone(), self.progress.clone());
        on_thread(move || {
            let _alone = progress.lock_files();
            let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
            let done = work(&mut files);
            progress.lock().waiting = files.waiting();
            done
        })
        .await
    }

    /// Sends a window of each file that is next. Returns whether there may be more at once.
    async fn round(&mut self) -> Result<bool, PushError> {
        let now = (self.clock)();
        let look = self.with_files(move |files| files.look(now)).await?;
        if look.is_empty && !self.is_told {
            self.is_told = true;
            self.note("no record of this cluster: start one with `kubectl spy record`".to_owned());
        }
        for (name, left) in look.gone.iter().filter(|(_, left)| *left > 0) {
            self.progress.lock().dropped += left;
            self.note(format!(
                "{left} versions are dropped: the record has deleted {name}"
            ));
        }
        let mut ready = Vec::new();
        for (file, opened) in look.next {
            match opened {
                Ok(()) => ready.push(file),
                Err(error) => self.give_up(&file, &error).await?,
            }
        }
        let mut has_more = false;
        for file in ready {
            let sent = self.send(&file).await;
            if sent.is_err() {
                // What has been read of it is read again.
                self.with_files(move |files| files.close(&file.name)).await;
            }
            has_more |= sent?;
        }
        Ok(has_more)
    }

    /// A file that cannot be read to its end. Damage stays; everything else may go away.
    async fn give_up(&mut self, file: &QueuedFile, error: &StoreError) -> Result<(), PushError> {
        let name = file.name.clone();
        if is_damage(file, error) {
            let finish = move |files: &mut PushFiles| (files.left(&name), files.finish(&name));
            let (left, finished) = self.with_files(finish).await;
            self.progress.lock().dropped += left;
            let dropped = match left {
                0 => String::new(),
                left => format!(", {left} versions are dropped"),
            };
            self.note(format!(
                "{error}: the rest of the file is not sent{dropped}"
            ));
            return Ok(finished?);
        }
        self.with_files(move |files| files.close(&name)).await;
        if self.told.insert(file.name.clone()) {
            self.note(format!(
                "{error}: the file waits, and the later files of its recorder"
            ));
        }
        Ok(())
    }

    /// Sends the next window of a file. Returns whether there may be more at once, of this file or of the next one.
    async fn send(&mut self, file: &QueuedFile) -> Result<bool, PushError> {
        let name = file.name.clone();
        let window = match self.with_files(move |files| files.window(&name)).await {
            Ok(window) => window,
            Err(error) => {
                self.give_up(file, &error).await?;
                return Ok(is_damage(file, &error));
            }
        };
        if window.is_empty() {
            let ended = file.clone();
            self.with_files(move |files| files.end(&ended)).await?;
            return Ok(!file.may_grow);
        }
        let refused = self.write(&file.name, &window).await?;
        self.waits.reset();
        if self.outage.end() {
            self.note("versions are sent again".to_owned());
        }
        let name = file.name.clone();
        self.with_files(move |files| files.advance(&name)).await?;
        let mut counts = self.progress.lock();
        counts.delivered += u64::try_from(window.len()).unwrap_or(u64::MAX) - refused;
        counts.refused += refused;
        Ok(true)
    }

    /// Writes a window to the partitions. Returns how many versions the brokers have refused.
    async fn write(&mut self, name: &str, window: &[WindowMessage]) -> Result<u64, PushError> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => TopicClient::connect(&self.sink.topic).await?,
        };
        let now = (self.clock)();
        if client.is_look_due(now) {
            client.look(now).await?;
        }
        self.time = (self.time + 1).max(now.as_millisecond());
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

    fn note(&self, text: String) {
        let sink = self.sink.name.clone();
        // With more news than anyone reads, the rest is in the metrics.
        let _full = self.notes.try_send(SinkNote { sink, text });
    }
}

/// Whether the rest of a file can never be read. SQLite may call a file malformed while it is being written.
fn is_damage(file: &QueuedFile, error: &StoreError) -> bool {
    let is_damaged = matches!(
        error,
        StoreError::Damaged { .. } | StoreError::Foreign { .. }
    );
    is_damaged || (!file.may_grow && error.is_malformed())
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

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use rusqlite::Connection;

    use super::*;
    use crate::kafka::address::{Security, TopicAddress};
    use crate::kafka::client::FetchedMessage;
    use crate::kafka::queue::tests::Folder;
    use crate::kafka::{Arrival, MessageFormat, TopicReader};
    use crate::record::RetentionPolicy;

    /// A topic that nobody has.
    fn address() -> TopicAddress {
        TopicAddress::parse("kafka://127.0.0.1:1/spy", Security::default()).expect("an address")
    }

    /// A push of the record in a folder, with its news.
    fn push(folder: &Folder) -> (RecordPush, mpsc::Receiver<SinkNote>) {
        let sink = TopicSink {
            name: "bus".to_owned(),
            topic: address(),
            format: MessageFormat::default(),
        };
        let clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        let push = RecordPush::new(Arc::new(sink), folder.files(), folder.positions(), clock);
        let (notes, received) = mpsc::channel(10);
        (push.telling(notes, TopicProgress::default()), received)
    }

    /// The windows that the brokers get until nothing is left, if they take everything.
    fn windows(push: &RecordPush) -> Vec<Vec<WindowMessage>> {
        let mut windows = Vec::new();
        loop {
            let mut files = push.files.lock().expect("no panic");
            let look = files.look(Timestamp::UNIX_EPOCH).expect("a look");
            let mut has_more = false;
            for (file, opened) in look.next {
                opened.expect("a file");
                let window = files.window(&file.name).expect("a window");
                if window.is_empty() {
                    files.end(&file).expect("written");
                    has_more |= !file.may_grow;
                } else {
                    files.advance(&file.name).expect("written");
                    windows.push(window);
                    has_more = true;
                }
            }
            if !has_more {
                return windows;
            }
        }
    }

    #[test]
    fn a_backlog_of_two_files_of_a_recorder_is_read_back_whole() {
        let folder = Folder::new("backlog");
        folder.record("aa", 2, 1200);
        folder.record("aa", 3, 700);
        folder.record("bb", 3, 10);
        let (push, _notes) = push(&folder);
        let retention = RetentionPolicy {
            keep: Duration::MAX,
            max_bytes: u64::MAX,
        };
        let copy = folder.path().join("copy");
        let mut reader = TopicReader::open(address(), &copy, retention).expect("a reader");
        for (time, window) in (1..).zip(windows(&push)) {
            for WindowMessage { message, .. } in window {
                let fetched = FetchedMessage {
                    offset: 0,
                    time,
                    message,
                };
                reader
                    .take(0, &fetched, Arrival::Before(time))
                    .expect("recorded");
            }
        }
        assert_eq!(reader.take_notes(), [""; 0]);
        assert_eq!((reader.counts().versions, reader.counts().lost), (1910, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_during_an_outage_is_counted_and_what_is_deleted_is_dropped() {
        let folder = Folder::new("outage");
        folder.record("aa", 2, 3);
        folder.record("aa", 3, 4);
        let (mut push, mut notes) = push(&folder);
        for _ in 0..2 {
            push.round().await.expect_err("nobody there");
            assert_eq!(push.progress.counts().waiting, 7);
        }
        let files = folder.files().list().expect("files");
        files[0].remove().expect("removed");
        push.round().await.expect_err("nobody there");
        let counts = push.progress.counts();
        assert_eq!((counts.waiting, counts.dropped), (4, 3));
        files[1].remove().expect("removed");
        push.round().await.expect("nothing to send");
        let counts = push.progress.counts();
        assert_eq!((counts.waiting, counts.dropped), (0, 7));
        let note = notes.try_recv().expect("a note").text;
        assert_eq!(
            note,
            "3 versions are dropped: the record has deleted 20260302T120000000-aa"
        );
    }

    #[tokio::test]
    async fn entries_before_damage_are_sent_and_the_rest_is_counted() {
        let folder = Folder::new("damage");
        folder.record("aa", 2, 400);
        let path = folder.files().list().expect("files")[0].path.clone();
        let db = Connection::open(&path).expect("a database");
        db.execute("DELETE FROM version WHERE id = 300", [])
            .expect("deleted");
        drop(db);
        let (mut push, mut notes) = push(&folder);
        let file = {
            let mut files = push.files.lock().expect("no panic");
            let look = files.look(Timestamp::UNIX_EPOCH).expect("a look");
            let (file, _) = look.next.into_iter().next().expect("a file");
            let window = files.window(&file.name).expect("the entries before");
            let sent = window.iter().filter(|it| it.entry.is_some()).count();
            assert_eq!(sent, 256);
            files.advance(&file.name).expect("written");
            file
        };
        push.send(&file).await.expect("nothing to send");
        let counts = push.progress.counts();
        assert_eq!((counts.delivered, counts.dropped), (0, 144));
        let note = notes.try_recv().expect("a note").text;
        let (_, cause) = note.split_once(": ").expect("a path");
        assert_eq!(
            cause,
            "damaged: a row of version is missing: the rest of the file is not sent, 144 versions are dropped"
        );
        let mut files = push.files.lock().expect("no panic");
        let look = files.look(Timestamp::UNIX_EPOCH).expect("a look");
        assert_eq!(look.next.len(), 0);
    }

    /// The file with the positions is a pipe: to read it takes as long as its writer likes.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_disk_that_hangs_delays_only_the_topic() {
        let folder = Folder::new("hang");
        folder.record("aa", 2, 1);
        let pipe = folder.path().join("sent.json");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0)
            .expect("a pipe");
        let (mut push, _notes) = push(&folder);
        let mut round = Box::pin(push.round());
        assert!((&mut round).now_or_never().is_none());
        let written = on_thread(move || std::fs::write(&pipe, "{}"));
        let (written, sent) = futures::join!(written, round);
        written.expect("written");
        sent.expect_err("nobody there");
    }
}
