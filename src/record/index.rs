//! `FileIndex`: where a file has which versions, and that none of them is left out.
//!
//! A search in a damaged index of SQLite can find too little without an error. So whatever is found must agree with another
//! part of the file: the objects are numbered and counted, each names its last version, and each version is numbered among
//! those of its object. Two indexes find the objects with a name. A file of format 1 has none of that, and is believed.

use std::borrow::Cow;
use std::cell::OnceCell;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Row, params};
use rustc_hash::{FxHashMap, FxHashSet};

use super::block::RecordedWhy;
use super::database::FileDatabase;
use super::error::StoreError;
use super::schema::{Checksum, checksum, number};
use crate::source::Why;
use crate::watch::Revision;

/// A row of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexRow {
    pub(super) id: i64,
    pub(super) object: i64,
    /// In milliseconds since the start of the file.
    pub(super) seen: i64,
    /// `None` if the resourceVersion is not a number.
    pub(super) revision: Option<Revision>,
    pub(super) code: u8,
    /// Its number among the versions of its object, from 1.
    place: i64,
    /// Whether its checksum is right.
    is_whole: bool,
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

/// A row of the index with its object.
#[derive(Clone, Debug)]
pub(super) struct NamedRow {
    pub(super) row: IndexRow,
    /// `None` if one of the two rows is damaged.
    pub(super) object: Option<ObjectRow<'static>>,
}

/// An object as its columns.
#[derive(Clone, Debug)]
pub(super) struct ObjectRow<'r> {
    pub(super) id: i64,
    pub(super) source: i64,
    pub(super) namespace: Option<Cow<'r, str>>,
    pub(super) name: Cow<'r, str>,
    pub(super) uid: Option<Cow<'r, str>>,
}

impl ObjectRow<'_> {
    /// The checksum of what never changes.
    pub(super) fn identity(&self) -> i64 {
        let mut sum = Checksum::new();
        sum.number(self.id);
        sum.number(self.source);
        sum.text(self.namespace.as_deref());
        sum.text(Some(&self.name));
        sum.text(self.uid.as_deref());
        sum.value()
    }

    fn into_owned(self) -> ObjectRow<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        ObjectRow {
            id: self.id,
            source: self.source,
            namespace: self.namespace.map(owned),
            name: owned(self.name),
            uid: self.uid.map(owned),
        }
    }

    /// What the second index of names has of this one.
    pub(super) fn hash(name: &str) -> i64 {
        crc32fast::hash(name.as_bytes()).into()
    }
}

/// The checksum of the row of an object with this [`ObjectRow::identity`] and last version.
pub(super) fn object_checksum(identity: i64, last: i64) -> i64 {
    checksum(&[identity, last], &[])
}

/// The checksum of a row of `version`: of its numbers, of the row of its managers, and of its resourceVersion.
pub(super) fn version_checksum(
    numbers: [i64; 5],
    manager: Option<i64>,
    revision: ValueRef<'_>,
) -> i64 {
    let mut sum = Checksum::new();
    for number in numbers.into_iter().chain([manager.unwrap_or(0)]) {
        sum.number(number);
    }
    match revision {
        ValueRef::Integer(number) => sum.number(number),
        ValueRef::Text(text) => sum.bytes(text),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => {}
    }
    sum.value()
}

/// What proves that all versions of an object were found.
#[derive(Clone, Copy, Debug)]
struct ObjectEnd {
    id: i64,
    source: i64,
    last: i64,
}

/// The index of a file.
pub(super) struct FileIndex {
    database: FileDatabase,
    /// All objects, once they have been read.
    objects: OnceCell<Vec<ObjectEnd>>,
    /// The last versions of those that exist, each with the row of its source, once they have been read.
    live: OnceCell<Vec<(i64, IndexRow)>>,
}

impl FileIndex {
    pub(super) fn new(database: FileDatabase) -> FileIndex {
        FileIndex {
            database,
            objects: OnceCell::new(),
            live: OnceCell::new(),
        }
    }

    pub(super) fn database(&self) -> &FileDatabase {
        &self.database
    }

    /// Forgets what was read, because a recorder may have added to it.
    pub(super) fn refresh(&mut self) {
        self.objects = OnceCell::new();
        self.live = OnceCell::new();
    }

    /// The number of versions.
    pub(super) fn versions(&self) -> Result<i64, StoreError> {
        if self.database.is_proven() {
            return Ok(self.database.row_counts()?.versions);
        }
        self.versions_in_blocks()
    }

