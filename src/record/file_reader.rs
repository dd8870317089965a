//! `StoreFileReader`: reads one file of a record, also while a recorder writes to it.
//!
//! The blocks have the versions, with a checksum. A row of the index only says where a version is: what it says beside that
//! must agree with the block, and the names of an object with its text. So damage is an error and never another version.
//! That no version is left out is the matter of [`FileIndex`].

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::Row;

use super::block::{self, BlockEntry, RecordedWhy};
use super::covered_revisions::CoveredRevisions;
use super::database::FileDatabase;
use super::error::StoreError;
use super::index::{FileIndex, IndexRow};
use super::mark::{Mark, MarkRow};
use super::redaction::Redaction;
use super::schema::{REDACTIONS, RecordedCluster, STARTED, SourceRow, checksum, number};
use crate::object::managed_fields::{ManagedFieldsEntry, entries};
use crate::object::{ResourceVersion, Uid};
use crate::source::{ClusterId, SourceKey, Version, Why};
use crate::watch::{KnownState, Reader, Revision};

/// How many bytes of bases are kept unpacked. A record can have a hundred files open.
const BASE_BYTES: usize = 4 << 20;
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

/// A file that is open for reading.
pub struct StoreFileReader {
    index: FileIndex,
    cluster: RecordedCluster,
    redactions: Vec<Redaction>,
    /// In milliseconds since the epoch.
    started: i64,
    sources: Vec<RecordedSource>,
    readers: HashMap<i64, Reader>,
    bases: HashMap<i64, Arc<str>>,
    base_bytes: usize,
    /// All marks, once they have been read.
    marks: OnceCell<Vec<(MarkRow, Mark)>>,
    /// The block that was read last, and the number of its first version.
    block: Option<(i64, Vec<BlockEntry>)>,
}

