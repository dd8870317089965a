//! `StoreFileReader`: reads one file of a record, also while a recorder writes to it.
//!
//! The blocks have the versions, with a checksum. A row of the index only says where a version is: what it says beside that
//! must agree with the block, and the names of an object with its text. So damage is an error and never another version.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::block::{self, BlockEntry, RecordedWhy};
use super::covered_revisions::CoveredRevisions;
use super::delta;
use super::error::StoreError;
use super::file_writer::uid_of;
use super::mark::{Mark, MarkRow};
use super::redaction::Redaction;
use super::schema::{self, REDACTIONS, RecordedCluster, SourceRow, checksum, number, setting};
use crate::object::managed_fields::{ManagedFieldsEntry, entries};
use crate::object::{ResourceVersion, Uid};
use crate::source::{ClusterId, SourceKey, Version, Why};
use crate::watch::{KnownState, Reader, Revision};

/// How many bases are kept unpacked.
const BASES: usize = 256;
/// How many bases must be unpacked for one, at most. More are damage.
const DEEPEST: u8 = 8;

/// A source of a file.
#[derive(Clone, Debug)]
pub struct RecordedSource {
    /// Its row.
    pub(super) id: i64,
    /// Its key. The cluster has the name under which it was recorded.
    pub key: SourceKey,
    /// The version up to which everything is recorded, and when that was so.
    pub reached: Option<(ResourceVersion, Timestamp)>,
}

/// A version of an object, as it was recorded.
#[derive(Clone, Debug)]
pub struct RecordedVersion {
    /// Why it was sent.
    pub why: RecordedWhy,
    /// When it arrived, by the server's clock.
    pub seen: Timestamp,
    /// The version. Secret values are digests.
    pub version: Arc<Version>,
}

impl RecordedVersion {
    /// The managers that wrote it, with commas.
    pub fn managers(&self) -> Box<str> {
        managers(&self.version, self.why.why)
    }
}

/// The managers that wrote a version, as the newest times of its `managedFields` say: `kubectl-edit`. The end of an object
/// has no writer.
pub(super) fn managers(version: &Version, why: Why) -> Box<str> {
    let doc = match version.doc() {
        Ok(doc) if !why.is_gone() => doc,
        Ok(_) | Err(_) => return "".into(),
    };
    let all = entries(doc.root());
    let newest = all.iter().filter_map(ManagedFieldsEntry::time).max();
    let last = all.iter().filter(|entry| entry.time() == newest);
    let mut names: Vec<&str> = last.map(|entry| &*entry.manager).collect();
    names.sort_unstable();
    names.dedup();
    names.join(",").into()
}

/// A row of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexRow {
    pub(super) id: i64,
    pub(super) object: i64,
    /// In milliseconds since the start of the file.
    seen: i64,
    /// `None` if the resourceVersion is not a number.
    pub(super) revision: Option<Revision>,
    code: u8,
}

impl IndexRow {
    /// Why the version was sent; `None` for an unknown code.
    pub(super) fn why(&self) -> Option<Why> {
        RecordedWhy::of_code(self.code).map(|recorded| recorded.why)
    }

    /// Whether the source no longer had the object.
    pub(super) fn is_gone(&self) -> bool {
        self.why().is_some_and(Why::is_gone)
    }
}

/// A row of the index, and where its object is.
#[derive(Clone, Debug)]
pub(super) struct NamedRow {
    pub(super) row: IndexRow,
    /// The row of its source. `None`, as for the others, if the object is missing: that is damage.
    pub(super) source: Option<i64>,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
}

/// A file that is open for reading.
pub struct StoreFileReader {
    db: Connection,
    path: PathBuf,
    cluster: RecordedCluster,
    /// In milliseconds since the epoch.
    started: i64,
    sources: Vec<RecordedSource>,
    readers: HashMap<i64, Reader>,
    bases: HashMap<i64, Arc<str>>,
    /// The block that was read last, and the number of its first version.
    block: Option<(i64, Vec<BlockEntry>)>,
}

