//! `StoreFileWriter`: writes one file of a record.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params};

use super::block::{self, BlockEntry, RecordedWhy};
use super::delta::{Delta, DeltaBase};
use super::error::StoreError;
use super::index::{ObjectRow, object_checksum, uid_value, version_checksum};
use super::mark::{Mark, MarkRow};
use super::schema::{self, NewFile, RowCounts, SourceRow, checksum, number};
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::{Packing, SourceKey};
use crate::watch::Revision;

/// How many versions a block has at most, and how many bytes of differences. A larger block is smaller for each version, and
/// one version takes longer to read.
const BLOCK_VERSIONS: usize = 512;
const BLOCK_BYTES: usize = 256 << 10;

/// A version that is to be written.
pub(super) struct NewVersion<'a> {
    /// The row of its object.
    pub(super) object: i64,
    pub(super) why: RecordedWhy,
    pub(super) seen: Timestamp,
    pub(super) version: &'a ResourceVersion,
    /// The names of the managers that wrote last.
    pub(super) managers: &'a str,
    pub(super) delta: &'a Delta,
}

/// What an object has in the file.
struct WrittenObject {
    /// [`ObjectRow::identity`].
    identity: i64,
    /// Its last version.
    last: i64,
    /// The number of its versions.
    versions: i64,
    /// Whether it exists.
    is_live: bool,
    /// Whether `live` has it.
    is_listed: bool,
}

/// A file that is being written. What is not committed is lost with it.
pub(super) struct StoreFileWriter {
    db: Connection,
    path: PathBuf,
    /// The start of the file, in milliseconds since the epoch.
    started: i64,
    /// The number of the next version.
    next: i64,
    /// The versions that are not in a block yet.
    open: Vec<BlockEntry>,
    open_bytes: usize,
    objects: Vec<WrittenObject>,
    /// The objects with versions that are not committed.
    changed: BTreeSet<usize>,
    /// How many objects `live` has.
    live: i64,
    marks: i64,
    sources: Vec<SourceRow>,
    bases: HashSet<i64>,
    managers: HashMap<Box<str>, i64>,
    /// Whether a write has failed. SQLite may then have undone everything since the last commit, so nothing more is written:
    /// it would count rows that are not there.
    is_broken: bool,
}

