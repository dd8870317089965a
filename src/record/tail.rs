//! `RecordTail`: the entries of a file of a record, one after the other, also while a recorder writes to it.
//!
//! The order is that in which they were recorded. Each entry has a number, which is the same whenever the file is read. So a
//! reader can stop after any entry, and continue there later.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::entry::{EntryContent, RecordEntry};
use super::error::StoreError;
use super::file_reader::{StoreFileReader, time};
use super::index::NamedRow;
use super::mark::{Mark, MarkRow};
use super::redaction::Redaction;
use super::schema::RecordedCluster;
use crate::object::ResourceVersion;
use crate::source::SourceKey;

/// How many versions are read from the index at once.
const PAGE: usize = 256;
/// How much later a source must have been complete for that to be an entry of its own.
const NEWS: SignedDuration = SignedDuration::from_secs(10);

/// What stands at the head of a file.
#[derive(Clone, Debug)]
pub struct RecordHeading {
    /// The cluster.
    pub cluster: RecordedCluster,
    /// When the file begins.
    pub started: Timestamp,
    /// The paths whose values are not in it.
    pub redactions: Vec<Redaction>,
}

/// How much of a file has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TailPosition {
    /// The number of versions.
    pub versions: i64,
    /// The number of other entries.
    pub marks: i64,
}

impl TailPosition {
    /// The number of the last entry; 0 before the first one.
    pub fn number(self) -> i64 {
        self.versions + self.marks
    }
}

/// An entry, and the position after it.
#[derive(Clone, Debug)]
pub struct TailEntry {
    /// The position. An entry about how far a source has come does not change it.
    pub position: TailPosition,
    /// The entry.
    pub entry: RecordEntry,
}

/// A file, and how far it has been read.
pub struct RecordTail {
    reader: StoreFileReader,
    position: TailPosition,
    /// Until when each source was last complete.
    told: HashMap<i64, Timestamp>,
    waiting: VecDeque<TailEntry>,
    /// What has come of the waiting entries.
    ahead: TailPosition,
    rows: VecDeque<NamedRow>,
}

impl RecordTail {
    /// Opens a file at a position.
    pub fn open(path: &Path, position: TailPosition) -> Result<RecordTail, StoreError> {
        Ok(RecordTail {
            reader: StoreFileReader::open(path)?,
            position,
            told: HashMap::new(),
            waiting: VecDeque::new(),
            ahead: position,
            rows: VecDeque::new(),
        })
    }

    /// What stands at the head of the file.
    pub fn heading(&self) -> RecordHeading {
        RecordHeading {
            cluster: self.reader.cluster().clone(),
            started: self.reader.started(),
            redactions: self.reader.redactions().to_vec(),
        }
    }

    /// The position after the last entry that was given.
    pub fn position(&self) -> TailPosition {
        self.position
    }

    /// The number of versions that the file has after the position.
    pub fn left(&self) -> Result<u64, StoreError> {
        let all = self.reader.versions()?;
        Ok(all.saturating_sub(self.position.versions.unsigned_abs()))
    }

    /// The next entry; `None` if there is none yet. A version that cannot be read is an entry, too. It fails if it is not known
    /// what comes next.
    pub fn next_entry(&mut self) -> Result<Option<TailEntry>, StoreError> {
        if self.waiting.is_empty() {
            self.fill()?;
        }
        let next = self.waiting.pop_front();
        if let Some(next) = &next {
            self.position = next.position;
        }
        Ok(next)
    }

    /// Reads the next version with the marks before it, or what is at the end of the file.
    fn fill(&mut self) -> Result<(), StoreError> {
        if self.rows.is_empty() {
            // What is known of the sources now must not be more than the entries that are read after that.
            self.reader.refresh()?;
            let page = self.reader.index().page_after(self.ahead.versions, PAGE)?;
            self.rows = page.into();
        }
        let Some(row) = self.rows.pop_front() else {
            self.take_marks(self.ahead.versions + 1)?;
            self.take_reached();
            return Ok(());
        };
        self.take_marks(row.row.id)?;
        self.ahead.versions = row.row.id;
        let entry = self.version(&row)?;
        self.push(entry);
        Ok(())
    }

    fn take_marks(&mut self, version: i64) -> Result<(), StoreError> {
        for (row, mark) in self.reader.marks_after(self.ahead.marks, version)? {
            self.ahead.marks += 1;
            let entry = self.mark(&row, mark)?;
            self.push(entry);
        }
        Ok(())
    }

    /// At the end of the file: how far each source has come, if that is news.
    fn take_reached(&mut self) {
        for source in self.reader.sources() {
            let Some((version, at)) = source.reached.clone() else {
                continue;
            };
            let told = self.told.get(&source.id);
            if told.is_some_and(|told| at.duration_since(*told) < NEWS) {
                continue;
            }
            self.told.insert(source.id, at);
            let entry = RecordEntry {
                source: Arc::new(source.key.clone()),
                content: EntryContent::Reached { version, at },
            };
            let position = self.ahead;
            self.waiting.push_back(TailEntry { position, entry });
        }
    }

    fn version(&mut self, row: &NamedRow) -> Result<RecordEntry, StoreError> {
        let source = match &row.object {
            Some(object) => object.source,
            None => self.reader.source_of(row.row.id)?,
        };
        let source = self.source(source)?;
        let content = match self.reader.version(&row.row) {
            Ok(version) => EntryContent::Version(version),
            Err(damage) => EntryContent::Missing {
                version: row
                    .row
                    .revision
                    .map_or_else(|| ResourceVersion::new(""), Into::into),
                seen: self.reader.seen(&row.row),
                cause: damage.to_string(),
            },
        };
        Ok(RecordEntry { source, content })
    }

    fn mark(&self, row: &MarkRow, mark: Mark) -> Result<RecordEntry, StoreError> {
        let content = EntryContent::Mark {
            seen: time(row.seen),
            mark,
        };
        let source = self.source(row.source)?;
        Ok(RecordEntry { source, content })
    }

    fn source(&self, id: i64) -> Result<Arc<SourceKey>, StoreError> {
        let mut sources = self.reader.sources().iter();
        let found = sources.find(|source| source.id == id);
        let missing = || StoreError::damaged(self.reader.path(), "a source");
        Ok(Arc::new(found.ok_or_else(missing)?.key.clone()))
    }

    fn push(&mut self, entry: RecordEntry) {
        let position = self.ahead;
        self.waiting.push_back(TailEntry { position, entry });
    }
}
