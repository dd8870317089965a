//! `Outbox`: the messages that wait for their receivers, and the last known states, in one SQLite file.
//!
//! A change of state and its messages enter the file in one transaction. A message leaves it after its receiver has taken
//! it. If the program ends in between, it sends the message again with the same id.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::known_states::{KnownStates, ObjectState, StateChange, StateUpdate, cluster_key, known};
use super::transition::Delivery;
use super::webhook::Sink;
use crate::object::{ObjectRef, Uid};
use crate::status::Status;

/// How many messages wait for one receiver.
const MAX_WAITING: i64 = 100_000;
/// How long an object is known that no run has seen.
const KNOW: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The version of the file.
const FORMAT: i64 = 1;
/// Until when the states of the only cluster are complete. Of several, a space and the name of the cluster follow.
const UNTIL: &str = "until";

/// `delivery.due` is the time at which a held message is released; NULL for one that can be sent.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS object (
        id TEXT PRIMARY KEY, api_version TEXT, kind TEXT, namespace TEXT, name TEXT, uid TEXT,
        status TEXT, absent_since INTEGER
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS delivery (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, sink TEXT NOT NULL, object TEXT NOT NULL, id TEXT NOT NULL,
        origin TEXT, target TEXT NOT NULL, time INTEGER NOT NULL, due INTEGER, record TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS by_sink ON delivery (sink, seq);
    CREATE UNIQUE INDEX IF NOT EXISTS held ON delivery (sink, object) WHERE due IS NOT NULL;
";

/// Why the outbox cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// SQLite cannot read or write the file.
    #[error("{}: {error}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        error: rusqlite::Error,
    },
    /// The file or its directory cannot be made.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Another program has the file.
    #[error("{}: in use by another kubectl spy serve", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A later version of this program has written the file.
    #[error("{}: a newer version of kubectl spy has written it", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
    },
}

/// The objects of a cluster, and until when their states are complete.
type ClusterStates = (BTreeMap<String, ObjectState>, Option<Timestamp>);

/// The file.
#[derive(Debug)]
pub struct Outbox {
    db: Connection,
    path: PathBuf,
    /// The number of messages that wait for each sink, held ones included.
    waiting: BTreeMap<String, u64>,
}

impl Outbox {
    /// How long a message waits for its receiver, after the change that it tells of.
    pub const KEEP: SignedDuration = SignedDuration::from_hours(7 * 24);

    /// Opens the file, or creates it. One program alone can have it.
    pub fn open(path: &Path) -> Result<Outbox, OutboxError> {
        create(path).map_err(|error| OutboxError::Io {
            path: path.to_owned(),
            error,
        })?;
        let opened = Connection::open(path).and_then(|db| {
            db.pragma_update(None, "locking_mode", "exclusive")?;
            db.pragma_update(None, "journal_mode", "wal")?;
            // A message survives a power cut, too.
            db.pragma_update(None, "synchronous", "full")?;
            let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if version <= FORMAT {
                db.execute_batch(TABLES)?;
                db.pragma_update(None, "user_version", FORMAT)?;
                let token = format!("{:016x}", fastrand::u64(..));
                db.execute("INSERT OR IGNORE INTO meta VALUES ('token', ?1)", [token])?;
                db.execute("INSERT OR IGNORE INTO meta VALUES ('changes', 0)", [])?;
            }
            let waiting = match version {
                ..=FORMAT => waiting(&db)?,
                _ => BTreeMap::new(),
            };
            Ok((db, version, waiting))
        });
        let path = path.to_owned();
        match opened {
            Ok((_, version, _)) if version > FORMAT => Err(OutboxError::Newer { path }),
            Ok((db, _, waiting)) => Ok(Outbox { db, path, waiting }),
            Err(error) if is_busy(&error) => Err(OutboxError::InUse { path }),
            Err(error) => Err(OutboxError::Sqlite { path, error }),
        }
    }