impl StoreFileReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<StoreFileReader, StoreError> {
        let db = schema::open(path)?;
        let text = |name| setting(&db, name).unwrap_or_default();
        let cluster = RecordedCluster {
            id: text("cluster_id"),
            name: text("cluster"),
            server: text("server"),
        };
        let sql = "SELECT value FROM setting WHERE name = 'started'";
        let started = db.query_row(sql, [], |row| row.get(0));
        let mut reader = StoreFileReader {
            started: started.map_err(|error| StoreError::sqlite(path, error))?,
            db,
            path: path.to_owned(),
            cluster,
            sources: Vec::new(),
            readers: HashMap::new(),
            bases: HashMap::new(),
            block: None,
        };
        reader.sources = reader.read_sources()?;
        Ok(reader)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The cluster.
    pub fn cluster(&self) -> &RecordedCluster {
        &self.cluster
    }

    /// The paths whose values are not in it.
    pub(super) fn redactions(&self) -> Vec<Redaction> {
        let text = setting(&self.db, REDACTIONS).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// When the file begins.
    pub fn started(&self) -> Timestamp {
        Timestamp::from_millisecond(self.started).unwrap_or_default()
    }

    /// Its sources.
    pub fn sources(&self) -> &[RecordedSource] {
        &self.sources
    }

    /// Reads again how far each source has come. A recorder may write to the file.
    pub(super) fn refresh(&mut self) -> Result<(), StoreError> {
        self.sources = self.read_sources()?;
        Ok(())
    }

    /// The number of its versions.
    pub fn versions(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(first + versions), 1) - 1 FROM block";
        let count: i64 = self.sqlite(self.db.query_row(sql, [], |row| row.get(0)))?;
        Ok(count.unsigned_abs())
    }

    /// The parts of the history of a source that the file has without a hole.
    pub fn coverage(&self, source: &RecordedSource) -> Result<CoveredRevisions, StoreError> {
        let marks = self.marks(Some(source.id))?;
        let marks = marks.iter().map(|(row, mark)| (time(row.seen), mark));
        Ok(CoveredRevisions::of(marks, source.reached.as_ref()))
    }

    /// The marks of a source, or of all, in order.
    fn marks(&self, source: Option<i64>) -> Result<Vec<(MarkRow, Mark)>, StoreError> {
        let sql =
            "SELECT version, source, seen, type, after, upto, count, cause, checksum FROM mark
            WHERE ?1 IS NULL OR source = ?1 ORDER BY id";
        self.whole_marks(self.rows(sql, [source], mark_row)?)
    }

    /// The marks after the first ones, up to those before a version, in order.
    pub(super) fn marks_after(
        &self,
        first: i64,
        version: i64,
    ) -> Result<Vec<(MarkRow, Mark)>, StoreError> {
        let sql =
            "SELECT version, source, seen, type, after, upto, count, cause, checksum FROM mark
            WHERE id > ? AND version <= ? ORDER BY id";
        self.whole_marks(self.rows(sql, [first, version], mark_row)?)
    }

    /// The marks of rows with their checksums.
    fn whole_marks(&self, rows: Vec<(MarkRow, i64)>) -> Result<Vec<(MarkRow, Mark)>, StoreError> {
        let marks = rows.into_iter().map(|(row, checksum)| {
            let mark = row.mark().filter(|_| row.checksum() == checksum);
            let damaged = || self.damaged("an event of a source");
            mark.map(|mark| (row, mark)).ok_or_else(damaged)
        });
        marks.collect()
    }

    /// The index of a source, in the order of its versions.
    pub(super) fn index(&self, source: &RecordedSource) -> Result<Vec<IndexRow>, StoreError> {
        let sql = "SELECT id, object, seen, why, revision FROM version
            WHERE object IN (SELECT id FROM object WHERE source = ?) ORDER BY id";
        self.rows(sql, [source.id], index_row)
    }

    /// The index of the objects with a name, in the order of their versions.
    pub(super) fn index_of(
        &self,
        source: &RecordedSource,
        name: &str,
    ) -> Result<Vec<IndexRow>, StoreError> {
        let sql = "SELECT version.id, object, seen, why, revision FROM object JOIN version ON version.object = object.id
            WHERE name = ? AND source = ? ORDER BY version.id";
        self.rows(sql, params![name, source.id], index_row)
    }

