//! The tables of a file, and its format.

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
const FORMAT: i64 = 1;

/// The application id of the files, which `file` and SQLite show: `kspy`.
const APPLICATION: i64 = 0x6b73_7079;

/// The name of the setting with the paths whose values are not in the file, one on each line.
pub(super) const REDACTIONS: &str = "redactions";

/// How long a reader waits for a writer that moves its log into the file.
const BUSY: Duration = Duration::from_secs(5);

/// The tables.
///
/// `block` and `base` hold the versions, with a checksum each; `version` and `object` are the index to them. `seen` is in
/// milliseconds since the start of the file, so that it takes few bytes. `mark` has the events that are not versions.
const TABLES: &str = "
CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE source (id INTEGER PRIMARY KEY, api_group TEXT NOT NULL, api_version TEXT NOT NULL, resource TEXT NOT NULL,
    kind TEXT NOT NULL, namespaced INTEGER NOT NULL, namespace TEXT, name TEXT, labels TEXT, fields TEXT,
    reached TEXT, reached_at INTEGER, checksum INTEGER NOT NULL);
CREATE TABLE object (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, namespace TEXT, name TEXT NOT NULL, uid BLOB);
CREATE TABLE manager (id INTEGER PRIMARY KEY, names TEXT NOT NULL);
CREATE TABLE version (id INTEGER PRIMARY KEY, object INTEGER NOT NULL, seen INTEGER NOT NULL, revision, why INTEGER NOT NULL,
    manager INTEGER);
CREATE TABLE base (id INTEGER PRIMARY KEY, parent INTEGER, length INTEGER NOT NULL, data BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE block (first INTEGER PRIMARY KEY, versions INTEGER NOT NULL, length INTEGER NOT NULL, data BLOB NOT NULL,
    checksum INTEGER NOT NULL);
CREATE TABLE mark (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, source INTEGER NOT NULL, seen INTEGER NOT NULL,
    type TEXT NOT NULL, after TEXT, upto TEXT, count INTEGER, cause TEXT, checksum INTEGER NOT NULL);
CREATE INDEX object_name ON object (name);
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

/// Creates a file for a recorder that starts it now, and begins a transaction.
pub(super) fn create(
    path: &Path,
    cluster: &RecordedCluster,
    redactions: &[Redaction],
    started: Timestamp,
) -> Result<Connection, StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .map_err(|error| StoreError::io(path, error))?;
    let redactions: Vec<String> = redactions.iter().map(Redaction::to_string).collect();
    let redactions = redactions.join("\n");
    let begun = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        db.busy_timeout(BUSY)?;
        db.pragma_update(None, "journal_mode", "wal")?;
        // After a power failure the last commits may be missing, and the next recorder reads them back from the server.
        db.pragma_update(None, "synchronous", "normal")?;
        db.execute_batch(&format!("BEGIN;{TABLES}"))?;
        db.pragma_update(None, "application_id", APPLICATION)?;
        db.pragma_update(None, "user_version", FORMAT)?;
        for (name, value) in [
            ("cluster", &*cluster.name),
            ("cluster_id", &cluster.id),
            ("server", &cluster.server),
            ("needs", env!("CARGO_PKG_VERSION")),
            (REDACTIONS, &redactions),
        ] {
            db.execute("INSERT INTO setting VALUES (?, ?)", params![name, value])?;
        }
        let started = started.as_millisecond();
        db.execute(
            "INSERT INTO setting VALUES ('started', ?)",
            params![started],
        )?;
        db.execute_batch("COMMIT; BEGIN")?;
        Ok(db)
    };
    begun().map_err(|error| {
        // A file without tables is of no use to anybody.
        let _gone = std::fs::remove_file(path);
        StoreError::sqlite(path, error)
    })
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

/// Opens a file to read it. Other processes may write to it.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    // A pipe would wait for a writer without end.
    let about = std::fs::metadata(path).map_err(|error| StoreError::io(path, error))?;
    if !about.is_file() {
        return Err(StoreError::Foreign { path: path.into() });
    }
    let sqlite = |error| StoreError::sqlite(path, error);
    let found = match read_only(path) {
        Ok(found) => Ok(found),
        // In a directory that cannot be written, SQLite reads only files that nobody writes.
        Err(_) if !has_log(path) => immutable(path),
        Err(error) => Err(error),
    };
    let db = found.map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => StoreError::Foreign { path: path.into() },
        _ => sqlite(error),
    })?;
    let number = |name: &str| -> Result<i64, StoreError> {
        db.pragma_query_value(None, name, |row| row.get(0))
            .map_err(sqlite)
    };
    if number("schema_version")? == 0 {
        return Err(StoreError::Empty { path: path.into() });
    }
    if number("application_id")? != APPLICATION {
        return Err(StoreError::Foreign { path: path.into() });
    }
    let found = number("user_version")?;
    if found > FORMAT {
        let needs = setting(&db, "needs").unwrap_or_default();
        return Err(StoreError::Newer {
            path: path.into(),
            found,
            reads: FORMAT,
            needs,
        });
    }
    Ok(db)
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

/// Whether a writer has left changes beside the file.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// A text among the settings of a file; `None` if it has none.
pub(super) fn setting(db: &Connection, name: &str) -> Option<String> {
    db.query_row("SELECT value FROM setting WHERE name = ?", [name], |row| {
        row.get(0)
    })
    .ok()
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