    /// What the run before knew of each cluster, by its key. Objects that no run has seen for a week are forgotten.
    pub fn known_states(
        &mut self,
        now: Timestamp,
    ) -> Result<BTreeMap<String, KnownStates>, OutboxError> {
        let read = || {
            let (time, oldest) = (now.as_millisecond(), (now - KNOW).as_millisecond());
            let absent = "UPDATE object SET absent_since = ?1 WHERE absent_since IS NULL";
            self.db.execute(absent, [time])?;
            let old = "DELETE FROM object WHERE absent_since < ?1";
            self.db.execute(old, [oldest])?;
            let mut objects = self.db.prepare(
                "SELECT id, api_version, kind, namespace, name, uid, status FROM object",
            )?;
            let objects = objects.query_map([], known_object)?;
            let mut clusters: BTreeMap<String, ClusterStates> = BTreeMap::new();
            for object in objects {
                let (id, object) = object?;
                let cluster = clusters.entry(cluster_key(&id).to_owned()).or_default();
                cluster.0.insert(id, object);
            }
            for (cluster, until) in self.times()? {
                clusters.entry(cluster).or_default().1 = Some(until);
            }
            let clusters = clusters.into_iter().map(|(cluster, (objects, until))| {
                (cluster, KnownStates::of_earlier_run(objects, until))
            });
            Ok(clusters.collect())
        };
        read().map_err(|error| self.error(error))
    }

    /// Until when the states of each cluster are complete.
    fn times(&self) -> rusqlite::Result<Vec<(String, Timestamp)>> {
        let mut times = self.db.prepare("SELECT name, value FROM meta")?;
        let times = times.query_map([], |row| {
            let name: String = row.get(0)?;
            let Some(cluster) = name.strip_prefix(UNTIL) else {
                return Ok(None);
            };
            let until = Timestamp::from_millisecond(row.get(1)?).ok();
            Ok(until.map(|until| (cluster.trim_start().to_owned(), until)))
        })?;
        times.filter_map(Result::transpose).collect()
    }

    /// Takes what is new in a cluster, and the messages about it, in one step. With a time, all states of the cluster with this
    /// key are complete until then.
    pub fn add(
        &mut self,
        update: &StateUpdate,
        sinks: &[Arc<Sink>],
        complete: Option<(&str, Timestamp)>,
    ) -> Result<(), OutboxError> {
        let mut waiting = self.waiting.clone();
        let written = self.db.transaction().and_then(|step| {
            for id in &update.forgotten {
                step.execute("DELETE FROM object WHERE id = ?1", [id])?;
            }
            for (id, object) in &update.met {
                keep(&step, id, object)?;
            }
            for id in &update.seen {
                let mut seen =
                    step.prepare_cached("UPDATE object SET absent_since = NULL WHERE id = ?1")?;
                seen.execute([id])?;
            }
            for change in &update.changes {
                keep(&step, &change.id, &known(&change.row))?;
                let id = next_id(&step)?;
                for sink in sinks.iter().filter(|sink| sink.when.is_about(&change.row)) {
                    let count = waiting.entry(sink.name.clone()).or_default();
                    *count = count.saturating_add_signed(enqueue(&step, sink, change, &id)?);
                }
            }
            if let Some((cluster, until)) = complete {
                set_until(&step, cluster, until)?;
            }
            step.commit()
        });
        written.map_err(|error| self.error(error))?;
        self.waiting = waiting;
        Ok(())
    }

    /// The states of a cluster are complete until this time.
    pub fn are_known_until(&mut self, cluster: &str, now: Timestamp) -> Result<(), OutboxError> {
        set_until(&self.db, cluster, now).map_err(|error| self.error(error))
    }

