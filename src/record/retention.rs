//! Which files to delete: whole ones, the oldest first.

use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::error::StoreError;
use super::store::{ClusterFiles, StoreFile};

/// How long a store keeps what it has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How long ago a file may have ended.
    pub keep: Duration,
    /// How many bytes the files of a cluster may have together.
    pub max_bytes: u64,
}

/// A file that was written so lately may belong to another recorder that still runs.
const IN_USE: SignedDuration = SignedDuration::from_mins(2);

/// How many files a record has at least when it reaches its size: the smaller a file, the less is deleted at once.
const FILES: u64 = 8;

/// A file is never larger than this.
const LARGEST: u64 = 512 << 20;

impl Retention {
    /// The size at which a recorder begins another file.
    pub(super) fn file_bytes(&self) -> u64 {
        (self.max_bytes / FILES).clamp(1 << 20, LARGEST)
    }

    /// Deletes the files that are too old or too many, but not the one that is being written.
    pub(super) fn apply(
        &self,
        files: &ClusterFiles,
        current: &Path,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let files = files.list()?;
        let total = files.iter().map(|file| file.bytes).sum();
        for file in self.expired(&files, total, now) {
            if file.path != current {
                file.remove()?;
            }
        }
        Ok(())
    }

    /// The files to delete. They are ordered by their age, and have this size together.
    fn expired<'f>(
        &self,
        files: &'f [StoreFile],
        mut total: u64,
        now: Timestamp,
    ) -> Vec<&'f StoreFile> {
        let keep = SignedDuration::try_from(self.keep).unwrap_or(SignedDuration::MAX);
        let mut expired = Vec::new();
        for file in files {
            let age = file.written.map(|written| now.duration_since(written));
            let is_idle = age.is_some_and(|age| age > IN_USE);
            let is_old = age.is_some_and(|age| age > keep);
            if is_idle && (is_old || total > self.max_bytes) {
                total = total.saturating_sub(file.bytes);
                expired.push(file);
            }
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the files to delete, of some with this age in hours and this size.
    fn check(files: &[(&str, i64, u64)], expected: &[&str]) {
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        let files: Vec<StoreFile> = files
            .iter()
            .map(|&(name, age, bytes)| StoreFile {
                path: name.into(),
                bytes,
                written: now.checked_sub(SignedDuration::from_hours(age)).ok(),
            })
            .collect();
        let retention = Retention {
            keep: Duration::from_secs(72 * 3600),
            max_bytes: 100,
        };
        let total = files.iter().map(|file| file.bytes).sum();
        let expired = retention.expired(&files, total, now);
        let names: Vec<_> = expired
            .iter()
            .filter_map(|file| file.path.to_str())
            .collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn whole_files_are_deleted_by_age_and_by_size() {
        check(&[], &[]);
        check(&[("a", 80, 10), ("b", 60, 10), ("c", 0, 10)], &["a"]);
        check(&[("a", 60, 60), ("b", 50, 60), ("c", 0, 60)], &["a", "b"]);
        check(&[("a", 60, 60), ("b", 50, 30), ("c", 0, 30)], &["a"]);
        // Another recorder writes to the oldest file.
        check(&[("a", 0, 60), ("b", 50, 60)], &["b"]);
    }
}
