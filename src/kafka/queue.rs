//! `FileQueue`: which files of a record a topic gets next, and how many versions of each it does not have.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

use super::positions::{PositionFile, SentFile};
use crate::record::{ClusterFiles, RecordTail, StoreError, StoreFile, TailPosition, recorder_of};

/// The files of a record, and how far each is sent.
pub(super) struct FileQueue {
    files: ClusterFiles,
    positions: PositionFile<BTreeMap<String, SentFile>>,
    sent: BTreeMap<String, SentFile>,
    unsent: BTreeMap<String, UnsentFile>,
}

/// What is not sent of a file that is not done.
#[derive(Default)]
struct UnsentFile {
    /// The number of versions.
    left: u64,
    /// How the file was when they were counted.
    counted: Option<FileStamp>,
    /// How the file was when everything of it was sent and its recorder had not written for a while.
    resting: Option<FileStamp>,
}

/// Two states of a file with the same stamp are the same, unless it is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    written: Option<Timestamp>,
}

/// A file that is not done.
#[derive(Clone, Debug)]
pub(super) struct QueuedFile {
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// Whether its recorder may still write to it.
    pub(super) may_grow: bool,
    recorder: String,
    stamp: FileStamp,
    is_in_use: bool,
}

/// What a look at the record has found.
pub(super) struct QueueLook {
    /// The files to send: the oldest of each recorder.
    pub(super) next: Vec<QueuedFile>,
    /// The files that the record has deleted, with the number of their versions that are not sent.
    pub(super) gone: Vec<(String, u64)>,
    /// Whether there is no file at all.
    pub(super) is_empty: bool,
}

impl FileQueue {
    /// These files, of which nothing is sent.
    pub(super) fn new(
        files: ClusterFiles,
        positions: PositionFile<BTreeMap<String, SentFile>>,
    ) -> FileQueue {
        FileQueue {
            files,
            positions,
            sent: BTreeMap::new(),
            unsent: BTreeMap::new(),
        }
    }

    /// Continues where the run before has stopped.
    pub(super) fn resume(&mut self) -> io::Result<()> {
        self.sent = self.positions.read()?;
        Ok(())
    }

    /// Looks at the files. A later file of a recorder waits for the earlier one: its beginning says that the earlier one has ended.
    pub(super) fn look(&mut self, now: Timestamp) -> Result<QueueLook, StoreError> {
        let listed = self.listed(now)?;
        let names: BTreeSet<&String> = listed.iter().map(|file| &file.name).collect();
        self.sent.retain(|name, _| names.contains(name));
        let gone = self.unsent.iter().filter(|(name, _)| !names.contains(name));
        let gone: Vec<(String, u64)> = gone.map(|(name, file)| (name.clone(), file.left)).collect();
        self.unsent.retain(|name, _| names.contains(name));
        let is_empty = listed.is_empty();
        let mut recorders = BTreeSet::new();
        let mut next = Vec::new();
        for file in listed {
            if self.sent.get(&file.name).is_some_and(|sent| sent.is_done) {
                continue;
            }
            let unsent = self.unsent.entry(file.name.clone()).or_default();
            if !recorders.insert(file.recorder.clone()) {
                unsent.count_once(&file, self.sent.get(&file.name));
            } else if !(file.may_grow && unsent.resting == Some(file.stamp)) {
                next.push(file);
            }
        }
        Ok(QueueLook {
            next,
            gone,
            is_empty,
        })
    }

    /// All files of the record, the oldest first.
    fn listed(&self, now: Timestamp) -> Result<Vec<QueuedFile>, StoreError> {
        let listed = self.files.list()?.into_iter();
        let mut listed: Vec<QueuedFile> = listed
            .filter_map(|file| QueuedFile::of(file, now))
            .collect();
        let mut later = BTreeSet::new();
        for file in listed.iter_mut().rev() {
            // A recorder ends a file before it begins the next one.
            file.may_grow = later.insert(file.recorder.clone());
        }
        Ok(listed)
    }

    /// The position after the last entry of a file that is in the topic; `None` if nothing of it is.
    pub(super) fn position(&self, name: &str) -> Option<TailPosition> {
        self.sent.get(name).map(|sent| sent.position)
    }

    /// Notes how many versions of a file are not sent.
    pub(super) fn count(&mut self, name: &str, left: u64) {
        if let Some(unsent) = self.unsent.get_mut(name) {
            unsent.left = left;
        }
    }

    /// The number of versions of a file that are not sent.
    pub(super) fn left(&self, name: &str) -> u64 {
        self.unsent.get(name).map_or(0, |unsent| unsent.left)
    }

    /// The number of versions of all files that are not sent.
    pub(super) fn waiting(&self) -> u64 {
        self.unsent.values().map(|unsent| unsent.left).sum()
    }

    /// Everything before this position of a file is in the topic.
    pub(super) fn advance(&mut self, name: &str, position: TailPosition) -> io::Result<()> {
        let sent = self.sent.entry(name.to_owned()).or_default();
        sent.position = position;
        self.positions.write(&self.sent)
    }

    /// A file has nothing more at present. Returns whether it rests until somebody writes to it.
    pub(super) fn rest(&mut self, file: &QueuedFile) -> bool {
        let unsent = self.unsent.get_mut(&file.name);
        if let Some(unsent) = unsent.filter(|_| !file.is_in_use) {
            unsent.resting = Some(file.stamp);
        }
        !file.is_in_use
    }