    /// Releases the held messages of these clusters whose time has come. What a sink does not take is dropped, and so is what is
    /// over: after a new configuration, a sink may not have heard of the end of a state.
    pub fn release(
        &mut self,
        sinks: &[Arc<Sink>],
        is_of: impl Fn(&str) -> bool,
        now: Timestamp,
    ) -> Result<(), OutboxError> {
        let mut waiting = self.waiting.clone();
        let released = self.db.transaction().and_then(|step| {
            let due = due(&step, now)?.into_iter();
            for message in due.filter(|message| is_of(cluster_key(&message.object))) {
                let sink = sinks.iter().find(|known| known.name == message.sink);
                let is_taken = sink.is_some_and(|sink| sink.when.takes(message.from, message.to));
                let is_taken = is_taken && !message.is_over;
                let then = if is_taken {
                    "UPDATE delivery SET due = NULL WHERE seq = ?1"
                } else {
                    subtract(&mut waiting, &message.sink, 1);
                    "DELETE FROM delivery WHERE seq = ?1"
                };
                step.execute(then, [message.seq])?;
            }
            step.commit()
        });
        released.map_err(|error| self.error(error))?;
        self.waiting = waiting;
        Ok(())
    }

    /// When the next held message of these clusters is released; `None` if none is held.
    pub fn next_release(
        &self,
        is_of: impl Fn(&str) -> bool,
    ) -> Result<Option<Timestamp>, OutboxError> {
        let read = || {
            let held = "SELECT object, due FROM delivery WHERE due IS NOT NULL";
            let mut held = self.db.prepare_cached(held)?;
            let mut held = held.query([])?;
            let mut next = None::<i64>;
            while let Some(message) = held.next()? {
                let due = message.get(1)?;
                let is_sooner = next.is_none_or(|next| due < next);
                if is_sooner && is_of(cluster_key(message.get_ref(0)?.as_str()?)) {
                    next = Some(due);
                }
            }
            Ok(next.and_then(|next| Timestamp::from_millisecond(next).ok()))
        };
        read().map_err(|error| self.error(error))
    }

    /// The oldest message that can be sent to a sink.
    pub fn next(&self, sink: &str) -> Result<Option<Delivery>, OutboxError> {
        let next = "SELECT seq, id, origin, target, time, record FROM delivery
            WHERE sink = ?1 AND due IS NULL ORDER BY seq LIMIT 1";
        let next = self.db.query_row(next, [sink], delivery).optional();
        next.map_err(|error| self.error(error))
    }

    /// Removes a message that was taken, or that is skipped.
    pub fn remove(&mut self, seq: i64) -> Result<(), OutboxError> {
        let remove = "DELETE FROM delivery WHERE seq = ?1 RETURNING sink";
        let sink = self.db.query_row(remove, [seq], |row| row.get(0));
        let sink: Option<String> = sink.optional().map_err(|error| self.error(error))?;
        if let Some(sink) = sink {
            subtract(&mut self.waiting, &sink, 1);
        }
        Ok(())
    }

    /// The number of messages that wait for a sink, held ones included.
    pub fn waiting(&self, sink: &str) -> u64 {
        self.waiting.get(sink).copied().unwrap_or_default()
    }

    /// Drops the messages to sinks that are not among these, those that are too old, and the oldest of those that are too many.
    /// Returns how many are dropped of each sink.
    pub fn trim(
        &mut self,
        sinks: &[Arc<Sink>],
        now: Timestamp,
    ) -> Result<BTreeMap<String, u64>, OutboxError> {
        let trimmed = self.db.transaction().and_then(|step| {
            let oldest = (now - Outbox::KEEP).as_millisecond();
            let names = sink_names(&step)?;
            let mut dropped = BTreeMap::new();
            for name in names {
                let count = if sinks.iter().any(|sink| sink.name == name) {
                    let old = "DELETE FROM delivery WHERE sink = ?1 AND (time < ?2 OR seq <= coalesce(
                        (SELECT seq FROM delivery WHERE sink = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?3), -1))";
                    step.execute(old, params![name, oldest, MAX_WAITING])?
                } else {
                    step.execute("DELETE FROM delivery WHERE sink = ?1", [&name])?
                };
                if count > 0 {
                    dropped.insert(name, count as u64);
                }
            }
            step.commit()?;
            Ok(dropped)
        });
        let dropped = trimmed.map_err(|error| self.error(error))?;
        for (sink, count) in &dropped {
            subtract(&mut self.waiting, sink, *count);
        }
        Ok(dropped)
    }

    fn error(&self, error: rusqlite::Error) -> OutboxError {
        let path = self.path.clone();
        OutboxError::Sqlite { path, error }
    }
}