    /// The number of versions that the blocks have.
    pub(super) fn versions_in_blocks(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(first + versions), 1) - 1 FROM block";
        let count = self.database.found(sql, [], |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// The versions of a source, in order.
    pub(super) fn of_source(&self, source: i64) -> Result<Vec<IndexRow>, StoreError> {
        let objects = self.objects_of(source)?;
        let sql = format!(
            "SELECT {} FROM version WHERE object IN (SELECT id FROM object WHERE source = ?) ORDER BY id",
            self.version_columns()
        );
        let rows = self.database.rows(&sql, [source], version_row)?;
        self.check_histories(&objects, &rows)?;
        Ok(rows)
    }

    /// The versions of the objects of a source with a name, in order.
    pub(super) fn of_name(&self, source: i64, name: &str) -> Result<Vec<IndexRow>, StoreError> {
        let mut objects = self.objects_named(name)?;
        objects.retain(|end| end.source == source);
        let columns = self.version_columns();
        let sql = format!("SELECT {columns} FROM version WHERE object = ? ORDER BY id");
        let mut rows = Vec::new();
        for end in &objects {
            rows.extend(self.database.rows(&sql, [end.id], version_row)?);
        }
        rows.sort_by_key(|row| row.id);
        self.check_histories(&objects, &rows)?;
        Ok(rows)
    }

    /// The last version of each object of a source that exists, in the order of the versions.
    pub(super) fn last_of(&self, source: i64) -> Result<Vec<IndexRow>, StoreError> {
        if self.database.lists_live() {
            let live = self.live()?.iter();
            let own = live.filter(|(of, _)| *of == source);
            return Ok(own.map(|(_, row)| *row).collect());
        }
        Ok(existing(&self.of_source(source)?))
    }

    /// Fails unless the list of the objects that exist agrees with all versions of the file.
    pub(super) fn check_live(&self, all: &[IndexRow]) -> Result<(), StoreError> {
        if !self.database.lists_live() {
            return Ok(());
        }
        let listed = self.live()?.iter().map(|(_, row)| row.id);
        let expected = existing(all).into_iter().map(|row| row.id);
        let damaged = || self.database.damaged("the list of its objects");
        expected.eq(listed).then_some(()).ok_or_else(damaged)
    }

    /// The last versions of all objects that exist, in order, each with the row of its source. A list that has too few or others is
    /// an error.
    fn live(&self) -> Result<&[(i64, IndexRow)], StoreError> {
        if let Some(live) = self.live.get() {
            return Ok(live);
        }
        let count = self.database.row_counts()?.live;
        let sql = format!(
            "SELECT {}, {} FROM live JOIN object ON object.id = live.id JOIN version ON version.id = object.last
            ORDER BY version.id",
            self.version_columns(),
            self.object_columns()
        );
        let rows = self.database.rows(&sql, [], |row| {
            let version = version_row(row)?;
            let object =
                object_row(row, VERSION_COLUMNS)?.map(|(object, _)| (object.id, object.source));
            let is_right = |(id, _): &(i64, i64)| {
                version.object == *id && version.is_whole && !version.is_gone()
            };
            Ok(object.filter(is_right).map(|(_, source)| (source, version)))
        })?;
        let live: Option<Vec<(i64, IndexRow)>> = rows.into_iter().collect();
        let live = live.filter(|live| {
            let are_different = live.is_sorted_by(|(_, one), (_, next)| one.id < next.id);
            are_different && Some(number(live.len())) == count
        });
        let live = live.ok_or_else(|| self.database.damaged("the list of its objects"))?;
        Ok(self.live.get_or_init(|| live))
    }

    /// At most this many versions after one, in order. Single rows may be damaged.
    pub(super) fn page_after(
        &self,
        version: i64,
        most: usize,
    ) -> Result<Vec<NamedRow>, StoreError> {
        // What a recorder adds meanwhile may be in the page.
        let count = self.versions()?;
        let sql = format!(
            "SELECT {}, {} FROM version LEFT JOIN object ON object.id = version.object
            WHERE version.id > ? ORDER BY version.id LIMIT ?",
            self.version_columns(),
            self.object_columns()
        );
        let page = self
            .database
            .rows(&sql, params![version, number(most)], |row| {
                let version = version_row(row)?;
                let object = match row.get_ref(VERSION_COLUMNS)? {
                    ValueRef::Null => None,
                    _ => object_row(row, VERSION_COLUMNS)?,
                };
                let object = object.filter(|_| version.is_whole);
                Ok(NamedRow {
                    row: version,
                    object: object.map(|(object, _)| object.into_owned()),
                })
            })?;
        let ids = page.iter().map(|named| named.row.id - version);
        let least = if page.len() < most {
            count - version
        } else {
            0
        };
        self.database.check_all("version", ids, least)?;
        Ok(page)
    }

    /// All versions, in order.
    pub(super) fn all(&self) -> Result<Vec<IndexRow>, StoreError> {
        let count = self.versions()?;
        let objects = self.read_objects()?;
        let sql = format!("SELECT {} FROM version ORDER BY id", self.version_columns());
        let rows = self.database.rows(&sql, [], version_row)?;
        self.database
            .check_all("version", rows.iter().map(|row| row.id), count)?;
        self.check_histories(&objects, &rows)?;
        Ok(rows)
    }

    /// An object; `None` if it is missing or damaged.
    pub(super) fn object(&self, id: i64) -> Result<Option<ObjectRow<'static>>, StoreError> {
        let sql = format!("SELECT {} FROM object WHERE id = ?", self.object_columns());
        let found = self.database.found(&sql, [id], |row| {
            let found = object_row(row, 0)?;
            Ok(found.map(|(object, _)| object.into_owned()))
        })?;
        Ok(found.flatten())
    }

