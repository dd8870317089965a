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
        }
    }
}

pub(super) type SharedProgress = Arc<Mutex<RecordProgress>>;

pub(super) fn lock(progress: &SharedProgress) -> MutexGuard<'_, RecordProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}
