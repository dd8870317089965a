//! The tables of a file, and its format.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, params};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::redaction::Redaction;
use crate::object::Resource;
use crate::source::{ClusterId, Select, SourceKey};

/// The format of the files that this version writes. It reads all formats up to this one.
///
/// Format 1 has checksums of blocks, bases, sources and marks alone. Up to format 2, LZ4 packs long texts, too. Up to format 3,
/// there is no list of the objects that exist.
pub(super) const FORMAT: i64 = 4;

/// The application id of the files, which `file` and SQLite show: `kspy`.
pub(super) const APPLICATION: i64 = 0x6b73_7079;

/// The name of the setting with the paths whose values are not in the file, one on each line.
pub(super) const REDACTIONS: &str = "redactions";

/// The name of the setting with the time at which the file begins, in milliseconds since the epoch.
pub(super) const STARTED: &str = "started";

/// The name of the setting with the checksum of all others.
pub(super) const CHECKSUM: &str = "checksum";

/// What the name of a file ends with before it has its tables.
pub(super) const DRAFT: &str = "new";

/// How long a writer waits for another process.
const BUSY: Duration = Duration::from_secs(5);

/// The tables.
///
/// `block` and `base` hold the versions; `version` and `object` are the index to them. `seen` is in milliseconds since the
/// start of the file, so that it takes few bytes. `mark` has the events that are not versions. `live` has the objects that
/// exist: a few of them, if most objects are Events. A recorder that starts reads only these.
///
/// SQLite does not notice a changed byte, and a search in a damaged index can find too little. So each row has a checksum,
/// but those of `manager`, which only the view reads. And something else tells of each row: `row_count` of those that are
/// numbered from 1 and of those of `live`, `object.last` and `version.place` of the versions of an object, and `object.hash` of
/// the objects with a name.
const TABLES: &str = "
CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE source (id INTEGER PRIMARY KEY, api_group TEXT NOT NULL, api_version TEXT NOT NULL, resource TEXT NOT NULL,
    kind TEXT NOT NULL, namespaced INTEGER NOT NULL, namespace TEXT, name TEXT, labels TEXT, fields TEXT,
    reached TEXT, reached_at INTEGER, checksum INTEGER NOT NULL);
CREATE TABLE object (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, namespace TEXT, name TEXT NOT NULL, uid BLOB,
    hash INTEGER NOT NULL, last INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE manager (id INTEGER PRIMARY KEY, names TEXT NOT NULL);
CREATE TABLE version (id INTEGER PRIMARY KEY, object INTEGER NOT NULL, seen INTEGER NOT NULL, revision, why INTEGER NOT NULL,
    manager INTEGER, place INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE base (id INTEGER PRIMARY KEY, parent INTEGER, length INTEGER NOT NULL, data BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE block (first INTEGER PRIMARY KEY, versions INTEGER NOT NULL, length INTEGER NOT NULL, data BLOB NOT NULL,
    checksum INTEGER NOT NULL);
CREATE TABLE mark (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, source INTEGER NOT NULL, seen INTEGER NOT NULL,
    type TEXT NOT NULL, after TEXT, upto TEXT, count INTEGER, cause TEXT, checksum INTEGER NOT NULL);
CREATE TABLE live (id INTEGER PRIMARY KEY);
CREATE TABLE row_count (sources INTEGER NOT NULL, objects INTEGER NOT NULL, versions INTEGER NOT NULL, marks INTEGER NOT NULL,
    live INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX object_name ON object (name);
CREATE INDEX object_hash ON object (hash);
CREATE INDEX version_object ON version (object);
CREATE VIEW versions AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', (started.value + version.seen) / 1000.0, 'unixepoch') AS time,
    cluster.value AS cluster, source.kind AS kind, object.namespace AS namespace, object.name AS name,
    manager.names AS managers, version.revision AS revision,
    CASE version.why % 8 WHEN 0 THEN 'Listed' WHEN 1 THEN 'Added' WHEN 2 THEN 'Modified' WHEN 3 THEN 'Deleted'
        WHEN 4 THEN 'LeftSelector' WHEN 5 THEN 'Vanished' WHEN 6 THEN 'Skipped' END AS why
FROM version JOIN object ON object.id = version.object JOIN source ON source.id = object.source
    LEFT JOIN manager ON manager.id = version.manager
    JOIN setting AS started ON started.name = 'started' JOIN setting AS cluster ON cluster.name = 'cluster';
";

/// The cluster of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCluster {
    /// The uid of its Namespace `kube-system`, or else a hash of its server.
    pub id: String,
    /// The name of the context with which it was recorded.
    pub name: String,
    /// `HOST:PORT` of its server.
    pub server: String,
}

/// A file that is to be created.
pub(super) struct NewFile<'a> {
    pub(super) cluster: &'a RecordedCluster,
    pub(super) redactions: &'a [Redaction],
    /// When it begins.
    pub(super) started: Timestamp,
    pub(super) synchronous: Synchronous,
}

/// What a power failure may take: the setting `synchronous` of SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synchronous {
    /// The last commits. The next recorder reads them back from the server.
    Normal,
    /// Nothing that is committed.
    Full,
}

/// Creates a file, and begins a transaction. The file gets its name when it has its tables, so that an empty one is damage.
pub(super) fn create(path: &Path, new: &NewFile<'_>) -> Result<Connection, StoreError> {
    let draft = path.with_extension(format!("{:08x}.{DRAFT}", fastrand::u32(..)));
    let made = write_tables(&draft, new);
    // Unlike a renaming, a link never replaces a file.
    let named = made.and_then(|()| {
        std::fs::hard_link(&draft, path).map_err(|error| StoreError::io(path, error))
    });
    // Without its name, it is of no use to anybody.
    let _gone = std::fs::remove_file(&draft);
    named?;
    let begun = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        db.busy_timeout(BUSY)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        db.pragma_update(None, "synchronous", new.synchronous.setting())?;
        db.execute_batch("BEGIN")?;
        Ok(db)
    };
    begun().map_err(|error| {
        let _gone = std::fs::remove_file(path);
        StoreError::sqlite(path, error)
    })
}