/// Makes the file, if it is not there. Only its owner can read it.
fn create(path: &Path) -> std::io::Result<()> {
    let mut directory = DirBuilder::new();
    directory.recursive(true);
    let mut file = OpenOptions::new();
    file.create(true).append(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut directory, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    }
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        directory.create(parent)?;
    }
    file.open(path).map(drop)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked)
    )
}

/// The number of messages that wait for each sink.
fn waiting(db: &Connection) -> rusqlite::Result<BTreeMap<String, u64>> {
    let mut counts = db.prepare("SELECT sink, count(*) FROM delivery GROUP BY sink")?;
    let counts = counts.query_map([], |row| {
        let count: i64 = row.get(1)?;
        Ok((row.get(0)?, count.unsigned_abs()))
    })?;
    counts.collect()
}

fn subtract(waiting: &mut BTreeMap<String, u64>, sink: &str, count: u64) {
    if let Some(known) = waiting.get_mut(sink) {
        *known = known.saturating_sub(count);
    }
}

/// A change on its way to a sink.
struct Envelope<'c> {
    change: &'c StateChange,
    /// The id of the change.
    id: &'c str,
    /// The state before, as the sink knows it.
    from: Option<Status>,
    /// When it is released; `None` for at once.
    due: Option<Timestamp>,
}

/// Adds a message about a change to those of a sink. It takes the place of a held one: the sink sees a state only if it lasts, so
/// two changes that lead back are none. The configuration before may have held a message for a sink that holds none now. Returns
/// how many more messages wait.
fn enqueue(
    step: &Transaction<'_>,
    sink: &Sink,
    change: &StateChange,
    id: &str,
) -> rusqlite::Result<i64> {
    let to = change.row.status();
    let mut message = Envelope {
        change,
        id,
        from: change.from,
        due: None,
    };
    let held =
        "DELETE FROM delivery WHERE sink = ?1 AND object = ?2 AND due IS NOT NULL RETURNING origin";
    let held = step.query_row(held, [&sink.name, &change.id], |row| row.get(0));
    let held: Option<Option<String>> = held.optional()?;
    let removed = i64::from(held.is_some());
    if let Some(origin) = held {
        message.from = origin.as_deref().and_then(Status::named);
    }
    let lasts = sink.when.lasts;
    message.due = lasts.and_then(|lasts| change.time.checked_add(lasts).ok());
    // What a held message leads to decides when it is released.
    let is_taken = message.due.is_some() || sink.when.takes(message.from, to);
    if message.from == Some(to) || !is_taken {
        return Ok(-removed);
    }
    insert(step, &sink.name, &message)?;
    Ok(1 - removed)
}

fn insert(step: &Transaction<'_>, sink: &str, message: &Envelope<'_>) -> rusqlite::Result<()> {
    let Envelope {
        change,
        id,
        from,
        due,
    } = message;
    let mut insert = step.prepare_cached(
        "INSERT INTO delivery (sink, object, id, origin, target, time, due, record)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    insert.execute(params![
        sink,
        change.id,
        id,
        from.map(Status::as_str),
        change.row.status().as_str(),
        change.time.as_millisecond(),
        due.map(Timestamp::as_millisecond),
        change.row.json(true),
    ])?;
    Ok(())
}