    /// At most this many rows of the index after a version, in order.
    pub(super) fn page_after(
        &self,
        version: i64,
        most: usize,
    ) -> Result<Vec<NamedRow>, StoreError> {
        let sql = "SELECT version.id, object, seen, why, revision, source, namespace, name
            FROM version LEFT JOIN object ON object.id = version.object WHERE version.id > ? ORDER BY version.id LIMIT ?";
        self.rows(sql, params![version, number(most)], |row| {
            Ok(NamedRow {
                row: index_row(row)?,
                source: row.get(5)?,
                namespace: row.get(6)?,
                name: row.get(7)?,
            })
        })
    }

    /// When the version of a row arrived.
    pub(super) fn seen(&self, row: &IndexRow) -> Timestamp {
        Timestamp::from_millisecond(self.started.saturating_add(row.seen)).unwrap_or_default()
    }

    /// The marks of a source, each with the number of the version that follows it, and its time.
    pub(super) fn marks_of(
        &self,
        source: &RecordedSource,
    ) -> Result<Vec<(i64, Timestamp, Mark)>, StoreError> {
        let marks = self.marks(Some(source.id))?.into_iter();
        let marks = marks.map(|(row, mark)| (row.version, time(row.seen), mark));
        Ok(marks.collect())
    }

    /// Reads a version.
    pub(super) fn version(&mut self, row: &IndexRow) -> Result<RecordedVersion, StoreError> {
        let entry = self.entry(row.id)?;
        let seen = entry.seen.div_euclid(1000) - self.started;
        if (entry.object, entry.why.code(), seen) != (row.object, row.code, row.seen) {
            return Err(self.damaged(format!("the index of version {}", row.id)));
        }
        let (_, version) = self.read(row.id, &entry)?;
        if Revision::parse(&version.version) != row.revision {
            return Err(self.damaged(format!("the revision of version {}", row.id)));
        }
        Ok(RecordedVersion {
            why: entry.why,
            seen: time(entry.seen),
            version,
        })
    }

    /// The objects of a source at its end; `None` if no listing of it was complete.
    pub(super) fn last_state(
        &mut self,
        source: &RecordedSource,
    ) -> Result<Option<KnownState>, StoreError> {
        let Some((reached, at)) = &source.reached else {
            return Ok(None);
        };
        // In the order of the blocks, so that each is unpacked once.
        let sql = "SELECT last.id, last.object, last.seen, last.why, last.revision FROM object JOIN version AS last
            ON last.id = (SELECT max(id) FROM version WHERE version.object = object.id)
            WHERE object.source = ? ORDER BY last.id";
        let mut last = self.rows(sql, [source.id], index_row)?;
        last.retain(|row| !row.is_gone());
        let mut objects = Vec::with_capacity(last.len());
        for row in last {
            let recorded = self.version(&row)?;
            if !recorded.why.why.is_gone() {
                objects.push((recorded.version, recorded.seen));
            }
        }
        Ok(Some(KnownState {
            version: reached.clone(),
            at: *at,
            objects,
        }))
    }

    /// Reads the whole file. Returns what is wrong with it.
    pub fn check(&mut self) -> Vec<String> {
        let mut faults: Vec<String> = Vec::new();
        let mut note = |found: Result<(), StoreError>| {
            faults.extend(found.err().map(|error| error.to_string()));
        };
        note(self.check_pages());
        note(self.marks(None).map(drop));
        let rows = self.rows(
            "SELECT id, object, seen, why, revision FROM version ORDER BY id",
            [],
            index_row,
        );
        match (rows, self.versions()) {
            (Ok(rows), Ok(count)) => {
                if rows.len() as u64 != count {
                    let detail = format!("{} versions in the index, {count} in blocks", rows.len());
                    note(Err(self.damaged(detail)));
                }
                for row in rows {
                    note(self.version(&row).map(drop));
                }
            }
            (rows, count) => {
                note(rows.map(drop));
                note(count.map(drop));
            }
        }
        faults.dedup();
        faults
    }

    fn check_pages(&self) -> Result<(), StoreError> {
        let found = self
            .db
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
        match self.sqlite::<String>(found)?.as_str() {
            "ok" => Ok(()),
            detail => Err(self.damaged(detail)),
        }
    }