/// Writes a file with tables and without a row of a source. It is on the disk then.
fn write_tables(path: &Path, new: &NewFile<'_>) -> Result<(), StoreError> {
    let cluster = new.cluster;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .map_err(|error| StoreError::io(path, error))?;
    let redactions = new.redactions.iter().map(Redaction::to_string);
    let redactions: Vec<String> = redactions.collect();
    let settings = BTreeMap::from([
        ("cluster".to_owned(), cluster.name.clone()),
        ("cluster_id".to_owned(), cluster.id.clone()),
        ("server".to_owned(), cluster.server.clone()),
        ("needs".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        (REDACTIONS.to_owned(), redactions.join("\n")),
        (STARTED.to_owned(), new.started.as_millisecond().to_string()),
    ]);
    let written = || -> rusqlite::Result<()> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // Nobody undoes a part of it.
        db.pragma_update(None, "journal_mode", "off")?;
        db.pragma_update(None, "synchronous", Synchronous::Full.setting())?;
        db.execute_batch(&format!("BEGIN;{TABLES}"))?;
        db.pragma_update(None, "application_id", APPLICATION)?;
        db.pragma_update(None, "user_version", FORMAT)?;
        let sql = "INSERT INTO setting VALUES (?, ?)";
        for (name, value) in &settings {
            // The view calculates with the start.
            match value.parse::<i64>() {
                Ok(number) if name == STARTED => db.execute(sql, params![name, number])?,
                Ok(_) | Err(_) => db.execute(sql, params![name, value])?,
            };
        }
        db.execute(sql, params![CHECKSUM, settings_checksum(&settings)])?;
        let counts = RowCounts {
            live: Some(0),
            ..RowCounts::default()
        };
        let sql = "INSERT INTO row_count VALUES (0, 0, 0, 0, 0, ?)";
        db.execute(sql, [counts.checksum()])?;
        db.execute_batch("COMMIT")
    };
    written().map_err(|error| StoreError::sqlite(path, error))
}

impl Synchronous {
    fn setting(self) -> &'static str {
        match self {
            Synchronous::Normal => "normal",
            Synchronous::Full => "full",
        }
    }
}

impl RecordedCluster {
    /// Whether a word chooses it: its context, or its id.
    pub fn is_called(&self, word: &str) -> bool {
        self.name == word || self.id == word
    }

