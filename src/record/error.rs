//! Why a store cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

use crate::cluster::os_words;

/// What went wrong, and in which file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory or the file cannot be read or written.
    #[error("{}: {}", .path.display(), os_words(error))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// SQLite cannot read or write the file.
    #[error("{}: {error}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        error: rusqlite::Error,
    },
    /// The directory does not exist. The words are kubectl's.
    #[error("the path {:?} does not exist", .path.display().to_string())]
    Absent {
        /// The directory.
        path: PathBuf,
    },
    /// The directory has no store.
    #[error("{}: no record", .path.display())]
    NoStore {
        /// The directory.
        path: PathBuf,
    },
    /// The file is no file of a store.
    #[error("{}: not a file of a record", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later version of this program has written the file.
    #[error("{}: format {found}, and this version reads formats up to {reads}", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this version reads.
        reads: i64,
        /// The version of this program that wrote the file.
        needs: String,
    },
    /// A checksum or an index of the file is wrong, so a part of it is not shown.
    #[error("{}: damaged: {detail}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
}

impl StoreError {
    /// The file or the directory.
    pub fn path(&self) -> &Path {
        match self {
            StoreError::Io { path, .. }
            | StoreError::Sqlite { path, .. }
            | StoreError::Absent { path }
            | StoreError::NoStore { path }
            | StoreError::Foreign { path }
            | StoreError::Newer { path, .. }
            | StoreError::Damaged { path, .. } => path,
        }
    }

    /// The words without the path.
    pub fn detail(&self) -> String {
        let words = self.to_string();
        let path = format!("{}: ", self.path().display());
        words.strip_prefix(&path).unwrap_or(&words).to_owned()
    }

    /// Whether SQLite finds the file malformed. It may be right only for a moment, if the file is being written.
    pub fn is_malformed(&self) -> bool {
        let StoreError::Sqlite { error, .. } = self else {
            return false;
        };
        error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
    }

    pub(super) fn io(path: &Path, error: io::Error) -> StoreError {
        let path = path.to_owned();
        StoreError::Io { path, error }
    }

    pub(super) fn sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        StoreError::Sqlite { path, error }
    }

    pub(super) fn damaged(path: &Path, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }
}