    fn read_sources(&self) -> Result<Vec<RecordedSource>, StoreError> {
        let sql = "SELECT id, api_group, api_version, resource, kind, namespaced, namespace, name, labels, fields,
            reached, reached_at, checksum FROM source ORDER BY id";
        let rows = self.rows(sql, [], |row| {
            let reached: Option<String> = row.get(10)?;
            let source = SourceRow {
                group: row.get(1)?,
                version: row.get(2)?,
                resource: row.get(3)?,
                kind: row.get(4)?,
                namespaced: row.get(5)?,
                namespace: row.get(6)?,
                name: row.get(7)?,
                labels: row.get(8)?,
                fields: row.get(9)?,
                reached: reached.zip(row.get(11)?),
            };
            Ok((row.get(0)?, source, row.get::<_, i64>(12)?))
        })?;
        let cluster = ClusterId((*self.cluster.name).into());
        let sources = rows.into_iter().map(|(id, source, checksum)| {
            if source.checksum(id) != checksum {
                return Err(self.damaged("a source"));
            }
            let reached = source.reached.as_ref();
            Ok(RecordedSource {
                id,
                reached: reached
                    .map(|(version, at)| (ResourceVersion::new(version.as_str()), time(*at))),
                key: source.key(&cluster),
            })
        });
        sources.collect()
    }

    /// The entry of a version in its block.
    fn entry(&mut self, id: i64) -> Result<BlockEntry, StoreError> {
        let is_inside = |(first, entries): &(i64, Vec<BlockEntry>)| {
            (*first..first.saturating_add(number(entries.len()))).contains(&id)
        };
        if !self.block.as_ref().is_some_and(is_inside) {
            self.block = Some(self.read_block(id)?);
        }
        let (first, entries) = self.block.as_ref().ok_or_else(|| self.damaged("a block"))?;
        let place = usize::try_from(id - first).ok();
        let entry = place.and_then(|place| entries.get(place)).cloned();
        entry.ok_or_else(|| self.damaged(format!("no block has version {id}")))
    }

    fn read_block(&self, id: i64) -> Result<(i64, Vec<BlockEntry>), StoreError> {
        let sql = "SELECT first, versions, length, data, checksum FROM block WHERE first <= ? ORDER BY first DESC LIMIT 1";
        let found = self.found(sql, id, |row| {
            let numbers: [i64; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            Ok((numbers, row.get::<_, Vec<u8>>(3)?, row.get::<_, i64>(4)?))
        })?;
        let block = found.and_then(|(numbers, data, sum)| {
            let is_whole = checksum(&numbers, &data) == sum;
            let length = usize::try_from(numbers[2]).ok().filter(|_| is_whole)?;
            let entries = block::unpack(&data, length)?;
            (number(entries.len()) == numbers[1]).then_some((numbers[0], entries))
        });
        block.ok_or_else(|| self.damaged(format!("the block of version {id}")))
    }

    /// The source and the version of an entry.
    fn read(&mut self, id: i64, entry: &BlockEntry) -> Result<(i64, Arc<Version>), StoreError> {
        let base = self.base(entry.base, DEEPEST)?;
        let path = self.path.clone();
        let damaged = |detail: &str| StoreError::damaged(&path, format!("version {id}: {detail}"));
        let text = delta::unpack(&entry.delta, entry.length, &base);
        let text = text.ok_or_else(|| damaged("its text"))?;
        let sql = "SELECT source, namespace, name, uid FROM object WHERE id = ?";
        let object = self.found(sql, entry.object, |row| {
            let namespace: Option<String> = row.get(1)?;
            let uid: Value = row.get(3)?;
            Ok((
                row.get::<_, i64>(0)?,
                namespace,
                row.get::<_, String>(2)?,
                uid_of(&uid),
            ))
        })?;
        let (source, namespace, name, uid) = object.ok_or_else(|| damaged("no object"))?;
        if !self.readers.contains_key(&source) {
            let key = self.sources.iter().find(|known| known.id == source);
            let key = &key.ok_or_else(|| damaged("no source"))?.key;
            self.readers.insert(source, Reader::new(key));
        }
        let reader = self
            .readers
            .get_mut(&source)
            .ok_or_else(|| damaged("no source"))?;
        let version = reader
            .item(text.as_bytes())
            .map_err(|detail| damaged(&detail))?;
        let own = &version.object;
        let is_same = own.namespace.as_deref() == namespace.as_deref()
            && *own.name == *name
            && own.uid.as_ref().map(Uid::as_str) == uid.as_deref();
        if !is_same {
            return Err(damaged("the text of another object"));
        }
        Ok((source, Arc::new(version)))
    }

    fn base(&mut self, id: i64, deepest: u8) -> Result<Arc<str>, StoreError> {
        if let Some(base) = self.bases.get(&id) {
            return Ok(base.clone());
        }
        let sql = "SELECT parent, length, data, checksum FROM base WHERE id = ?";
        let found = self.found(sql, id, |row| {
            let parent: Option<i64> = row.get(0)?;
            Ok((
                parent,
                row.get::<_, i64>(1)?,
                row.get::<_, Vec<u8>>(2)?,
                row.get::<_, i64>(3)?,
            ))
        })?;
        let damaged = || self.damaged(format!("base {id}"));
        let (parent, length, data, sum) = found.ok_or_else(damaged)?;
        if checksum(&[id, parent.unwrap_or(0), length], &data) != sum || deepest == 0 {
            return Err(damaged());
        }
        let parent = match parent {
            Some(parent) => self.base(parent, deepest - 1)?,
            None => "".into(),
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let text = delta::unpack(&data, length, &parent);
        let text = text.ok_or_else(|| self.damaged(format!("base {id}")))?;
        if self.bases.len() >= BASES {
            self.bases.clear();
        }
        self.bases.insert(id, text.clone());
        Ok(text)
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.sqlite(self.db.prepare_cached(sql))?;
        let rows = self.sqlite(statement.query_map(values, read))?;
        self.sqlite(rows.collect())
    }

    /// The row with this number, if there is one.
    fn found<T>(
        &self,
        sql: &str,
        id: i64,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut statement = self.sqlite(self.db.prepare_cached(sql))?;
        self.sqlite(statement.query_row([id], read).optional())
    }

    fn sqlite<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::sqlite(&self.path, error))
    }

    fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::damaged(&self.path, detail)
    }
}

/// The row of `SELECT id, object, seen, why, revision`.
fn index_row(row: &Row<'_>) -> rusqlite::Result<IndexRow> {
    Ok(IndexRow {
        id: row.get(0)?,
        object: row.get(1)?,
        seen: row.get(2)?,
        code: row.get(3)?,
        revision: match row.get_ref(4)? {
            ValueRef::Integer(number) => u64::try_from(number).ok().and_then(Revision::of),
            ValueRef::Text(text) => str::from_utf8(text).ok().and_then(Revision::read),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        },
    })
}

/// The row of `SELECT version, source, seen, type, after, upto, count, cause, checksum`, and the checksum.
fn mark_row(row: &Row<'_>) -> rusqlite::Result<(MarkRow, i64)> {
    let mark = MarkRow {
        version: row.get(0)?,
        source: row.get(1)?,
        seen: row.get(2)?,
        kind: row.get(3)?,
        after: row.get(4)?,
        upto: row.get(5)?,
        count: row.get(6)?,
        cause: row.get(7)?,
    };
    Ok((mark, row.get(8)?))
}

pub(super) fn time(microseconds: i64) -> Timestamp {
    Timestamp::from_microsecond(microseconds).unwrap_or_default()
}

/// A version or a mark, and the row of its source.
#[cfg(test)]
pub(super) type RecordedEvent = (i64, Result<RecordedVersion, Mark>);

#[cfg(test)]
impl StoreFileReader {
    /// Everything in the file, in order: the source of each event, and the version or the mark.
    pub(super) fn everything(&mut self) -> Result<Vec<RecordedEvent>, StoreError> {
        let mut marks = self.marks(None)?.into_iter().peekable();
        let rows = self.rows(
            "SELECT id, object, seen, why, revision FROM version ORDER BY id",
            [],
            index_row,
        )?;
        let mut all = Vec::new();
        for row in rows {
            while let Some((mark, what)) = marks.next_if(|(mark, _)| mark.version <= row.id) {
                all.push((mark.source, Err(what)));
            }
            let entry = self.entry(row.id)?;
            let (source, _) = self.read(row.id, &entry)?;
            all.push((source, Ok(self.version(&row)?)));
        }
        all.extend(marks.map(|(mark, what)| (mark.source, Err(what))));
        Ok(all)
    }
}