impl StoreFileReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<StoreFileReader, StoreError> {
        let database = FileDatabase::open(path)?;
        let settings = database.settings()?;
        let text = |name| settings.get(name).cloned().unwrap_or_default();
        let started = text(STARTED).parse();
        let mut reader = StoreFileReader {
            started: started.map_err(|_| database.damaged("its beginning"))?,
            index: FileIndex::new(database),
            cluster: RecordedCluster {
                id: text("cluster_id"),
                name: text("cluster"),
                server: text("server"),
            },
            redactions: text(REDACTIONS)
                .lines()
                .filter_map(|line| line.parse().ok())
                .collect(),
            sources: Vec::new(),
            readers: HashMap::new(),
            bases: HashMap::new(),
            base_bytes: 0,
            marks: OnceCell::new(),
            block: None,
        };
        reader.sources = reader.read_sources()?;
        // Damage of them would look as if nobody had recorded.
        reader.marks()?;
        Ok(reader)
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        self.index.database().path()
    }

    /// Its index.
    pub(super) fn index(&self) -> &FileIndex {
        &self.index
    }

    /// The cluster.
    pub fn cluster(&self) -> &RecordedCluster {
        &self.cluster
    }

    /// The paths whose values are not in it.
    pub(super) fn redactions(&self) -> &[Redaction] {
        &self.redactions
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
        self.index.refresh();
        self.marks = OnceCell::new();
        self.sources = self.read_sources()?;
        Ok(())
    }

    /// The number of its versions.
    pub fn versions(&self) -> Result<u64, StoreError> {
        Ok(self.index.versions()?.unsigned_abs())
    }

    /// The parts of the history of a source that the file has without a hole.
    pub fn coverage(&self, source: &RecordedSource) -> Result<CoveredRevisions, StoreError> {
        let marks = self.marks_of(source)?;
        let marks = marks.iter().map(|(_, seen, mark)| (*seen, mark));
        let end = self.end().unwrap_or(Timestamp::MIN);
        Ok(CoveredRevisions::of(marks, source.reached.as_ref(), end))
    }

    /// When it ends; `None` if it has no whole source.
    pub fn end(&self) -> Option<Timestamp> {
        let reached = self.sources().iter().filter_map(|it| it.reached.as_ref());
        reached.map(|(_, at)| *at).max()
    }

    /// All marks, in order.
    fn marks(&self) -> Result<&[(MarkRow, Mark)], StoreError> {
        if let Some(marks) = self.marks.get() {
            return Ok(marks);
        }
        let count = self.index.database().row_counts()?.marks;
        let marks = self.read_marks(0, i64::MAX, count)?;
        Ok(self.marks.get_or_init(|| marks))
    }

    /// The marks after the first ones, up to those before a version, in order.
    pub(super) fn marks_after(
        &self,
        first: i64,
        version: i64,
    ) -> Result<Vec<(MarkRow, Mark)>, StoreError> {
        self.read_marks(first, version, 0)
    }

    /// The marks after the first ones, up to those before a version. There are at least so many.
    fn read_marks(
        &self,
        first: i64,
        version: i64,
        least: i64,
    ) -> Result<Vec<(MarkRow, Mark)>, StoreError> {
        let database = self.index.database();
        let sql =
            "SELECT version, source, seen, type, after, upto, count, cause, checksum, id FROM mark
            WHERE id > ? AND version <= ? ORDER BY id";
        let rows = database.rows(sql, [first, version], mark_row)?;
        let ids = rows.iter().map(|(id, ..)| id - first);
        database.check_all("mark", ids, least)?;
        let marks = rows.into_iter().map(|(_, row, checksum)| {
            let mark = row.mark().filter(|_| row.checksum() == checksum);
            let damaged = || database.damaged("an event of a source");
            mark.map(|mark| (row, mark)).ok_or_else(damaged)
        });
        marks.collect()
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
        let marks = self.marks()?.iter();
        let marks = marks.filter(|(row, _)| row.source == source.id);
        let marks = marks.map(|(row, mark)| (row.version, time(row.seen), mark.clone()));
        Ok(marks.collect())
    }

    /// The last version of a source that did not come into this copy of a record, and when it arrived.
    pub(super) fn last_lost(
        &self,
        source: &RecordedSource,
    ) -> Result<Option<(Timestamp, Mark)>, StoreError> {
        let marks = self.marks_of(source)?.into_iter().rev();
        let mut lost = marks.filter(|(_, _, mark)| matches!(mark, Mark::Lost { .. }));
        Ok(lost.next().map(|(_, seen, mark)| (seen, mark)))
    }

    /// The times at which the server did not have the type of a source, each with its end: that of the file at the latest.
    pub(super) fn unserved_times(
        &self,
        source: &RecordedSource,
    ) -> Result<Vec<[Timestamp; 2]>, StoreError> {
        let (mut times, mut since) = (Vec::new(), None);
        for (_, seen, mark) in self.marks_of(source)? {
            let Mark::State { name, .. } = mark else {
                continue;
            };
            if &*name == "unserved" {
                since.get_or_insert(seen);
            } else if let Some(since) = since.take() {
                times.push([since, seen]);
            }
        }
        let reached = self.sources().iter();
        let end = reached.filter_map(|it| Some(it.reached.as_ref()?.1)).max();
        times.extend(since.zip(end).map(|(since, end)| [since, end]));
        Ok(times)
    }

    /// Reads a version.
    pub(super) fn version(&mut self, row: &IndexRow) -> Result<RecordedVersion, StoreError> {
        let entry = self.entry(row.id)?;
        let seen = entry.seen.div_euclid(1000) - self.started;
        if (entry.object, entry.why.code(), seen) != (row.object, row.code, row.seen) {
            return Err(self.index.damaged_version(row.id));
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

    /// The row of the source of a version, as its block says.
    pub(super) fn source_of(&mut self, version: i64) -> Result<i64, StoreError> {
        let object = self.entry(version)?.object;
        let object = self.index.object(object)?;
        let source = object.map(|object| object.source);
        source.ok_or_else(|| self.damaged("an object"))
    }

    /// The objects of a source at its end; `None` if no listing of it was complete. If a recorder writes meanwhile, they can be
    /// newer than the version that was reached.
    pub(super) fn last_state(
        &mut self,
        source: &RecordedSource,
    ) -> Result<Option<KnownState>, StoreError> {
        let Some((reached, at)) = &source.reached else {
            return Ok(None);
        };
        self.index.database().hold()?;
        let objects = self.last_objects(source.id);
        self.index.database().release();
        Ok(Some(KnownState {
            version: reached.clone(),
            at: *at,
            objects: objects?,
        }))
    }

    fn last_objects(&mut self, source: i64) -> Result<Vec<(Arc<Version>, Timestamp)>, StoreError> {
        // In the order of the blocks, so that each is unpacked once.
        let last = self.index.last_of(source)?;
        let objects = last.iter().map(|row| {
            let recorded = self.version(row)?;
            Ok((recorded.version, recorded.seen))
        });
        objects.collect()
    }

    /// Reads the whole file. Returns what is wrong with it.
    pub fn check(&mut self) -> Vec<String> {
        let mut faults: Vec<String> = Vec::new();
        let mut note = |found: Result<(), StoreError>| {
            faults.extend(found.err().map(|error| error.to_string()));
        };
        note(self.check_pages());
        note(self.marks().map(drop));
        match (self.index.all(), self.index.versions_in_blocks()) {
            (Ok(rows), Ok(count)) => {
                if number(rows.len()) != count {
                    let detail = format!("{} versions in the index, {count} in blocks", rows.len());
                    note(Err(self.damaged(detail)));
                }
                note(self.index.check_live(&rows));
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
        let database = self.index.database();
        let found = database.found("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        let detail: String = found.unwrap_or_default();
        match &*detail {
            "ok" => Ok(()),
            _ => Err(self.damaged(detail)),
        }
    }

    fn read_sources(&self) -> Result<Vec<RecordedSource>, StoreError> {
        let sql = "SELECT id, api_group, api_version, resource, kind, namespaced, namespace, name, labels, fields,
            reached, reached_at, checksum FROM source ORDER BY id";
        let database = self.index.database();
        let count = database.row_counts()?.sources;
        let rows = database.rows(sql, [], |row| {
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
            Ok((row.get::<_, i64>(0)?, source, row.get::<_, i64>(12)?))
        })?;
        database.check_all("source", rows.iter().map(|(id, ..)| *id), count)?;
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
        let found = self.index.database().found(sql, [id], |row| {
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
        let path = self.path().to_owned();
        let damaged = |detail: &str| StoreError::damaged(&path, format!("version {id}: {detail}"));
        let database = self.index.database();
        let text = database.unpack(&entry.delta, entry.length, &base);
        let text = text.ok_or_else(|| damaged("its text"))?;
        let object = self.index.object(entry.object)?;
        let object = object.ok_or_else(|| damaged("no object"))?;
        let source = object.source;
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
        let is_same = own.namespace.as_deref() == object.namespace.as_deref()
            && *own.name == *object.name
            && own.uid.as_ref().map(Uid::as_str) == object.uid.as_deref();
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
        let found = self.index.database().found(sql, [id], |row| {
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
        let text = self.index.database().unpack(&data, length, &parent);
        let text = text.ok_or_else(|| self.damaged(format!("base {id}")))?;
        if self.base_bytes.saturating_add(length) > BASE_BYTES {
            self.bases.clear();
            self.base_bytes = 0;
        }
        self.base_bytes += length;
        self.bases.insert(id, text.clone());
        Ok(text)
    }

    fn damaged(&self, detail: impl Into<String>) -> StoreError {
        self.index.database().damaged(detail)
    }
}

/// The number of a mark, its columns, and the checksum of them.
fn mark_row(row: &Row<'_>) -> rusqlite::Result<(i64, MarkRow, i64)> {
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
    Ok((row.get(9)?, mark, row.get(8)?))
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
        let mut marks = self.marks()?.to_vec().into_iter().peekable();
        let rows = self.index.all()?;
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
