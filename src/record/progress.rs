//! `RecordProgress`: how far a recording has come, as its thread tells it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

/// How far a recording has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordProgress {
    /// The number of objects that exist.
    pub objects: usize,
    /// The number of versions that this recorder has taken.
    pub versions: u64,
    /// The number of gaps that this recorder has seen or made.
    pub gaps: u64,
    /// The size of all files of the cluster, in bytes.
    pub bytes: u64,
    /// The number of these files.
    pub files: usize,
    /// When the oldest of them begins.
    pub oldest: Option<Timestamp>,
    /// Why nothing is written at present.
    pub trouble: Option<String>,
    /// Why an old file is still there.
    pub undeleted: Option<String>,
}

impl RecordProgress {
    /// The progress of two recorders together.
    #[must_use]
    pub fn and(self, other: RecordProgress) -> RecordProgress {
        RecordProgress {
            objects: self.objects + other.objects,
            versions: self.versions + other.versions,
            gaps: self.gaps + other.gaps,
            bytes: self.bytes + other.bytes,
            files: self.files + other.files,
            oldest: self.oldest.into_iter().chain(other.oldest).min(),
            trouble: self.trouble.or(other.trouble),
            undeleted: self.undeleted.or(other.undeleted),
        }
    }
}

/// Tells that old files cannot be deleted: once, and once that they can be again.
#[derive(Clone, Copy, Debug, Default)]
pub struct UndeletedNews {
    is_told: bool,
}

impl UndeletedNews {
    /// The line about this cause, or about its end, if there is news.
    pub fn line(&mut self, undeleted: Option<&str>) -> Option<String> {
        let is_news = undeleted.is_some() != self.is_told;
        self.is_told = undeleted.is_some();
        is_news.then(|| match undeleted {
            Some(cause) => format!("cannot delete old files: {cause}"),
            None => "old files are deleted again".to_owned(),
        })
    }
}

pub(super) type SharedProgress = Arc<Mutex<RecordProgress>>;

pub(super) fn lock(progress: &SharedProgress) -> MutexGuard<'_, RecordProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_stay_are_told_once_and_so_is_their_end() {
        let mut news = UndeletedNews::default();
        let mut line = |undeleted: Option<&str>| news.line(undeleted).unwrap_or_default();
        assert_eq!(line(None), "");
        assert_eq!(line(Some("a: busy")), "cannot delete old files: a: busy");
        // The cause names a file, and the next time another one.
        assert_eq!(line(Some("b: busy")), "");
        assert_eq!(line(None), "old files are deleted again");
        assert_eq!(line(None), "");
    }
}
