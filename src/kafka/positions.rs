//! How far something has come: `PositionFile`, a file that survives a restart, and `TopicProgress`, the numbers of one run.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::TailPosition;
use crate::serve::SinkCounts;

/// How much of a file of the record is sent. A file that is not known has not begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    /// The position after the last entry that is in the topic.
    pub position: TailPosition,
    /// Whether nothing more can come.
    pub is_done: bool,
}

/// The numbers of a push, which the metrics show.
#[derive(Clone, Debug, Default)]
pub struct TopicProgress {
    counts: Arc<Mutex<SinkCounts>>,
    /// Who reads the files of the record or writes positions. After a new configuration, the push before may still do so.
    #[cfg(feature = "kafka")]
    files: Arc<Mutex<()>>,
}

impl TopicProgress {
    /// The numbers now. `waiting` counts the versions of the record that are not yet in the topic.
    pub fn counts(&self) -> SinkCounts {
        *self.lock()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SinkCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other push of the topic uses the files. It blocks.
    #[cfg(feature = "kafka")]
    pub(super) fn lock_files(&self) -> MutexGuard<'_, ()> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A small file with a value as JSON. It is replaced as a whole, so it is always that of one moment.
#[derive(Clone, Debug)]
pub struct PositionFile<T> {
    path: PathBuf,
    value: PhantomData<fn() -> T>,
}

impl<T: Default + Serialize + DeserializeOwned> PositionFile<T> {
    /// The file at this path.
    pub fn at(path: &Path) -> PositionFile<T> {
        PositionFile {
            path: path.to_owned(),
            value: PhantomData,
        }
    }

    /// What it has; the default if there is no file.
    pub fn read(&self) -> io::Result<T> {
        let text = match fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(T::default()),
            text => text.map_err(|error| self.error(&error))?,
        };
        serde_json::from_slice(&text).map_err(|error| self.error(&error.into()))
    }

    /// Replaces what it has.
    pub fn write(&self, value: &T) -> io::Result<()> {
        self.replace(value).map_err(|error| self.error(&error))
    }

    fn replace(&self, value: &T) -> io::Result<()> {
        let mut directory = DirBuilder::new();
        directory.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut directory, 0o700);
        let parent = self.path.parent().unwrap_or(Path::new(""));
        directory.create(parent)?;
        let mut draft = self.path.as_os_str().to_owned();
        draft.push(".new");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&draft)?;
        file.write_all(&serde_json::to_vec(value)?)?;
        file.sync_all()?;
        fs::rename(&draft, &self.path)?;
        sync_directory(parent)
    }

    fn error(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
    }
}

impl PositionFile<BTreeMap<String, SentFile>> {
    /// The file of a sink beside the record of a cluster.
    pub fn of_sink(directory: &Path, cluster: &str, sink: &str) -> Self {
        // Two names are never one path.
        let plain = |text: &str| {
            text.replace(
                |letter: char| !letter.is_ascii_alphanumeric() && letter != '-',
                "_",
            )
        };
        let sum = crc32fast::hash(sink.as_bytes());
        let name = format!("kafka-{}-{}-{sum:08x}.json", plain(cluster), plain(sink));
        PositionFile::at(&directory.join(name))
    }
}

/// Makes the names in a directory survive a power failure, as far as its file system can.
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let path = Some(path).filter(|path| !path.as_os_str().is_empty());
    match File::open(path.unwrap_or(Path::new(".")))?.sync_all() {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written() {
        let directory = std::env::temp_dir().join(format!("spy-positions-{}", std::process::id()));
        let file = PositionFile::of_sink(&directory, "c/1", "my bus");
        assert_eq!(file.read().expect("nothing yet"), BTreeMap::new());
        let position = TailPosition {
            versions: 3,
            marks: 2,
        };
        let sent = SentFile {
            position,
            is_done: true,
        };
        let known = BTreeMap::from([("f-a".to_owned(), sent)]);
        for value in [&BTreeMap::new(), &known] {
            file.write(value).expect("written");
            assert_eq!(&file.read().expect("read"), value);
        }
        let other = PositionFile::of_sink(&directory, "c/1", "my_bus");
        assert_eq!(other.read().expect("nothing yet"), BTreeMap::new());
        fs::write(&file.path, "{").expect("written");
        assert!(file.read().is_err());
        fs::remove_dir_all(&directory).expect("removed");
    }
}