    /// Nothing more comes of a file.
    pub(super) fn finish(&mut self, name: &str) -> io::Result<()> {
        self.unsent.remove(name);
        self.sent.entry(name.to_owned()).or_default().is_done = true;
        self.positions.write(&self.sent)
    }
}

impl QueuedFile {
    /// `None` if the name is not that of a file of a recorder.
    fn of(file: StoreFile, now: Timestamp) -> Option<QueuedFile> {
        let (name, recorder) = recorder_of(&file.path)?;
        Some(QueuedFile {
            name,
            recorder,
            may_grow: true,
            stamp: FileStamp {
                bytes: file.bytes,
                written: file.written,
            },
            is_in_use: file.is_in_use(now),
            path: file.path,
        })
    }
}

impl UnsentFile {
    /// Counts what is not sent of a file that waits for another one, if anything was written since the last time.
    fn count_once(&mut self, file: &QueuedFile, sent: Option<&SentFile>) {
        if self.counted == Some(file.stamp) {
            return;
        }
        self.counted = Some(file.stamp);
        let position = sent.map(|sent| sent.position).unwrap_or_default();
        let tail = RecordTail::open(&file.path, position);
        // Why a file cannot be read is told when its turn comes.
        if let Ok(left) = tail.and_then(|tail| tail.left()) {
            self.left = left;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs::File;
    use std::path::Path;

    use jiff::SignedDuration;

    use super::*;
    use crate::kafka::message::tests::version;
    use crate::record::{RecordHeading, RecordReplay, RecordedCluster, Store};

    /// A directory that is removed after the test.
    pub(in crate::kafka) struct Folder(PathBuf);

    impl Folder {
        pub(in crate::kafka) fn new(name: &str) -> Folder {
            let name = format!("spy-kafka-{name}-{}", std::process::id());
            Folder(std::env::temp_dir().join(name))
        }

        pub(in crate::kafka) fn path(&self) -> &Path {
            &self.0
        }

        /// Records a file of a recorder, with so many versions. It begins on this day.
        pub(in crate::kafka) fn record(&self, recorder: &str, day: u8, versions: i64) {
            let heading = RecordHeading {
                cluster: RecordedCluster {
                    id: "c1".to_owned(),
                    name: "prod".to_owned(),
                    server: String::new(),
                },
                started: format!("2026-03-0{day}T12:00:00Z").parse().expect("a time"),
                redactions: Vec::new(),
            };
            let store = Store::create(&self.0.join("store")).expect("a store");
            let mut file = RecordReplay::begin(&store, heading, recorder).expect("a file");
            for number in 1..=versions {
                let entry = version(number, &format!("web-{}", number % 7)).entry;
                file.take(&entry).expect("taken");
            }
            file.finish().expect("written");
        }

        /// The files of the cluster.
        pub(in crate::kafka) fn files(&self) -> ClusterFiles {
            Store::files_at(&self.0.join("store"), "c1")
        }

        /// A file with positions.
        pub(in crate::kafka) fn positions(&self) -> PositionFile<BTreeMap<String, SentFile>> {
            PositionFile::at(&self.0.join("sent.json"))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _gone = std::fs::remove_dir_all(&self.0);
        }
    }

    /// The files to send.
    fn next(queue: &mut FileQueue, now: Timestamp) -> Vec<QueuedFile> {
        queue.look(now).expect("a look").next
    }

    fn words(files: &[QueuedFile]) -> Vec<&str> {
        files.iter().map(|file| &*file.name).collect()
    }

    #[test]
    fn a_later_file_of_a_recorder_waits_for_the_earlier_one() {
        let folder = Folder::new("order");
        folder.record("aa", 2, 3);
        folder.record("bb", 3, 4);
        folder.record("aa", 4, 5);
        let now = Timestamp::UNIX_EPOCH;
        let mut queue = FileQueue::new(folder.files(), folder.positions());
        let (first, other) = ("20260302T120000000-aa", "20260303T120000000-bb");
        let files = next(&mut queue, now);
        assert_eq!(words(&files), [first, other]);
        assert_eq!((files[0].may_grow, files[1].may_grow), (false, true));
        // What waits is counted, too.
        assert_eq!(queue.waiting(), 5);
        queue.finish(first).expect("written");
        let files = next(&mut queue, now);
        assert_eq!(words(&files), [other, "20260304T120000000-aa"]);
        assert!(files[1].may_grow);
    }

    #[test]
    fn a_file_of_a_recorder_that_has_ended_rests_until_it_is_written_again() {
        let folder = Folder::new("rest");
        folder.record("aa", 2, 3);
        let written = folder.files().list().expect("files")[0].written;
        let written = written.expect("a time");
        let later = |minutes| written + SignedDuration::from_mins(minutes);
        let mut queue = FileQueue::new(folder.files(), folder.positions());
        let files = next(&mut queue, later(1));
        assert!(!queue.rest(&files[0]), "it is in use");
        let files = next(&mut queue, later(3));
        assert!(queue.rest(&files[0]));
        assert_eq!(words(&next(&mut queue, later(4))), [""; 0]);
        let file = File::options().append(true).open(&files[0].path);
        let touched = file.expect("a file").set_modified(later(5).into());
        touched.expect("touched");
        assert_eq!(next(&mut queue, later(9)).len(), 1);
        // A later file ends it.
        let files = next(&mut queue, later(9));
        assert!(queue.rest(&files[0]));
        folder.record("aa", 4, 1);
        let files = next(&mut queue, later(9));
        assert_eq!(words(&files), ["20260302T120000000-aa"]);
        assert!(!files[0].may_grow);
    }
}
