//! `UnreadStoreFiles`: the files of a record that cannot be read, and when they may have recorded.
//!
//! Each file begins with a snapshot, so the others need none of them. But nobody may say of their time that nothing happened,
//! or that nobody recorded.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::covered_revisions::CoveredRevisions;
use super::error::StoreError;
use super::file_reader::StoreFileReader;
use super::replay::recorder_of;
use super::store::{ClusterFiles, MILLISECOND, StoreFile, begun};
use crate::object::counted;

/// A recorder that starts reads back what the record lacks. Another one that has just started may not have written the same
/// yet, and its file begins earlier.
const READ_BACK: SignedDuration = SignedDuration::from_secs(60);

/// The files of a cluster that cannot be read.
#[derive(Default)]
pub struct UnreadStoreFiles {
    /// All files, the oldest first.
    listed: Vec<StoreFile>,
    unread: Vec<UnreadStoreFile>,
}

/// A file that cannot be read. Its name, and those of the files beside it, tell when it may have recorded.
struct UnreadStoreFile {
    error: StoreError,
    /// When it begins at the earliest; `None` if its name does not say.
    since: Option<Timestamp>,
    /// When its recorder began the next file; `None` if there is none.
    until: Option<Timestamp>,
}

impl UnreadStoreFiles {
    /// Lists the files of a cluster. A log without its file is one of those that cannot be read.
    pub fn list(files: &ClusterFiles) -> Result<UnreadStoreFiles, StoreError> {
        let mut all = UnreadStoreFiles {
            listed: files.list()?,
            unread: Vec::new(),
        };
        for log in files.lost_logs()? {
            let detail = "its file is missing, so its versions are lost";
            all.add(StoreError::damaged(&log, detail));
        }
        Ok(all)
    }

    /// All files, the oldest first.
    pub fn listed(&self) -> Vec<StoreFile> {
        self.listed.clone()
    }

    /// Opens a file; `None` if it is gone, and if it cannot be read.
    pub fn open(&mut self, file: &StoreFile) -> Option<StoreFileReader> {
        let error = match StoreFileReader::open(&file.path) {
            Ok(reader) => return Some(reader),
            Err(error) => error,
        };
        // A recorder deletes what is too old.
        let is_gone = matches!(&error, StoreError::Io { error, .. } if error.kind() == ErrorKind::NotFound)
            && file.path.symlink_metadata().is_err();
        if !is_gone {
            self.add(error);
        }
        None
    }

    /// Adds a file that cannot be read.
    pub fn add(&mut self, error: StoreError) {
        let path = error.path();
        let place = self.listed.partition_point(|file| file.path < path);
        let (earlier, later) = self.listed.split_at(place);
        // After a clock has been set back, a name is that of the file before and a millisecond.
        let before = earlier.last().and_then(StoreFile::begun);
        let pushed = before.and_then(|before| before.checked_add(MILLISECOND).ok());
        let since = begun(path).filter(|begun| Some(*begun) != pushed);
        let recorder = |path: &Path| recorder_of(path).map(|(_, recorder)| recorder);
        let own = recorder(path);
        let mut next = later.iter().filter(|file| *file.path != *path);
        let next = next.find(|file| own.is_some() && recorder(&file.path) == own);
        let until = next.and_then(StoreFile::begun);
        self.unread.push(UnreadStoreFile {
            error,
            since,
            until,
        });
    }

    /// Takes back the file that was added last.
    pub(super) fn take_last(&mut self) -> Option<StoreError> {
        self.unread.pop().map(|file| file.error)
    }

    /// Fails with the first of them, if there are any.
    pub(super) fn or_fail(mut self) -> Result<UnreadStoreFiles, StoreError> {
        if self.unread.is_empty() {
            Ok(self)
        } else {
            Err(self.unread.swap_remove(0).error)
        }
    }

    /// Whether a file is one of them.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.unread.iter().any(|file| file.error.path() == path)
    }

    /// Why they cannot be read.
    pub fn errors(&self) -> impl Iterator<Item = &StoreError> {
        self.unread.iter().map(|file| &file.error)
    }

    /// Why a part of the time between two is not known: `FILE cannot be read: CAUSE`. `None` if all that was recorded then can
    /// be read.
    pub fn between(&self, since: Timestamp, until: Timestamp) -> Option<Arc<str>> {
        self.cause(|file| file.may_have(since, until))
    }

    /// The same of a time, and of the files between two. A clock that is set changes only the times.
    pub(super) fn in_hole(
        &self,
        [since, until]: [Timestamp; 2],
        [after, before]: [Option<&Path>; 2],
    ) -> Option<Arc<str>> {
        self.cause(|file| {
            let path = file.error.path();
            let is_later = after.is_none_or(|after| after < path);
            let is_between = is_later && before.is_none_or(|before| path < before);
            is_between || file.may_have(since, until)
        })
    }

    /// The same of the time before one.
    pub fn before(&self, time: Timestamp) -> Option<Arc<str>> {
        self.between(Timestamp::MIN, time)
    }

    /// The same of the time after the last file that can be read.
    pub fn at_end(&self) -> Option<Arc<str>> {
        let mut read = self.listed.iter().rev();
        let last = read.find(|file| !self.has(&file.path));
        self.cause(|file| last.is_none_or(|last| *last.path < *file.error.path()))
    }

    /// The same of any time.
    pub(super) fn ever(&self) -> Option<Arc<str>> {
        self.cause(|_| true)
    }

    fn cause(&self, is_of: impl Fn(&UnreadStoreFile) -> bool) -> Option<Arc<str>> {
        let mut files = self.unread.iter().filter(|file| is_of(file));
        let first = &files.next()?.error;
        let name = first.path().file_name().unwrap_or_default();
        let others = match files.count() {
            0 => String::new(),
            count => format!(" and {}", counted(count, "other file", "other files")),
        };
        let (name, detail) = (name.to_string_lossy(), first.detail());
        Some(format!("{name}{others} cannot be read: {detail}").into())
    }

    /// Adds what a file has of a source to what earlier files have, as [`CoveredRevisions::join`] does. A file that continues one
    /// that cannot be read may be of another history than those before that one.
    pub fn join(
        &self,
        before: &mut CoveredRevisions,
        path: &Path,
        coverage: &CoveredRevisions,
    ) -> bool {
        if self.unread.iter().any(|file| file.error.path() < path) {
            before.join(&coverage.clone().of_any_history())
        } else {
            before.join(coverage)
        }
    }
}

impl UnreadStoreFile {
    /// Whether it may have something of the time between two.
    fn may_have(&self, since: Timestamp, until: Timestamp) -> bool {
        let read_back = |begun: Timestamp| begun.checked_sub(READ_BACK).unwrap_or(Timestamp::MIN);
        let is_early = self.since.is_none_or(|begun| read_back(begun) <= until);
        is_early && self.until.is_none_or(|ended| since <= ended)
    }
}