    fn objects_of(&self, source: i64) -> Result<Vec<ObjectEnd>, StoreError> {
        if self.objects.get().is_none() {
            let objects = self.read_objects()?;
            self.objects.get_or_init(|| objects);
        }
        let objects = self.objects.get().into_iter().flatten();
        let own = objects.filter(|end| end.source == source);
        Ok(own.copied().collect())
    }

    fn read_objects(&self) -> Result<Vec<ObjectEnd>, StoreError> {
        let count = self.database.row_counts()?.objects;
        let sql = format!("SELECT {} FROM object ORDER BY id", self.object_columns());
        let objects = self.ends(self.database.rows(&sql, [], object_end)?)?;
        self.database
            .check_all("object", objects.iter().map(|end| end.id), count)?;
        Ok(objects)
    }

    /// The objects with a name. Both indexes of names must have them.
    fn objects_named(&self, name: &str) -> Result<Vec<ObjectEnd>, StoreError> {
        let columns = self.object_columns();
        let by_name =
            format!("SELECT {columns} FROM object INDEXED BY object_name WHERE name = ?1");
        if !self.database.is_proven() {
            return self.ends(self.database.rows(&by_name, [name], object_end)?);
        }
        // One statement: a recorder may add an object between two.
        let sql = format!(
            "{by_name} UNION ALL SELECT {columns} FROM object INDEXED BY object_hash WHERE hash = ?2 AND name = ?1"
        );
        let values = params![name, ObjectRow::hash(name)];
        let mut objects = self.ends(self.database.rows(&sql, values, object_end)?)?;
        objects.sort_by_key(|end| end.id);
        let (pairs, alone) = objects.as_chunks::<2>();
        let are_pairs = pairs.iter().all(|[one, other]| one.id == other.id);
        if !are_pairs || !alone.is_empty() {
            return Err(self.database.damaged("the index of names"));
        }
        objects.dedup_by_key(|end| end.id);
        Ok(objects)
    }

    /// Fails if one of these objects is damaged.
    fn ends(&self, objects: Vec<Option<ObjectEnd>>) -> Result<Vec<ObjectEnd>, StoreError> {
        let all: Option<Vec<ObjectEnd>> = objects.into_iter().collect();
        all.ok_or_else(|| self.database.damaged("an object"))
    }

    /// Fails if a version of one of these objects is missing or damaged. What a recorder has added since may be there.
    fn check_histories(&self, objects: &[ObjectEnd], rows: &[IndexRow]) -> Result<(), StoreError> {
        if !self.database.is_proven() {
            return Ok(());
        }
        let mut places: FxHashMap<i64, i64> = FxHashMap::default();
        let mut ends: FxHashSet<i64> = objects.iter().map(|end| end.last).collect();
        for row in rows {
            let place = places.entry(row.object).or_default();
            *place += 1;
            if row.place != *place || !row.is_whole {
                return Err(self.damaged_version(row.id));
            }
            ends.remove(&row.id);
        }
        match ends.iter().min() {
            None => Ok(()),
            Some(missing) => Err(self.damaged_version(*missing)),
        }
    }

    /// That the index of a version is damaged.
    pub(super) fn damaged_version(&self, id: i64) -> StoreError {
        self.database.damaged(format!("the index of version {id}"))
    }

