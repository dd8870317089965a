//! `FileDatabase`: a file of a record as SQLite reads it, also while a recorder writes to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};

use super::error::StoreError;
use super::schema::{self, APPLICATION, FORMAT, RowCounts};
use super::store::{beside, has_content};
use crate::source::Packing;

/// How long a reader waits for a writer that moves its log into the file.
const BUSY: Duration = Duration::from_secs(5);

/// The first format in which each row has a checksum, and the number of rows is known.
const PROVEN: i64 = 2;

/// The first format in which zstd packs long texts.
const LONG_TEXTS: i64 = 3;

/// The first format that lists the objects that exist.
const LIVE: i64 = 4;

/// A file that is open for reading.
pub(super) struct FileDatabase {
    db: Connection,
    path: PathBuf,
    format: i64,
}

impl FileDatabase {
    /// Opens a file. It fails if this version does not read its format.
    pub(super) fn open(path: &Path) -> Result<FileDatabase, StoreError> {
        // A pipe would wait for a writer without end.
        let about = std::fs::metadata(path).map_err(|error| StoreError::io(path, error))?;
        if !about.is_file() {
            return Err(StoreError::Foreign { path: path.into() });
        }
        let found = match read_only(path) {
            Ok(found) => Ok(found),
            // In a directory that cannot be written, SQLite reads only files that nobody writes.
            Err(_) if !has_content(&beside(path, "-wal")) => immutable(path),
            Err(error) => Err(error),
        };
        let db = found.map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => StoreError::Foreign { path: path.into() },
            _ => StoreError::sqlite(path, error),
        })?;
        let number = |name: &str| -> Result<i64, StoreError> {
            db.pragma_query_value(None, name, |row| row.get(0))
                .map_err(|error| StoreError::sqlite(path, error))
        };
        if number("schema_version")? == 0 {
            // A recorder writes the tables before the file has its name.
            return Err(StoreError::damaged(path, "it is empty"));
        }
        if number("application_id")? != APPLICATION {
            return Err(StoreError::Foreign { path: path.into() });
        }
        let format = number("user_version")?;
        let file = FileDatabase {
            db,
            path: path.to_owned(),
            format,
        };
        if format > FORMAT {
            let needs = file.found(
                "SELECT value FROM setting WHERE name = 'needs'",
                [],
                |row| row.get(0),
            );
            return Err(StoreError::Newer {
                path: path.into(),
                found: format,
                reads: FORMAT,
                needs: needs.ok().flatten().unwrap_or_default(),
            });
        }
        let has_counts = "SELECT 1 FROM sqlite_schema WHERE name = 'row_count'";
        let has_counts = file.found(has_counts, [], |_| Ok(()))?.is_some();
        if format < 1 || has_counts != file.is_proven() {
            return Err(file.damaged(format!("format {format}")));
        }
        Ok(file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a missing or changed row can be noticed.
    pub(super) fn is_proven(&self) -> bool {
        self.format >= PROVEN
    }

    /// Whether the file lists the objects that exist.
    pub(super) fn lists_live(&self) -> bool {
        self.format >= LIVE
    }

    /// Unpacks a text; `None` if the bytes are no difference of this length from the base.
    pub(super) fn unpack(&self, bytes: &[u8], length: usize, base: &str) -> Option<Arc<str>> {
        /// Longer texts do not exist: the longest line of a watch has 16 MiB.
        const LONGEST: usize = 1 << 26;
        let packing = if self.format >= LONG_TEXTS {
            Packing::of(length, base)
        } else {
            Packing::Lz4
        };
        let is_possible = length <= LONGEST;
        is_possible.then(|| packing.unpack(bytes, length, base))?
    }

    /// The settings.
    pub(super) fn settings(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let sql = "SELECT name, CAST(value AS TEXT) FROM setting";
        let rows = self.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut settings: BTreeMap<String, String> = rows.into_iter().collect();
        let sum = settings.remove(schema::CHECKSUM);
        let expected = schema::settings_checksum(&settings).to_string();
        if self.is_proven() && sum != Some(expected) {
            return Err(self.damaged("its settings"));
        }
        Ok(settings)
    }

    /// How many rows the tables have at least; nothing in a format that does not know. Read it before the rows: a recorder
    /// may add some.
    pub(super) fn row_counts(&self) -> Result<RowCounts, StoreError> {
        if !self.is_proven() {
            return Ok(RowCounts::default());
        }
        let live = if self.lists_live() { "live" } else { "NULL" };
        let sql =
            format!("SELECT sources, objects, versions, marks, {live}, checksum FROM row_count");
        let found = self.found(&sql, [], |row| {
            let counts = RowCounts {
                sources: row.get(0)?,
                objects: row.get(1)?,
                versions: row.get(2)?,
                marks: row.get(3)?,
                live: row.get(4)?,
            };
            Ok((counts, row.get::<_, i64>(5)?))
        })?;
        let counts = found.filter(|(counts, sum)| counts.checksum() == *sum);
        let (counts, _) = counts.ok_or_else(|| self.damaged("the numbers of its rows"))?;
        Ok(counts)
    }

    /// Fails unless these are all rows of a table in a format that can prove it: 1, 2, 3, …, and at least so many.
    pub(super) fn check_all(
        &self,
        table: &str,
        ids: impl IntoIterator<Item = i64>,
        count: i64,
    ) -> Result<(), StoreError> {
        if !self.is_proven() {
            return Ok(());
        }
        let mut last = 0;
        let mut are_next = ids.into_iter().map(|id| {
            last += 1;
            id == last
        });
        if are_next.all(|is_next| is_next) && last >= count {
            Ok(())
        } else {
            Err(self.damaged(format!("a row of {table} is missing")))
        }
    }

    /// Reads in one transaction until [`FileDatabase::release`]. Else each statement takes the lock of the file and gives it
    /// back, and that costs as much as the reading of a version.
    pub(super) fn hold(&self) -> Result<(), StoreError> {
        if self.db.is_autocommit() {
            self.sqlite(self.db.execute_batch("BEGIN"))?;
        }
        Ok(())
    }

    /// Ends the transaction, if there is one. A recorder may write again.
    pub(super) fn release(&self) {
        if !self.db.is_autocommit() {
            // Nothing was written, so nothing is lost.
            let _ended = self.db.execute_batch("COMMIT");
        }
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.sqlite(self.db.prepare_cached(sql))?;
        let rows = self.sqlite(statement.query_map(values, read))?;
        self.sqlite(rows.collect())
    }

    /// The first row, if there is one.
    pub(super) fn found<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.sqlite(self.db.prepare_cached(sql))?;
        self.sqlite(statement.query_row(values, read).optional())
    }

    fn sqlite<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::sqlite(&self.path, error))
    }

    pub(super) fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::damaged(&self.path, detail)
    }
}

fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    prepared(Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?)
}

fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let coded: String = path
        .to_string_lossy()
        .chars()
        .map(|letter| match letter {
            '%' => "%25".to_owned(),
            '?' => "%3f".to_owned(),
            '#' => "%23".to_owned(),
            other => other.to_string(),
        })
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:{coded}?immutable=1");
    prepared(Connection::open_with_flags(uri, flags)?)
}

/// Reads something, because SQLite opens a file only then. The file may come from anybody.
fn prepared(db: Connection) -> rusqlite::Result<Connection> {
    db.busy_timeout(BUSY)?;
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    // A container without a writable directory has no place for the file of a large sort.
    db.pragma_update(None, "temp_store", "memory")?;
    let _version: i64 = db.pragma_query_value(None, "schema_version", |row| row.get(0))?;
    Ok(db)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Folder, files, record};
    use super::*;

    #[test]
    fn a_large_sort_needs_no_directory() {
        let folder = Folder::new();
        record(folder.path(), &[]);
        let file = FileDatabase::open(&files(folder.path())[0].path).expect("a database");
        let place = file
            .db
            .pragma_query_value(None, "temp_store", |row| row.get::<_, i64>(0));
        assert_eq!(place.expect("a number"), 2, "not in memory");
    }
}