    /// The word that chooses each of these clusters alone: its context, or its id if several have that context.
    pub fn words(all: &[RecordedCluster]) -> Vec<&str> {
        let is_shared = |name: &str| all.iter().filter(|it| it.name == name).count() > 1;
        let words = all.iter().map(|it| {
            if is_shared(&it.name) {
                &*it.id
            } else {
                &*it.name
            }
        });
        words.collect()
    }
}

/// A length as a number of the database.
pub(super) fn number(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The checksum of a row: CRC-32 of its values, each with its length.
pub(super) struct Checksum(crc32fast::Hasher);

impl Checksum {
    pub(super) fn new() -> Checksum {
        Checksum(crc32fast::Hasher::new())
    }

    pub(super) fn number(&mut self, number: i64) {
        self.0.update(&number.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// A missing text is not an empty one.
    pub(super) fn text(&mut self, text: Option<&str>) {
        self.number(i64::from(text.is_some()));
        self.bytes(text.unwrap_or_default().as_bytes());
    }

    pub(super) fn value(self) -> i64 {
        self.0.finalize().into()
    }
}

/// The checksum of a row with these numbers and data.
pub(super) fn checksum(numbers: &[i64], data: &[u8]) -> i64 {
    let mut sum = Checksum::new();
    for number in numbers {
        sum.number(*number);
    }
    sum.bytes(data);
    sum.value()
}

/// The checksum of all settings, by their names.
pub(super) fn settings_checksum(settings: &BTreeMap<String, String>) -> i64 {
    let mut sum = Checksum::new();
    for (name, value) in settings {
        sum.text(Some(name));
        sum.text(Some(value));
    }
    sum.value()
}

/// How many rows the tables have that are numbered from 1, and how many objects exist.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowCounts {
    pub(super) sources: i64,
    pub(super) objects: i64,
    pub(super) versions: i64,
    pub(super) marks: i64,
    /// `None` in a format without `live`.
    pub(super) live: Option<i64>,
}

impl RowCounts {
    pub(super) fn checksum(&self) -> i64 {
        let numbered = [self.sources, self.objects, self.versions, self.marks];
        let numbers: Vec<i64> = numbered.into_iter().chain(self.live).collect();
        checksum(&numbers, &[])
    }
}

/// A source as its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SourceRow {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fields: Option<String>,
    /// The version up to which everything is recorded, and the time of that in microseconds since the epoch.
    #[serde(skip)]
    pub(super) reached: Option<(String, i64)>,
}

impl SourceRow {
    pub(super) fn new(key: &SourceKey) -> SourceRow {
        let resource = &key.resource;
        let name = key.select.name();
        let fields = key.select.field_selector().filter(|_| name.is_none());
        SourceRow {
            group: resource.group.to_string(),
            version: resource.version.to_string(),
            resource: resource.plural.to_string(),
            kind: resource.kind.to_string(),
            namespaced: resource.namespaced,
            namespace: key.namespace().map(str::to_owned),
            name: name.map(str::to_owned),
            labels: key.select.label_selector().map(str::to_owned),
            fields: fields.map(Into::into),
            reached: None,
        }
    }

    /// The key of the source, in a cluster with this name.
    pub(super) fn key(&self, cluster: &ClusterId) -> SourceKey {
        let resource = Resource {
            group: (*self.group).into(),
            version: (*self.version).into(),
            plural: (*self.resource).into(),
            kind: (*self.kind).into(),
            namespaced: self.namespaced,
        };
        let select = match &self.name {
            Some(name) => Select::Name((**name).into()),
            None => Select::matching(self.labels.as_deref(), self.fields.as_deref()),
        };
        let namespace = self.namespace.as_deref().map(Into::into);
        SourceKey::of(cluster, resource, namespace, select)
    }

    pub(super) fn checksum(&self, id: i64) -> i64 {
        let mut sum = Checksum::new();
        sum.number(id);
        for text in [&self.group, &self.version, &self.resource, &self.kind] {
            sum.text(Some(text));
        }
        sum.number(i64::from(self.namespaced));
        for text in [&self.namespace, &self.name, &self.labels, &self.fields] {
            sum.text(text.as_deref());
        }
        sum.text(self.reached.as_ref().map(|(version, _)| version.as_str()));
        sum.number(self.reached.as_ref().map_or(-1, |(_, at)| *at));
        sum.value()
    }
}