    /// The columns that [`version_row`] reads.
    fn version_columns(&self) -> &'static str {
        if self.database.is_proven() {
            "version.id, object, seen, why, place, manager, revision, version.checksum"
        } else {
            "version.id, object, seen, why, 0, manager, revision, NULL"
        }
    }

    /// The columns that [`object_row`] reads.
    fn object_columns(&self) -> &'static str {
        if self.database.is_proven() {
            "object.id, source, namespace, name, uid, last, object.checksum"
        } else {
            "object.id, source, namespace, name, uid, 0, NULL"
        }
    }
}

/// The last of these versions of each object that exists, in order.
fn existing(versions: &[IndexRow]) -> Vec<IndexRow> {
    let last = versions.iter().map(|row| (row.object, *row));
    let last: FxHashMap<i64, IndexRow> = last.collect();
    let mut last: Vec<IndexRow> = last.into_values().filter(|row| !row.is_gone()).collect();
    last.sort_by_key(|row| row.id);
    last
}

/// How many columns a version has.
const VERSION_COLUMNS: usize = 8;

fn version_row(row: &Row<'_>) -> rusqlite::Result<IndexRow> {
    let (id, object, seen) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (code, place): (u8, i64) = (row.get(3)?, row.get(4)?);
    let revision = row.get_ref(6)?;
    let sum: Option<i64> = row.get(7)?;
    let numbers = [id, object, seen, code.into(), place];
    let expected = version_checksum(numbers, row.get(5)?, revision);
    Ok(IndexRow {
        id,
        object,
        seen,
        code,
        place,
        revision: match revision {
            ValueRef::Integer(number) => u64::try_from(number).ok().and_then(Revision::of),
            ValueRef::Text(text) => str::from_utf8(text).ok().and_then(Revision::read),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => None,
        },
        is_whole: sum.is_none_or(|sum| sum == expected),
    })
}

/// The columns of an object from a place on, and the number of its last version; `None` if it is damaged.
fn object_row<'r>(
    row: &'r Row<'_>,
    first: usize,
) -> rusqlite::Result<Option<(ObjectRow<'r>, i64)>> {
    let namespace = row.get_ref(first + 2)?.as_str_or_null()?;
    let object = ObjectRow {
        id: row.get(first)?,
        source: row.get(first + 1)?,
        namespace: namespace.map(Cow::Borrowed),
        name: row.get_ref(first + 3)?.as_str()?.into(),
        uid: uid_of(row.get_ref(first + 4)?),
    };
    let (last, sum): (i64, Option<i64>) = (row.get(first + 5)?, row.get(first + 6)?);
    let expected = object_checksum(object.identity(), last);
    Ok(sum
        .is_none_or(|sum| sum == expected)
        .then_some((object, last)))
}

/// The end of the versions of an object, from the first columns of a row; `None` if it is damaged.
fn object_end(row: &Row<'_>) -> rusqlite::Result<Option<ObjectEnd>> {
    let found = object_row(row, 0)?;
    Ok(found.map(|(ObjectRow { id, source, .. }, last)| ObjectEnd { id, source, last }))
}

/// The 16 bytes of a uid, or its text if it is spelled in another way.
pub(super) fn uid_value(uid: &str) -> Value {
    let digits: Vec<u8> = uid.bytes().filter(|byte| *byte != b'-').collect();
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    match bytes {
        Some(bytes) if bytes.len() == 16 && hyphenated(&bytes) == uid => Value::Blob(bytes),
        Some(_) | None => Value::Text(uid.to_owned()),
    }
}

/// The uid of a value; `None` if there is none.
fn uid_of(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match value {
        ValueRef::Blob(bytes) => Some(hyphenated(bytes).into()),
        ValueRef::Text(text) => str::from_utf8(text).ok().map(Cow::Borrowed),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    }
}

/// `f3b1c2d4-0000-4000-8000-00000000000a` of 16 bytes.
fn hyphenated(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = Vec::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push(b'-');
        }
        text.extend([byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
    }
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_read_as_it_was_written() {
        for (uid, is_short) in [
            ("f3b1c2d4-0000-4000-8000-00000000000a", true),
            ("F3b1c2d4-0000-4000-8000-00000000000a", false),
            ("f3b1c2d4000040008000-00000000000a", false),
            ("0123456789abcdef", false),
            ("u1", false),
            ("", false),
        ] {
            let value = uid_value(uid);
            assert_eq!(uid_of((&value).into()).as_deref(), Some(uid));
            assert_eq!(matches!(value, Value::Blob(_)), is_short, "{uid}");
        }
    }
}