impl StoreFileWriter {
    /// Creates a file.
    pub(super) fn create(path: &Path, new: &NewFile<'_>) -> Result<StoreFileWriter, StoreError> {
        // This begins a transaction, and so does each commit.
        let db = schema::create(path, new)?;
        Ok(StoreFileWriter {
            db,
            path: path.to_owned(),
            started: new.started.as_millisecond(),
            next: 1,
            open: Vec::new(),
            open_bytes: 0,
            objects: Vec::new(),
            changed: BTreeSet::new(),
            live: 0,
            marks: 0,
            sources: Vec::new(),
            bases: HashSet::new(),
            managers: HashMap::new(),
            is_broken: false,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a source. Returns its row.
    pub(super) fn add_source(&mut self, key: &SourceKey) -> Result<i64, StoreError> {
        let row = SourceRow::new(key);
        let id = number(self.sources.len()) + 1;
        let sql = "INSERT INTO source VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)";
        let values = params![
            id,
            row.group,
            row.version,
            row.resource,
            row.kind,
            row.namespaced,
            row.namespace,
            row.name,
            row.labels,
            row.fields,
            row.checksum(id)
        ];
        self.run(sql, values)?;
        self.sources.push(row);
        Ok(id)
    }

    /// Adds an object of a source. Returns its row.
    pub(super) fn add_object(
        &mut self,
        source: i64,
        object: &ObjectRef,
    ) -> Result<i64, StoreError> {
        let row = ObjectRow {
            id: number(self.objects.len()) + 1,
            source,
            namespace: object.namespace.as_deref().map(Cow::Borrowed),
            name: (*object.name).into(),
            uid: object.uid.as_ref().map(|uid| uid.as_str().into()),
        };
        let identity = row.identity();
        // Its first version follows, and has this number. A row that grows later would split its page.
        let first = self.next;
        let values = params![
            row.id,
            source,
            row.namespace,
            row.name,
            row.uid.as_deref().map(uid_value),
            ObjectRow::hash(&row.name),
            first,
            object_checksum(identity, first),
        ];
        let sql = "INSERT INTO object VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        self.run(sql, values)?;
        self.objects.push(WrittenObject {
            identity,
            last: first,
            versions: 0,
            is_live: false,
            is_listed: false,
        });
        Ok(row.id)
    }

    /// Adds a version.
    pub(super) fn add_version(&mut self, new: &NewVersion<'_>) -> Result<(), StoreError> {
        self.write_base(&new.delta.base)?;
        let manager = self.manager(new.managers)?;
        let seen = new.seen.as_microsecond();
        let text = new.version.as_str();
        let number: Option<i64> = Revision::parse(new.version).and_then(|_| text.parse().ok());
        let revision = number.map_or(ValueRef::Text(text.as_bytes()), ValueRef::Integer);
        let since = seen.div_euclid(1000) - self.started;
        let code = new.why.code();
        let at = usize::try_from(new.object - 1).unwrap_or(usize::MAX);
        let unknown = || StoreError::damaged(&self.path, "a version of no object");
        let object = self.objects.get_mut(at).ok_or_else(unknown)?;
        object.last = self.next;
        object.versions += 1;
        object.is_live = !new.why.why.is_gone();
        self.changed.insert(at);
        let numbers = [self.next, new.object, since, code.into(), object.versions];
        let checksum = version_checksum(numbers, manager, revision);
        let [id, object, since, code, place] = numbers;
        let values = params![
            id,
            object,
            since,
            ToSqlOutput::Borrowed(revision),
            code,
            manager,
            place,
            checksum
        ];
        let sql = "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        self.run(sql, values)?;
        self.next += 1;
        self.open_bytes += new.delta.bytes.len();
        self.open.push(BlockEntry {
            object: new.object,
            why: new.why,
            seen,
            base: new.delta.base.id,
            length: new.delta.length,
            delta: new.delta.bytes.clone(),
        });
        if self.open.len() >= BLOCK_VERSIONS || self.open_bytes >= BLOCK_BYTES {
            self.write_block()?;
        }
        Ok(())
    }

    /// Adds an event that is not a version.
    pub(super) fn add_mark(
        &mut self,
        source: i64,
        seen: Timestamp,
        mark: &Mark,
    ) -> Result<(), StoreError> {
        let row = MarkRow {
            version: self.next,
            ..MarkRow::new(source, seen, mark)
        };
        let sql = "INSERT INTO mark VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let values = params![
            row.version,
            row.source,
            row.seen,
            row.kind,
            row.after,
            row.upto,
            row.count,
            row.cause,
            row.checksum()
        ];
        self.run(sql, values)?;
        self.marks += 1;
        Ok(())
    }

    /// Records that a source has everything up to a version at this time.
    pub(super) fn reach(
        &mut self,
        source: i64,
        reached: &ResourceVersion,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let place = usize::try_from(source - 1).unwrap_or(usize::MAX);
        let Some(row) = self.sources.get_mut(place) else {
            return Ok(());
        };
        row.reached = Some((reached.as_str().to_owned(), at.as_microsecond()));
        let sql = "UPDATE source SET reached = ?, reached_at = ?, checksum = ? WHERE id = ?";
        let checksum = row.checksum(source);
        let values = params![reached.as_str(), at.as_microsecond(), checksum, source];
        self.run(sql, values)
    }

    /// Writes everything so far to the disk.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        self.write_ends()?;
        self.write(|db| db.execute_batch("COMMIT; BEGIN"))
    }

    /// The size of the file in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let setting = |name: &str| -> u64 {
            let found = self.db.pragma_query_value(None, name, |row| row.get(0));
            found.unwrap_or(0_i64).unsigned_abs()
        };
        setting("page_count") * setting("page_size")
    }

    /// Ends the file: everything moves into it, and nothing stays beside it.
    pub(super) fn close(mut self) -> Result<(), StoreError> {
        self.write_ends()?;
        self.write(|db| db.execute_batch("COMMIT"))?;
        match self.db.pragma_update(None, "journal_mode", "delete") {
            // A reader holds the log, so it stays.
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                Ok(())
            }
            alone => alone.map_err(|error| StoreError::sqlite(&self.path, error)),
        }
    }

    /// Writes what is still open, and what proves that nothing is missing.
    fn write_ends(&mut self) -> Result<(), StoreError> {
        self.write_block()?;
        for at in std::mem::take(&mut self.changed) {
            self.write_end(at)?;
        }
        let counts = RowCounts {
            sources: number(self.sources.len()),
            objects: number(self.objects.len()),
            versions: self.next - 1,
            marks: self.marks,
            live: Some(self.live),
        };
        let sql = "UPDATE row_count SET sources = ?, objects = ?, versions = ?, marks = ?, live = ?, checksum = ?";
        let values = params![
            counts.sources,
            counts.objects,
            counts.versions,
            counts.marks,
            counts.live,
            counts.checksum()
        ];
        self.run(sql, values)
    }

    /// Writes the last version of an object, and whether it exists.
    fn write_end(&mut self, at: usize) -> Result<(), StoreError> {
        let object = &mut self.objects[at];
        let (id, last) = (number(at) + 1, object.last);
        let was_listed = std::mem::replace(&mut object.is_listed, object.is_live);
        let is_listed = object.is_listed;
        let sql = "UPDATE object SET last = ?, checksum = ? WHERE id = ?";
        let values = params![last, object_checksum(object.identity, last), id];
        self.run(sql, values)?;
        match (was_listed, is_listed) {
            (false, true) => {
                self.live += 1;
                self.run("INSERT INTO live VALUES (?)", [id])
            }
            (true, false) => {
                self.live -= 1;
                self.run("DELETE FROM live WHERE id = ?", [id])
            }
            (true, true) | (false, false) => Ok(()),
        }
    }

    fn write_base(&mut self, base: &Arc<DeltaBase>) -> Result<(), StoreError> {
        if self.bases.contains(&base.id) {
            return Ok(());
        }
        // A base of an earlier file is stored whole, unless this file has its parent.
        let parent = base.parent.as_ref();
        let parent = parent.filter(|parent| self.bases.contains(&parent.id));
        let (text, from) = (&*base.text, parent.map_or("", |parent| &*parent.text));
        let data = Packing::of(text.len(), from).pack(text, from);
        let parent = parent.map(|parent| parent.id);
        let length = number(text.len());
        let checksum = checksum(&[base.id, parent.unwrap_or(0), length], &data);
        let sql = "INSERT INTO base VALUES (?, ?, ?, ?, ?)";
        let values = params![base.id, parent, length, data, checksum];
        self.run(sql, values)?;
        self.bases.insert(base.id);
        Ok(())
    }

    fn write_block(&mut self) -> Result<(), StoreError> {
        if self.open.is_empty() {
            return Ok(());
        }
        let packed = block::pack(&self.open);
        let count = number(self.open.len());
        let (first, length) = (self.next - count, number(packed.length));
        let checksum = checksum(&[first, count, length], &packed.data);
        let sql = "INSERT INTO block VALUES (?, ?, ?, ?, ?)";
        let values = params![first, count, length, packed.data, checksum];
        self.run(sql, values)?;
        self.open.clear();
        self.open_bytes = 0;
        Ok(())
    }

    /// The row of these managers; `None` for nobody.
    fn manager(&mut self, names: &str) -> Result<Option<i64>, StoreError> {
        if names.is_empty() {
            return Ok(None);
        }
        if let Some(id) = self.managers.get(names) {
            return Ok(Some(*id));
        }
        let id = number(self.managers.len()) + 1;
        let sql = "INSERT INTO manager VALUES (?, ?)";
        self.run(sql, params![id, names])?;
        self.managers.insert(names.into(), id);
        Ok(Some(id))
    }

    fn run(&mut self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        self.write(|db| db.prepare_cached(sql)?.execute(values).map(drop))
    }

    /// Writes something, unless a write before it has failed.
    fn write(
        &mut self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        if self.is_broken {
            let error = io::Error::other("an earlier write has failed");
            return Err(StoreError::io(&self.path, error));
        }
        write(&self.db).map_err(|error| {
            self.is_broken = true;
            StoreError::sqlite(&self.path, error)
        })
    }
}

#[cfg(test)]
impl StoreFileWriter {
    /// The setting `synchronous`: 1 is `normal`, and 2 is `full`.
    pub(super) fn synchronous(&self) -> i64 {
        let value = self
            .db
            .pragma_query_value(None, "synchronous", |row| row.get(0));
        value.expect("a number")
    }

    /// SQLite reports a full disk when the file has this many pages.
    pub(super) fn limit_pages(&self, pages: u32) {
        let limited = self
            .db
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
        limited.expect("a limit");
    }
}