/// Keeps the state of an object, which was seen just now.
fn keep(step: &Transaction<'_>, id: &str, known: &ObjectState) -> rusqlite::Result<()> {
    let object = &known.object;
    let mut keep = step.prepare_cached(
        "INSERT OR REPLACE INTO object VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL)",
    )?;
    keep.execute(params![
        id,
        &*object.api_version,
        &*object.kind,
        object.namespace.as_deref(),
        &*object.name,
        object.uid.as_ref().map(Uid::as_str),
        known.status.as_str(),
    ])?;
    Ok(())
}

/// The id of the next change. No other outbox has the same.
fn next_id(step: &Transaction<'_>) -> rusqlite::Result<String> {
    let next = "UPDATE meta SET value = value + 1 WHERE name = 'changes' RETURNING value";
    let number: i64 = step.query_row(next, [], |row| row.get(0))?;
    let token = "SELECT value FROM meta WHERE name = 'token'";
    let token: String = step.query_row(token, [], |row| row.get(0))?;
    Ok(format!("{token}-{number}"))
}

fn set_until(db: &Connection, cluster: &str, until: Timestamp) -> rusqlite::Result<()> {
    let name = match cluster {
        "" => UNTIL.to_owned(),
        cluster => format!("{UNTIL} {cluster}"),
    };
    let set = "INSERT OR REPLACE INTO meta VALUES (?1, ?2)";
    db.execute(set, params![name, until.as_millisecond()])
        .map(drop)
}

/// The sinks that messages wait for.
fn sink_names(step: &Transaction<'_>) -> rusqlite::Result<Vec<String>> {
    let mut names = step.prepare("SELECT DISTINCT sink FROM delivery")?;
    let names = names.query_map([], |row| row.get(0))?;
    names.collect()
}

/// A held message whose time has come.
struct DueMessage {
    seq: i64,
    sink: String,
    object: String,
    from: Option<Status>,
    to: Status,
    /// Whether the object has another state by now.
    is_over: bool,
}

fn due(step: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<Vec<DueMessage>> {
    let due =
        "SELECT seq, sink, object, origin, target, coalesce(status <> target, FALSE) FROM delivery
        LEFT JOIN object ON object.id = delivery.object WHERE due <= ?1 ORDER BY seq";
    let mut due = step.prepare_cached(due)?;
    let due = due.query_map([now.as_millisecond()], |row| {
        Ok(DueMessage {
            seq: row.get(0)?,
            sink: row.get(1)?,
            object: row.get(2)?,
            from: from(row, 3)?,
            to: from(row, 4)?.unwrap_or(Status::Unknown),
            is_over: row.get(5)?,
        })
    })?;
    due.collect()
}

/// The state in a column.
fn from(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Status>> {
    let word: Option<String> = row.get(column)?;
    Ok(word.as_deref().and_then(Status::named))
}

fn delivery(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    Ok(Delivery {
        seq: row.get(0)?,
        id: row.get(1)?,
        from: from(row, 2)?,
        to: from(row, 3)?.unwrap_or(Status::Unknown),
        time: Timestamp::from_millisecond(row.get(4)?).unwrap_or_default(),
        record: row.get(5)?,
    })
}

fn known_object(row: &Row<'_>) -> rusqlite::Result<(String, ObjectState)> {
    let text = |column: usize| row.get::<_, String>(column);
    let namespace: Option<String> = row.get(3)?;
    let uid: Option<String> = row.get(5)?;
    let known = ObjectState {
        object: ObjectRef {
            api_version: text(1)?.into(),
            kind: text(2)?.into(),
            namespace: namespace.map(Into::into),
            name: text(4)?.into(),
            uid: uid.map(Uid::new),
        },
        status: from(row, 6)?.unwrap_or(Status::Unknown),
    };
    Ok((text(0)?, known))
}
